package view

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
)

// Limits of a difference, unless Verbose is set.
const (
	maxChanges          = 15 // groups of one list
	maxChangeOperations = 4
	maxReasonColumns    = 160
)

// consoleDifference writes the difference between two runs: for each kind of results the runs,
// what differs in their settings, the changes, the observations and the figures. The
// last line is the outcome.
func consoleDifference(w io.Writer, d diff.Difference, o Options) error {
	p := newPage(o)
	for i, part := range d.Parts {
		if i > 0 {
			p.line()
		}
		p.part(part)
	}
	p.line()
	because := ""
	if p.Failed != "" && d.Outcome.ExitCode() == 0 {
		because = ", because of the verdict above: " + p.Failed
	}
	p.line(p.difference(d), fmt.Sprintf("  exit %d%s", p.ExitCode, because))
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) part(part diff.Part) {
	const column = 11
	p.entry(0, column, "old", printable.Text(part.Old.Title()))
	p.entry(0, column, "new", printable.Text(part.New.Title()))
	for _, note := range part.Notes {
		p.entry(0, column, "note", printable.Text(note))
	}
	for _, l := range part.Lists() {
		p.heading(strings.ToUpper(l.Title), printable.Number(len(l.Changes))+": "+l.About)
		p.changes(l)
	}
	p.changedObservations(part.Observations)
	p.changedFigures(part.Figures)
	p.changedThresholds(part.Thresholds)
}

func (p *page) changes(l diff.List) {
	groups := diff.Grouped(l.Changes)
	shown := p.limit(len(groups), maxChanges)
	for _, g := range groups[:shown] {
		name := printable.Text(g.Name())
		if l.Fails {
			name = p.paint.Red(name)
		}
		if len(g.Operations) > 0 {
			name += " on " + p.some(g.Operations)
		}
		p.paragraph(2, fmt.Sprintf("%s: was %s, is %s", name, printable.Text(g.Was), printable.Text(g.Is)))
		if g.Why != "" {
			p.paragraph(4, p.reason(g.Why))
		}
	}
	if left := len(groups) - shown; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, "(all: --verbose)")))
	}
}

// reason returns a printable reason, cut unless Verbose is set.
func (p *page) reason(why string) string {
	why = printable.Text(why)
	if p.Verbose {
		return why
	}
	return console.Cut(why, maxReasonColumns)
}

// some names operations, the first few unless Verbose is set.
func (p *page) some(operations []string) string {
	shown := p.limit(len(operations), maxChangeOperations)
	text := list(printables(operations[:shown]))
	if left := len(operations) - shown; left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

func (p *page) changedObservations(all []diff.Observation) {
	if len(all) == 0 {
		return
	}
	p.heading("CHANGED OBSERVATIONS", "behaviour that the specification leaves open; clients may rely on it")
	groups := diff.GroupedObservations(all)
	shown := p.limit(len(groups), maxChanges)
	for _, g := range groups[:shown] {
		where := ""
		if len(g.Operations) > 0 {
			where = " on " + p.some(g.Operations)
		}
		p.paragraph(2, printable.Text(g.OpenPoint)+where)
		p.entry(4, 5, "was", p.reason(diff.Values(g.Was)))
		p.entry(4, 5, "is", p.reason(diff.Values(g.Is)))
	}
	if left := len(groups) - shown; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, "(all: --verbose)")))
	}
}

func (p *page) changedFigures(all []diff.Figure) {
	if len(all) == 0 {
		return
	}
	p.heading("FIGURES", "with their intervals; worse or better only if the intervals do not overlap")
	for _, f := range all {
		p.paragraph(2, fmt.Sprintf("%s: %s", printable.Text(f.Place()), printable.Text(f.Name)))
		if f.Old == nil || f.New == nil {
			p.paragraph(4, p.paint.Yellow(string(f.Verdict))+": "+printable.Text(f.Why))
			continue
		}
		p.paragraph(4, fmt.Sprintf("was %s, is %s; %s: %s", diff.Shown(f.Old, f.Unit), diff.Shown(f.New, f.Unit), p.effect(f.Verdict), printable.Text(f.ShownChange())))
	}
}

func (p *page) effect(e load.Effect) string {
	switch e {
	case load.Worse:
		return p.paint.Red(string(e))
	case load.Better:
		return p.paint.Green(string(e))
	default:
		return p.paint.Dim(string(e))
	}
}

func (p *page) changedThresholds(all []diff.Threshold) {
	if len(all) == 0 {
		return
	}
	p.heading("THRESHOLDS", "on the change of the figures")
	for _, t := range all {
		outcome := string(t.Outcome)
		if t.Outcome != load.Met {
			outcome = p.paint.Yellow(outcome)
		}
		p.paragraph(2, fmt.Sprintf("%s in %s: %s", printable.Text(t.Text), printable.Text(t.Place()), outcome))
		p.paragraph(4, printable.Text(t.Why))
	}
}

// difference returns the difference in one line, with a mark.
func (p *page) difference(d diff.Difference) string {
	text := d.Summary()
	switch d.Outcome {
	case diff.Same:
		return p.paint.Relief("= " + text)
	case diff.Different:
		return p.paint.Bold("≠ " + text)
	case diff.Worse:
		return p.paint.Alarm("✗ " + text)
	default:
		return p.paint.Uncertain("? " + text)
	}
}
