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
	"outreach.example/conformance/reports/summary"
)

// consoleRun writes a summary of r: the target, a table of outcomes, each failure with a
// command that reproduces it, missing inputs, observations and, last, the verdict.
// Failures stand under their probable causes. Of a target with many causes, or many failures, it writes
// a digest.
func consoleRun(w io.Writer, r reports.Results, o Options) error {
	p := newPage(o)
	if o.Quiet {
		p.quiet(r)
		_, err := io.WriteString(w, p.String())
		return err
	}
	p.header(r)
	if causes := summary.Causes(r.Checks); (len(causes) > maxCauses || isMany(r)) && !o.Verbose {
		p.digest(r, causes)
	} else {
		p.table(r)
		p.failures(r, causes)
		p.expected(r)
		p.notAssessed(r)
		p.observations(r)
	}
	p.troubles(r)
	p.verdict(r)
	_, err := io.WriteString(w, p.String())
	return err
}

// quiet writes what Options.Quiet leaves.
func (p *page) quiet(r reports.Results) {
	p.failures(r, summary.Causes(r.Checks))
	if r.Verdict != reports.Inconclusive {
		r.Troubles = slices.DeleteFunc(slices.Clone(r.Troubles), func(t reports.Trouble) bool { return !t.Left() })
	}
	p.troubles(r)
	if r.Verdict != reports.Passed {
		p.reasons(r)
	}
	p.lastLine(r)
}

func (p *page) header(r reports.Results) {
	const column = 11
	field := func(label, content string) {
		if content != "" {
			p.entry(0, column, label, content)
		}
	}
	t := r.Target
	target := strings.TrimSpace(printable.Text(t.Name) + " " + printable.Text(t.Version))
	if target == "" {
		target = "(without a name)"
	}
	if t.Vendor != "" {
		target += ", by " + printable.Text(t.Vendor)
	}
	field("target", p.paint.Bold(target))
	field("address", strings.TrimSpace(printable.Text(t.BaseURL)+" ("+printable.Text(t.Kind)+")"))
	field("profile", fmt.Sprintf("%s, seed %d", printable.Text(r.Run.Profile), r.Run.Seed))
	field("selection", printable.Text(r.Run.Selection))
	if len(r.Run.Operations) > 0 {
		field("serves", printable.Text(strings.Join(r.Run.Operations, ", "))+" (the target profile lists them)")
	}
	if len(r.Run.Omits) > 0 {
		field("omits", printable.Text(strings.Join(r.Run.Omits, ", "))+" (by design, says the target profile: their presence is not judged)")
	}
	if n := len(r.Run.Parts); n > 0 {
		field("merged", plural(n, "run", "runs"))
	}
	field("run", fmt.Sprintf("%s, %s", printable.Text(r.Run.ID), r.Run.Started.UTC().Format(time.DateTime+" UTC")))
	field("harness", strings.TrimSpace(printable.Text(r.Tool.Name)+" "+printable.Text(r.Tool.Version)))
}

func (p *page) troubles(r reports.Results) {
	if len(r.Troubles) == 0 {
		return
	}
	p.heading("TROUBLES", "errors of the harness or of the connection; they never fail the target")
	var order []string
	where := map[string][]string{}
	for _, t := range r.Troubles {
		if where[t.What] == nil {
			order = append(order, t.What)
		}
		where[t.What] = append(where[t.What], t.Where)
	}
	shown := p.limit(len(order), maxTroubles)
	for _, what := range order[:shown] {
		p.line("  ", p.paint.Yellow("! "+console.Cut(printable.Text(where[what][0]), p.width-4)))
		places := p.limit(len(where[what]), 1)
		for _, also := range where[what][1:places] {
			p.line("    ", p.paint.Yellow(console.Cut(printable.Text(also), p.width-4)))
		}
		if left := len(where[what]) - places; left > 0 {
			p.line("    ", p.paint.Dim(p.more(left, "with the same error")))
		}
		p.paragraph(4, printable.Text(what))
	}
	if left := len(order) - shown; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, noun(left, "trouble", "troubles"))))
	}
}

// maxTroubles is the number of different troubles shown unless Verbose is set.
const maxTroubles = 8

