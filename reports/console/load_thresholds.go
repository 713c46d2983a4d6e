package console

import (
	"fmt"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// thresholds shows each threshold once for each of its outcomes, with the phases
// that had it; verbose, each phase by itself with the figure in words. Why one is
// not met stands with the reasons already.
func (p *page) thresholds(all []load.Threshold) {
	if p.Verbose {
		for _, t := range all {
			p.threshold([]load.Threshold{t})
		}
		return
	}
	var groups [][]load.Threshold
	for _, t := range all {
		i := slices.IndexFunc(groups, func(g []load.Threshold) bool { return g[0].Text == t.Text && g[0].Outcome == t.Outcome })
		if i < 0 {
			groups = append(groups, []load.Threshold{t})
			continue
		}
		groups[i] = append(groups[i], t)
	}
	for _, group := range groups {
		p.threshold(group)
	}
}

// threshold shows one outcome of one threshold.
func (p *page) threshold(group []load.Threshold) {
	t := group[0]
	said := p.paint.bold(reports.Printable(t.Text)) + "  " + p.outcome(string(t.Outcome))
	switch {
	case len(group) > 1:
		said += " in " + plural(len(group), "phase", "phases")
	case t.Phase != "":
		said += " in " + reports.Printable(t.Phase)
	}
	if m := t.Measured; m != nil && len(group) == 1 {
		said += fmt.Sprintf(": %s %s (%s to %s)", figure(m.Value), reports.Printable(t.Unit), figure(m.Low), figure(m.High))
	}
	if t.Why != "" && p.Verbose {
		said += "; " + reports.Printable(t.Why)
	}
	p.fact("threshold", said)
}
