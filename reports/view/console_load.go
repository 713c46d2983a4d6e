package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
)

// Limits of the summary of a load run, unless Verbose is set.
const (
	maxPhases      = 6 // of one scenario, without warm-ups
	maxBrokenUnder = 10
	maxNotes       = 3
	maxEndings     = 4 // kinds of failure in one scenario
)

// Columns at which text begins, below a scenario and beside a label.
const (
	scenarioIndent = 2
	factColumn     = 16
)

// consoleLoad writes a summary of a load run: the target, the comparison of two targets,
// and each scenario with its verdict, requests, latencies, thresholds and violations.
// The end repeats the scenarios that did not pass and names the files. The last line
// is the verdict. Verbose adds every phase in full, the knee curve and the evidence
// for the limiter.
func consoleLoad(w io.Writer, r load.Results, o Options) error {
	p := newPage(o)
	if o.Quiet {
		p.quietLoad(r)
		_, err := io.WriteString(w, p.String())
		return err
	}
	p.loadHeader(r)
	if r.Comparison != nil {
		p.comparison(*r.Comparison)
	}
	for _, s := range r.Scenarios {
		p.scenario(s)
	}
	p.loadVerdict(r)
	_, err := io.WriteString(w, p.String())
	return err
}

// quietLoad writes what Options.Quiet leaves of a load run.
func (p *page) quietLoad(r load.Results) {
	p.line()
	p.loadReasons(r)
	p.line()
	p.loadLastLine(r)
}

func (p *page) loadHeader(r load.Results) {
	const column = 11
	target := strings.TrimSpace(printable.Text(r.Target.Name) + " " + printable.Text(r.Target.Version))
	if target == "" {
		target = "(without a name)"
	}
	if r.Target.Vendor != "" {
		target += ", by " + printable.Text(r.Target.Vendor)
	}
	p.entry(0, column, "target", p.paint.Bold(target))
	p.entry(0, column, "address", strings.TrimSpace(printable.Text(r.Target.BaseURL)+" ("+printable.Text(r.Target.Kind)+")"))
	if r.Run.Selection != "" {
		p.entry(0, column, "selection", printable.Text(r.Run.Selection))
	}
	run := fmt.Sprintf("%s, %s, seed %d", printable.Text(r.Run.ID), r.Run.Started.UTC().Format(time.DateTime+" UTC"), r.Run.Seed)
	if s := r.Run.Shard; s != nil {
		run += fmt.Sprintf(", shard %d of %d", s.Index, s.Of)
	}
	p.entry(0, column, "run", run)
	p.entry(0, column, "harness", strings.TrimSpace(printable.Text(r.Tool.Name)+" "+printable.Text(r.Tool.Version)))
	generator := p.paint.Yellow("not calibrated: the bottleneck may be the generator or the target")
	if c := r.Calibration; c != nil {
		generator = fmt.Sprintf("ceiling %s/s, send lag p99 %s ms, %s µs CPU per request on %s", printable.Figure(c.CeilingPerSecond), printable.Figure(c.LagP99MS), printable.Figure(c.CPUPerRequestUS), plural(c.Cores, "core", "cores"))
	}
	p.entry(0, column, "generator", generator)
}

// scenario shows one scenario: first the verdict, then the evidence.
func (p *page) scenario(s load.Scenario) {
	p.line()
	p.line(p.word(s.Verdict), "  ", p.paint.Bold(p.label(s.Name)), "  ", p.paint.Dim(console.Duration(s.Seconds)))
	p.paragraph(scenarioIndent, p.paint.Dim(printable.Text(s.About)))
	for _, reason := range s.Reasons {
		p.fact("because", printable.Text(reason))
	}
	p.phases(s.Phases)
	p.sent(s)
	p.sustained(s.Sustained)
	p.depths(s.Depth)
	p.walks(s.Walks)
	p.drift(s.Drift)
	if s.Limiter != nil {
		p.limiter(*s.Limiter)
	}
	p.thresholds(s.Thresholds)
	notes := slices.Compact(slices.Clone(s.Notes)) // each repetition of a phase adds the same note
	shown := p.limit(len(notes), maxNotes)
	for _, note := range notes[:shown] {
		p.fact("note", printable.Text(note))
	}
	if left := len(notes) - shown; left > 0 {
		p.fact("", p.paint.Dim(p.more(left, noun(left, "note", "notes"))))
	}
	p.broken(s)
}

// fact writes a label and its text below a scenario.
func (p *page) fact(label, content string) { p.entry(scenarioIndent, factColumn, label, content) }

// label returns a name, cut so that text fits beside it.
func (p *page) label(name string) string { return console.Cut(printable.Text(name), p.width/2) }

// outcome returns a word in the colour of its meaning.
func (p *page) outcome(word string) string {
	switch word {
	case string(load.NoDifference):
		return p.paint.Green("no difference shown")
	case string(load.Met), string(load.Steady), string(load.Better):
		return p.paint.Green(word)
	case string(load.Missed), string(load.Drifts), string(load.Worse):
		return p.paint.Red(word)
	default:
		return p.paint.Yellow(printable.Text(word))
	}
}