// verdict shows the reasons, the totals and, as the last line, the verdict with its
// coverage. That line is never wrapped, so that scripts can find it.
func (p *page) verdict(r reports.Results) {
	p.levels(r)
	p.reasons(r)
	if summary.LooksStateless(r.Checks) {
		p.paragraph(0, p.paint.Dim("hint: the failures look like those of a stateless mock, which answers any request with an example: "+
			"select --profile shape, or set stateless: true in the target profile"))
	}
	n := reports.Count(r.Checks)
	var facts []string
	for _, f := range []struct {
		n    int
		what string
	}{{n.Fail, "failed"}, {n.Expected, "failed as expected"}, {n.Pass, "passed"}, {n.NotAssessed, "not assessed"}, {n.Error, "in error"}} {
		if f.n > 0 {
			facts = append(facts, printable.Number(f.n)+" "+f.what)
		}
	}
	if n.Total() == 0 {
		facts = append(facts, "nothing checked")
	}
	facts = append(facts, fmt.Sprintf("%s in %s", plural(r.Traffic.Requests, "request", "requests"), console.Duration(r.Run.Seconds)))
	if x := r.Run.Explored; x != nil {
		facts = append(facts, fmt.Sprintf("explored %s and %s", plural(x.Queries, "query", "queries"), plural(x.Sequences, "sequence", "sequences")))
		if x.Changed > 0 {
			facts = append(facts, plural(x.Changed, "row", "rows")+" changed on the target meanwhile")
		}
	}
	if n := r.Traffic.Unjudged; n > 0 {
		facts = append(facts, plural(n, "response without a verdict", "responses without a verdict"))
	}
	if f := r.Flaky; f != nil {
		facts = append(facts, fmt.Sprintf("flaky: %s passed, %s failed", printable.Number(f.Passed), printable.Number(f.Failed)))
	}
	for _, l := range console.Flow(facts, " · ", p.width) {
		p.line(l)
	}
	if parts := timeParts(r.Run.Time); r.Run.Seconds > worthExplaining && len(parts) > 0 {
		p.paragraph(0, p.paint.Dim("time: "+strings.Join(parts, " · ")))
		if 2*r.Run.Time.Throttled > r.Run.Seconds {
			p.paragraph(0, p.paint.Dim("hint: a pace below the rate limit avoids most 429: set pace.requests_per_second in the target profile, "+
				"or --requests-per-second"))
		}
	}
	p.lastLine(r)
}

// levels shows how far each set of requirements is met.
func (p *page) levels(r reports.Results) {
	var levels []string
	for _, l := range r.Levels {
		if r.Run.Selection == "" || l.Assessed+l.Failed > 0 { // what the user left out is no news
			levels = append(levels, l.String())
		}
	}
	if len(levels) == 0 {
		return
	}
	const label = "levels   "
	p.line()
	for i, l := range console.Flow(levels, " · ", p.width-len(label)) {
		if i == 0 {
			p.line(label, l)
		} else {
			p.line(strings.Repeat(" ", len(label)), l)
		}
	}
}

func (p *page) reasons(r reports.Results) {
	p.line()
	for _, reason := range r.Reasons {
		p.entry(0, 9, "because", printable.Text(reason))
	}
	if len(r.Reasons) > 0 {
		p.line()
	}
}

func (p *page) lastLine(r reports.Results) {
	expected := ""
	if n := r.ExpectedFailures; n > 0 {
		expected = fmt.Sprintf(", %s failed as expected", printable.Number(n))
	}
	because := ""
	if p.ExitCode != 0 && p.ExitCode != r.ExitCode() {
		because = ", exit code from the message on standard error"
	}
	p.line(p.answer(r), fmt.Sprintf("  exit %d · %s", p.ExitCode, summary.CoverageOf(r.Checks)), expected, because)
}

// worthExplaining is the length of a run, in seconds, from which the summary says where
// the time went.
const worthExplaining = 5

// timeParts says where the time of a run went, the longest part first.
func timeParts(t *reports.Time) []string {
	if t == nil {
		return nil
	}
	var parts []string
	for _, part := range t.Parts() {
		parts = append(parts, fmt.Sprintf("%.1f s %s", part.Seconds, part.What))
	}
	return parts
}

func (p *page) answer(r reports.Results) string {
	answer := p.withMark(r.Verdict, r.Word())
	if r.Run.Interrupted {
		answer += p.paint.Yellow(" (interrupted)")
	}
	return answer
}

// word returns a verdict with its mark.
func (p *page) word(v reports.Verdict) string { return p.withMark(v, v.Word()) }

// withMark returns the word for a verdict with the verdict's mark.
func (p *page) withMark(v reports.Verdict, word string) string {
	switch v {
	case reports.Passed:
		return p.paint.Relief("✓ " + word)
	case reports.Failed:
		return p.paint.Alarm("✗ " + word)
	case reports.Inconclusive:
		return p.paint.Uncertain("? " + word)
	default:
		return p.paint.Alarm("? " + word)
	}
}

// inOrder returns the keys of a set: those in first in that order, then the others by
// name.
func inOrder(set map[string]bool, first []string) []string {
	var known, rest []string
	for _, key := range first {
		if set[key] {
			known = append(known, key)
		}
	}
	for key := range set {
		if !slices.Contains(first, key) {
			rest = append(rest, key)
		}
	}
	slices.Sort(rest)
	return append(known, rest...)
}
