package view

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// This file shows the results of single kinds of scenarios.

func (p *page) sustained(s *load.Sustained) {
	if s == nil {
		return
	}
	said := "no rate was confirmed"
	if s.RatePerSecond > 0 {
		said = p.paint.Bold(printable.Figure(s.RatePerSecond)+"/s") + map[bool]string{true: ", confirmed", false: ", not confirmed"}[s.Confirmed]
	}
	if s.HighPerSecond > s.RatePerSecond {
		said += fmt.Sprintf("; not met at %s/s", printable.Figure(s.HighPerSecond))
		if why := kneeWhy(s); why != "" {
			said += ": " + why
		}
	}
	if s.Note != "" {
		said += "; " + printable.Text(s.Note)
	}
	p.fact("sustained rate", said)
	if s.SaturationPerSecond > 0 {
		p.fact("saturation", printable.Figure(s.SaturationPerSecond)+"/s, the highest throughput while the queue grew")
	}
	if !p.Verbose {
		p.ratesTried(s.Knee)
		return
	}
	for _, k := range s.Knee {
		outcome := p.paint.Green("met")
		if !k.OK {
			outcome = p.paint.Red("not met") + ": " + printable.Text(k.Why)
		}
		p.fact("rate tried", fmt.Sprintf("%s/s: %s/s served, p50 %s ms, p99 %s ms, %s %% failed, %s",
			printable.Figure(k.AskedPerSecond), printable.Figure(k.AchievedPerSecond), load.AtLeast(k.MedianOpen, k.P50MS), load.AtLeast(k.Open, k.P99MS), printable.Figure(100*k.ErrorShare), outcome))
	}
}

// ratesTried shows the rates of a search by outcome. A rate tried twice is met if it was
// met both times.
func (p *page) ratesTried(knee []load.KneePoint) {
	var tried []load.KneePoint // one for each rate
	for _, k := range knee {
		last := len(tried) - 1
		switch {
		case last < 0 || tried[last].AskedPerSecond != k.AskedPerSecond:
			tried = append(tried, k)
		case tried[last].OK:
			tried[last] = k
		}
	}
	const queueGrew, missed, met = "the queue grew", "not met", "met"
	at := map[string][]string{}
	for _, k := range tried {
		outcome := missed
		switch {
		case k.OK:
			outcome = met
		case k.QueueGrew:
			outcome = queueGrew
		}
		at[outcome] = append(at[outcome], printable.Figure(k.AskedPerSecond)+"/s")
	}
	for _, outcome := range []string{met, missed, queueGrew} {
		if rates := at[outcome]; len(rates) > 0 {
			p.fact("rates tried", p.outcome(outcome)+" at "+list(rates))
		}
	}
}

// kneeWhy returns the reason why the next higher rate failed.
func kneeWhy(s *load.Sustained) string {
	for _, k := range s.Knee {
		if !k.OK && k.AskedPerSecond >= s.HighPerSecond-0.5 && k.AskedPerSecond <= s.HighPerSecond+0.5 {
			return printable.Text(k.Why)
		}
	}
	return ""
}

func (p *page) depths(all []load.Depth) {
	for _, d := range all {
		var points []string
		for _, at := range d.Points {
			points = append(points, fmt.Sprintf("page %s: %s", printable.Number(int(at.Page)), load.AtLeast(at.MedianOpen, at.P50MS)))
		}
		said := "p50 ms  " + strings.Join(points, "  ")
		if d.Ratio > 0 {
			said += p.paint.Dim(fmt.Sprintf("  deepest ÷ first %s", load.AtLeast(d.Open, d.Ratio)))
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
		faults = p.paint.Red(faults)
	}
	p.fact("walks", fmt.Sprintf("%s by %s, %s, %s, %s", printable.Number(int(w.Walks)), plural(w.Clients, "client", "clients"),
		plural(int(w.Pages), "page", "pages"), plural(int(w.Rows), "row", "rows"), faults))
}

// drift names the steady figures and shows the others in full.
func (p *page) drift(all []load.Drift) {
	var steady []string
	for _, d := range all {
		if d.Verdict == load.Steady && !p.Verbose {
			steady = append(steady, printable.Text(d.Name))
			continue
		}
		said := p.outcome(string(d.Verdict)) + "  " + printable.Text(d.Name)
		if d.Verdict != load.TrendNotKnown || d.PerMinute != (load.Estimate{}) { // otherwise there is no estimate
			said += " " + printable.Interval(d.PerMinute.Value, d.PerMinute.Low, d.PerMinute.High, d.Unit+" a minute")
		}
		if d.Why != "" {
			said += ": " + printable.Text(d.Why)
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

// mostNamed is how many phases of one outcome are named.
const mostNamed = 3

// threshold shows one outcome of one threshold.
func (p *page) threshold(group []load.Threshold) {
	t := group[0]
	said := p.paint.Bold(printable.Text(t.Text)) + "  " + p.outcome(string(t.Outcome))
	switch {
	case len(group) > mostNamed:
		said += " in " + plural(len(group), "phase", "phases")
	case t.Phase != "":
		var phases []string
		for _, one := range group {
			phases = append(phases, printable.Text(one.Phase))
		}
		said += " in " + list(phases)
	}
	if m := t.Measured; m != nil && len(group) == 1 {
		said += ": " + m.In(t.Unit)
	}
	if t.Why != "" && p.Verbose {
		said += "; " + printable.Text(t.Why)
	}
	p.fact("threshold", said)
}
