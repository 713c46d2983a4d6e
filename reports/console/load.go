package console

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// How much of a load run is shown unless Verbose.
const (
	maxPhases        = 6 // of one scenario, warm-ups apart
	maxBrokenUnder   = 10
	phaseColumn      = 22
	thresholdOutcome = 16
)

// LoadSummary writes what a person wants to know of a load run when it has
// ended: what was run against what, each scenario with its thresholds, what was
// sent and how long it took, what was broken, and last the verdict.
func LoadSummary(w io.Writer, r load.Results, o Options) error {
	p := newPage(o)
	p.loadHeader(r)
	for _, s := range r.Scenarios {
		p.scenario(s)
	}
	if r.Comparison != nil {
		p.comparison(*r.Comparison)
	}
	p.loadVerdict(r)
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) loadHeader(r load.Results) {
	const column = 11
	target := strings.TrimSpace(reports.Printable(r.Target.Name) + " " + reports.Printable(r.Target.Version))
	if target == "" {
		target = "(without a name)"
	}
	if r.Target.Vendor != "" {
		target += ", by " + reports.Printable(r.Target.Vendor)
	}
	p.entry(0, column, "target", p.paint.bold(target))
	p.entry(0, column, "address", strings.TrimSpace(reports.Printable(r.Target.BaseURL)+" ("+reports.Printable(r.Target.Kind)+")"))
	if r.Run.Selection != "" {
		p.entry(0, column, "selection", reports.Printable(r.Run.Selection))
	}
	run := fmt.Sprintf("%s, %s, seed %d", reports.Printable(r.Run.ID), r.Run.Started.UTC().Format(time.DateTime+" UTC"), r.Run.Seed)
	if s := r.Run.Shard; s != nil {
		run += fmt.Sprintf(", shard %d of %d", s.Index, s.Of)
	}
	p.entry(0, column, "run", run)
	generator := p.paint.yellow("not calibrated: whether it or the target was the bottleneck is not known")
	if c := r.Calibration; c != nil {
		generator = fmt.Sprintf("ceiling %s/s, send lag p99 %s ms, %s µs CPU a request on %s", figure(c.CeilingPerSecond), figure(c.LagP99MS), figure(c.CPUPerRequestUS), plural(c.Cores, "core", "cores"))
	}
	p.entry(0, column, "generator", generator)
}

// scenario shows one scenario: the answer first, then what it rests on.
func (p *page) scenario(s load.Scenario) {
	p.line()
	p.paragraph(0, p.loadAnswer(s.Verdict)+"  "+p.paint.bold(reports.Printable(s.Name))+"  "+p.paint.dim(reports.Printable(s.About)+" "+duration(s.Seconds)))
	for _, reason := range s.Reasons {
		p.entry(2, 9, "because", reports.Printable(reason))
	}
	for _, note := range s.Notes {
		p.entry(2, 9, "note", reports.Printable(note))
	}
	for _, t := range s.Thresholds {
		p.threshold(t)
	}
	p.phases(s.Phases)
	if f := s.Sustained; f != nil {
		held := map[bool]string{true: "confirmed", false: "not confirmed"}[f.Confirmed]
		p.entry(2, phaseColumn, "sustained rate", fmt.Sprintf("%s/s (%s to %s), %s", p.paint.bold(figure(f.RatePerSecond)), figure(f.LowPerSecond), figure(f.HighPerSecond), held))
	}
	for _, d := range s.Depth {
		p.depth(d)
	}
	if w := s.Walks; w != nil {
		faults := plural(int(w.Faults), "fault", "faults")
		if w.Faults > 0 {
			faults = p.paint.red(faults)
		}
		p.entry(2, phaseColumn, "walks", fmt.Sprintf("%s by %s, %s, %s, %s", number(int(w.Walks)), plural(w.Clients, "client", "clients"), plural(int(w.Pages), "page", "pages"), plural(int(w.Rows), "row", "rows"), faults))
	}
	for _, d := range s.Drift {
		trend := p.outcome(string(d.Verdict))
		p.entry(2, phaseColumn, "drift", fmt.Sprintf("%s %s %s %s a minute (%s to %s) %s", trend, reports.Printable(d.Name), figure(d.PerMinute.Value), reports.Printable(d.Unit), figure(d.PerMinute.Low), figure(d.PerMinute.High), reports.Printable(d.Why)))
	}
	if s.Limiter != nil {
		p.limiter(*s.Limiter)
	}
	p.broken(s)
}

func (p *page) threshold(t load.Threshold) {
	said := p.outcome(string(t.Outcome))
	said += strings.Repeat(" ", max(1, thresholdOutcome-width(string(t.Outcome)))) + reports.Printable(t.Text)
	if m := t.Measured; m != nil {
		said += fmt.Sprintf("  measured %s %s (%s to %s)", figure(m.Value), reports.Printable(t.Unit), figure(m.Low), figure(m.High))
	}
	if t.Phase != "" {
		said += p.paint.dim(" in " + reports.Printable(t.Phase))
	}
	if t.Why != "" {
		said += ": " + reports.Printable(t.Why)
	}
	p.entry(2, phaseColumn, "threshold", said)
}

