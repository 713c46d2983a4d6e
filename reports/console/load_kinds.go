package console

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// This file shows the results of single kinds of scenarios.

func (p *page) sustained(s *load.Sustained) {
	if s == nil {
		return
	}
	said := "none of the rates tried"
	if s.RatePerSecond > 0 {
		said = p.paint.bold(figure(s.RatePerSecond)+"/s") + map[bool]string{true: ", confirmed", false: ", not confirmed"}[s.Confirmed]
	}
	if s.HighPerSecond > s.RatePerSecond {
		said += fmt.Sprintf("; not at %s/s", figure(s.HighPerSecond))
		if why := kneeWhy(s); why != "" {
			said += ": " + why
		}
	}
	if s.Note != "" {
		said += "; " + reports.Printable(s.Note)
	}
	p.fact("sustained rate", said)
	if !p.Verbose {
		return
	}
	for _, k := range s.Knee {
		held := p.paint.green("held")
		if !k.OK {
			held = p.paint.red("not held") + " " + reports.Printable(k.Why)
		}
		p.fact("", fmt.Sprintf("%s/s: %s/s served, p50 %s ms, p99 %s ms, %s %% failed, %s",
			figure(k.AskedPerSecond), figure(k.AchievedPerSecond), short(k.P50MS), short(k.P99MS), figure(100*k.ErrorShare), held))
	}
}

// kneeWhy returns the reason why the next higher rate failed.
func kneeWhy(s *load.Sustained) string {
	for _, k := range s.Knee {
		if !k.OK && k.AskedPerSecond >= s.HighPerSecond-0.5 && k.AskedPerSecond <= s.HighPerSecond+0.5 {
			return reports.Printable(k.Why)
		}
	}
	return ""
}

func (p *page) depths(all []load.Depth) {
	for _, d := range all {
		var points []string
		for _, at := range d.Points {
			points = append(points, fmt.Sprintf("page %s: %s", number(int(at.Page)), short(at.P50MS)))
		}
		said := "p50 ms  " + strings.Join(points, "  ")
		if d.Ratio > 0 {
			said += p.paint.dim(fmt.Sprintf("  deepest ÷ first %s", short(d.Ratio)))
		}
		p.entry(scenarioIndent, widestOperation, p.label(d.Operation), said)
	}
}

func (p *page) walks(w *load.Walks) {
	if w == nil {
		return
	}
	faults := plural(int(w.Faults), "fault", "faults")
	if w.Faults > 0 {
		faults = p.paint.red(faults)
	}
	p.fact("walks", fmt.Sprintf("%s by %s, %s, %s, %s", number(int(w.Walks)), plural(w.Clients, "client", "clients"),
		plural(int(w.Pages), "page", "pages"), plural(int(w.Rows), "row", "rows"), faults))
}

// drift names the steady figures and shows the others in full.
func (p *page) drift(all []load.Drift) {
	var steady []string
	for _, d := range all {
		if d.Verdict == load.Steady && !p.Verbose {
			steady = append(steady, reports.Printable(d.Name))
			continue
		}
		said := p.outcome(string(d.Verdict)) + "  " + reports.Printable(d.Name)
		if d.Verdict != load.TrendNotKnown || d.PerMinute != (load.Estimate{}) { // otherwise there is no estimate
			said += fmt.Sprintf(" %s %s a minute (%s to %s)", figure(d.PerMinute.Value), reports.Printable(d.Unit), figure(d.PerMinute.Low), figure(d.PerMinute.High))
		}
		if d.Why != "" {
			said += ": " + reports.Printable(d.Why)
		}
		p.fact("drift", said)
	}
	if len(steady) > 0 {
		p.fact("drift", p.outcome(string(load.Steady))+"  "+list(steady))
	}
}

// thresholds shows each threshold once per outcome, with the number of its phases.
// Verbose shows each phase with its figure. The scenario's reasons say why a
// threshold is not met.
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