// broken lists the violations under load.
func (p *page) broken(s load.Scenario) {
	shown := p.limit(len(s.Violations), maxBrokenUnder)
	for _, v := range s.Violations[:shown] {
		p.line()
		p.line("  ", p.paint.Alarm("✗ "+printable.Text(v.Requirement)), " on ", printable.Text(v.Operation), p.paint.Dim(fmt.Sprintf("  seen %s", plural(int(v.Count), "time", "times"))))
		for i, k := range summary.Kinds([]reports.Check{{Operation: v.Operation, Violations: v.Examples}}) {
			if i == 0 {
				p.paragraph(4, printable.Text(k.Statement)+" "+p.paint.Dim("("+printable.Text(k.Section)+")"))
			}
			if i == 0 || p.Verbose {
				p.violation(k.Violation)
			} else {
				p.otherKind(4, k)
			}
		}
	}
	if left := len(s.Violations) - shown; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, noun(left, "broken requirement", "broken requirements"))))
	}
}

func (p *page) comparison(c load.Comparison) {
	p.heading("COMPARISON", fmt.Sprintf("B against A, %s of %s each", plural(c.Pairs, "pair of blocks", "pairs of blocks"), console.Duration(c.BlockSeconds)))
	for _, side := range []struct {
		name string
		of   reports.Target
	}{{"A", c.A}, {"B", c.B}} {
		address := printable.Text(side.of.BaseURL)
		if name := strings.TrimSpace(printable.Text(side.of.Name) + " " + printable.Text(side.of.Version)); name != address { // a target without a profile is named by its address
			address = name + " at " + address
		}
		p.fact(side.name, address)
	}
	for _, f := range c.Figures {
		said := p.outcome(string(f.Verdict))
		if f.A != nil && f.B != nil {
			said += fmt.Sprintf("  A %s, B %s%s", load.AtLeast(f.AOpen, *f.A), load.Bound(f.BOpen, false), printable.Amount(*f.B, f.Unit))
		}
		if d := f.Difference; d != nil {
			said += ", B − A " + load.Bound(f.BOpen, f.AOpen) + printable.Interval(d.Value, d.Low, d.High, "")
		}
		if f.Ratio > 0 {
			said += ", B ÷ A " + load.Bound(f.BOpen, f.AOpen) + printable.Interval(f.Ratio, f.RatioLow, f.RatioHigh, "")
		}
		if f.P > 0 {
			said += ", p " + printable.Figure(f.P)
		}
		if f.Why != "" {
			said += ": " + printable.Text(f.Why)
		}
		p.fact(p.label(f.Name), said)
	}
	if rule := c.Rule(); rule != "" {
		p.paragraph(scenarioIndent, p.paint.Dim(rule))
	}
}

// loadVerdict repeats the scenarios that did not pass, and names the files. The last
// line is the verdict with its coverage.
func (p *page) loadVerdict(r load.Results) {
	if p.marked {
		p.line()
		p.paragraph(0, p.paint.Dim("2–5 is a percentile between 2 and 5, ≥2 one of 2 or more; more accepted requests narrow them"))
	}
	p.line()
	before := p.Len()
	p.loadReasons(r)
	for _, s := range r.Scenarios {
		if s.Verdict != reports.Passed && len(r.Scenarios) > 1 {
			p.notPassed(s)
		}
	}
	for _, file := range []struct{ label, path string }{{"report", p.ReportPath}, {"results", p.ResultsPath}} {
		if file.path != "" {
			p.entry(0, 9, file.label, printable.Text(file.path))
		}
	}
	if s := r.Run.Shard; s != nil {
		p.entry(0, 9, "shard", fmt.Sprintf("%d of %d (`load merge` joins the parts and draws the verdict)", s.Index, s.Of))
	}
	if p.Len() > before {
		p.line()
	}
	facts := plural(int(r.Requests()), "request", "requests") + " in total, in " + console.Duration(r.Run.Seconds)
	if t := counted(r.Scenarios...); t.Planned > 0 {
		facts = "sent " + p.ofPlan(t) + "; " + facts
	}
	p.paragraph(0, facts)
	p.loadLastLine(r)
}

// loadReasons shows the reasons of the verdict that are not those of a scenario.
func (p *page) loadReasons(r load.Results) {
	for _, reason := range r.Reasons {
		if !shownWith(reason, r.Scenarios) {
			p.entry(0, 9, "because", printable.Text(reason))
		}
	}
}

func (p *page) loadLastLine(r load.Results) {
	answer := p.word(r.Verdict)
	if r.Run.Interrupted {
		answer += p.paint.Yellow(" (interrupted)")
	}
	if r.Run.Shard != nil && !r.Run.Interrupted {
		answer += " for this shard only"
	}
	p.line(answer, fmt.Sprintf("  exit %d · %s", p.ExitCode, r.Coverage()))
}

// notPassed shows a scenario's verdict and first reason on one line.
func (p *page) notPassed(s load.Scenario) {
	head := p.word(s.Verdict) + "  " + p.paint.Bold(p.label(s.Name))
	if len(s.Reasons) == 0 {
		p.line(head)
		return
	}
	more := ""
	if n := len(s.Reasons) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s more)", printable.Number(n))
	}
	room := max(p.width-console.Width(head)-2-console.Width(more), 1)
	p.line(head, "  ", console.Cut(printable.Text(s.Reasons[0]), room), more)
}

// shownWith reports whether the reason is a scenario's, which is shown there.
func shownWith(reason string, scenarios []load.Scenario) bool {
	for _, s := range scenarios {
		if strings.HasPrefix(reason, s.Name+": ") && len(s.Reasons) > 0 {
			return true
		}
	}
	return false
}