// label is a name that fits a line of its own.
func (p *page) label(name string) string { return cut(reports.Printable(name), p.width-2) }

// outcome paints a word by what it means.
func (p *page) outcome(word string) string {
	switch word {
	case string(load.Met), string(load.Steady), string(load.NoDifference), string(load.Better):
		return p.paint.green(word)
	case string(load.Missed), string(load.Drifts), string(load.Worse):
		return p.paint.red(word)
	default:
		return p.paint.yellow(reports.Printable(word))
	}
}

func (p *page) depth(d load.Depth) {
	var points []string
	for _, at := range d.Points {
		points = append(points, fmt.Sprintf("page %s: %s", number(int(at.Page)), figure(at.P50MS)))
	}
	said := "p50 ms  " + strings.Join(points, "  ")
	if d.Ratio > 0 {
		said += fmt.Sprintf("  deepest ÷ first %s", figure(d.Ratio))
	}
	p.entry(2, phaseColumn, p.label(d.Operation), said)
}

// broken lists the requirements that were broken under load.
func (p *page) broken(s load.Scenario) {
	shown := p.limit(len(s.Violations), maxBrokenUnder)
	for _, v := range s.Violations[:shown] {
		p.line()
		p.line("  ", p.paint.alarm("✗ "+reports.Printable(v.Requirement)), " on ", reports.Printable(v.Operation), p.paint.dim(fmt.Sprintf("  seen %s", plural(int(v.Count), "time", "times"))))
		for i, example := range v.Examples {
			if i == 0 {
				p.paragraph(4, reports.Printable(example.Statement)+" "+p.paint.dim("("+reports.Printable(example.Section)+")"))
			}
			if i < p.limit(len(v.Examples), 1) {
				p.violation(example)
			}
		}
	}
	if left := len(s.Violations) - shown; left > 0 {
		p.line("  ", p.paint.dim(p.more(left, "broken requirements")))
	}
	if c := s.Coverage; c != nil {
		p.entry(2, phaseColumn, "inspected", fmt.Sprintf("%s %% of %s answers", figure(100*c.Share), number(int(c.Answers))))
	}
}

func (p *page) comparison(c load.Comparison) {
	p.heading("COMPARISON", fmt.Sprintf("B %s %s against A %s %s, %s", reports.Printable(c.B.Name), reports.Printable(c.B.Version), reports.Printable(c.A.Name), reports.Printable(c.A.Version), plural(c.Pairs, "pair of blocks", "pairs of blocks")))
	for _, f := range c.Figures {
		said := fmt.Sprintf("%s  A %s, B %s %s", p.outcome(string(f.Verdict)), figure(f.A), figure(f.B), reports.Printable(f.Unit))
		if d := f.Difference; d != nil {
			said += fmt.Sprintf(", B − A %s (%s to %s)", figure(d.Value), figure(d.Low), figure(d.High))
		}
		if f.Ratio > 0 {
			said += fmt.Sprintf(", B ÷ A %s (%s to %s)", figure(f.Ratio), figure(f.RatioLow), figure(f.RatioHigh))
		}
		said += ", p " + figure(f.P)
		if f.Why != "" {
			said += ": " + reports.Printable(f.Why)
		}
		p.entry(2, phaseColumn, p.label(f.Name), said)
	}
}

// loadVerdict shows the reasons and then, as the very last line, the answer.
func (p *page) loadVerdict(r load.Results) {
	p.line()
	for _, reason := range r.Reasons {
		p.entry(0, 9, "because", reports.Printable(reason))
	}
	if p.ResultsPath != "" {
		p.entry(0, 9, "results", reports.Printable(p.ResultsPath))
	}
	p.line()
	t := r.Traffic
	facts := fmt.Sprintf("%s planned, %s sent, %s late, %s dropped in %s", number(int(t.Planned)), number(int(t.Sent)), number(int(t.Late)), number(int(t.Dropped)), duration(r.Run.Seconds))
	if len(r.Scenarios) == 0 {
		facts = "no scenario has run"
	}
	answer := p.loadAnswer(r.Verdict)
	if r.Run.Interrupted {
		answer += p.paint.yellow(" (interrupted)")
	}
	answer += fmt.Sprintf("  exit %d", r.ExitCode())
	if width(answer)+3+width(facts) > p.width {
		p.paragraph(0, facts)
		p.line(answer)
		return
	}
	p.line(answer, " · ", facts)
}

func (p *page) loadAnswer(v load.Verdict) string {
	switch v {
	case load.Pass:
		return p.paint.relief("✓ PASS")
	case load.Fail:
		return p.paint.alarm("✗ FAIL")
	case load.Void:
		return p.paint.doubt("? VOID")
	default:
		return p.paint.alarm("? NO VERDICT")
	}
}

// counts writes how often each key occurred.
func counts(n map[string]int64, name func(string) string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(n)) {
		all = append(all, name(key)+": "+number(int(n[key])))
	}
	return strings.Join(all, "  ")
}
