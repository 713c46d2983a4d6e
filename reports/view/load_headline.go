package view

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// headline returns what a scenario found out, in a line; "" if that is nothing.
func headline(s load.Scenario) string {
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if k := s.Sustained; k != nil {
		say("%s sustained", printable.Interval(k.RatePerSecond, k.LowPerSecond, k.HighPerSecond, "/s"))
		if k.SaturationPerSecond > 0 {
			say("the knee: it serves %s/s at most", printable.Figure(k.SaturationPerSecond))
		}
	} else if served := servedInWords(counting(s.Phases)); served != "" {
		say("%s", served)
	}
	if p, parts := spikeOf(s); parts != nil && p.Response.Accepted != nil {
		say("%s", spikeInWords(parts))
	}
	if s.Limiter != nil && s.Limiter.Summary != "" {
		say("limiter: %s", s.Limiter.Summary)
	}
	if d := dearest(s.Depth); d.Ratio > 0 {
		say("the deepest page of %s takes %s times as long as the first", d.Operation, load.AtLeast(d.Open, d.Ratio))
	}
	if drifts := driftInWords(s.Drift); drifts != "" {
		say("%s", drifts)
	}
	if w := s.Walks; w != nil {
		say("%s faults in %s walks", printable.Number(w.Faults), printable.Number(w.Walks))
	}
	if change := changeInWords(s.Thresholds); change != "" {
		say("%s", change)
	}
	return strings.Join(found, "; ")
}

// dearest returns the list whose deepest page costs most.
func dearest(all []load.Depth) load.Depth {
	var most load.Depth
	for _, d := range all {
		if d.Ratio > most.Ratio {
			most = d
		}
	}
	return most
}

func driftInWords(all []load.Drift) string {
	var drifting, unknown []string
	for _, d := range all {
		switch d.Verdict {
		case load.Drifts:
			drifting = append(drifting, d.Name+" drifts")
		case load.TrendNotKnown:
			unknown = append(unknown, d.Name)
		}
	}
	switch {
	case len(drifting) > 0:
		return strings.Join(drifting, "; ")
	case len(all) > len(unknown):
		return "no drift"
	case len(all) > 0:
		return "drift inconclusive"
	default:
		return ""
	}
}

// compares matches a threshold on the change of a figure.
var compares = regexp.MustCompile(`\bworse\s*<`)

// changeInWords returns the difference from the baseline: the figure that became worse by
// most.
func changeInWords(all []load.Threshold) string {
	var worst, unknown *load.Threshold
	for i, t := range all {
		switch {
		case !compares.MatchString(t.Text):
		case t.Measured == nil:
			unknown = &all[i]
		case worst == nil || t.Measured.Value > worst.Measured.Value:
			worst = &all[i]
		}
	}
	switch {
	case worst != nil:
		return fmt.Sprintf("%s is %s than the baseline", cmp.Or(worst.Phase, "the figure"), worst.Measured.Change(worst.Unit))
	case unknown != nil:
		return "the difference from the baseline is inconclusive"
	default:
		return ""
	}
}

// spikeOf returns the phase with a burst and its parts; nil if there is none.
func spikeOf(s load.Scenario) (load.Phase, []stretch) {
	for _, p := range counting(s.Phases) {
		if parts := stretchesOf(p); parts != nil {
			return p, parts
		}
	}
	return load.Phase{}, nil
}

// chief returns the one chart that shows the headline of a scenario; nil without figures.
func chief(s load.Scenario) []*chart {
	phases := counting(s.Phases)
	spike, parts := spikeOf(s)
	sized, limits := sizes(phases)
	switch {
	case s.Sustained != nil:
		return drawn(rateChart(*s.Sustained))
	case s.Limiter != nil:
		return limiterCharts(*s.Limiter)
	case len(s.Depth) > 0:
		return drawn(depthsChart(s.Depth))
	case parts != nil:
		return drawn(spikeChart(spike, parts))
	case len(limits) > 1:
		return drawn(sizesChart(sized, limits))
	case len(phases) > 1:
		return drawn(phasesChart(phases))
	case len(phases) > 0:
		return drawn(latencyOverTime(thinned(phases[0])))
	default:
		return nil
	}
}

// comparedInWords sums up a comparison.
func comparedInWords(c load.Comparison) string {
	var said []string
	unknown := 0
	for _, f := range c.Figures {
		change := ""
		if f.Ratio > 0 {
			change = fmt.Sprintf(" (%s%s times A)", load.Bound(f.BOpen, f.AOpen), printable.Figure(f.Ratio))
		}
		switch f.Verdict {
		case load.Worse, load.Better:
			said = append(said, f.Name+" is "+string(f.Verdict)+change)
		case load.EffectNotKnown:
			unknown++
		}
	}
	switch {
	case len(said) > 0:
		return strings.Join(said, "; ")
	case unknown > 0 && unknown == len(c.Figures):
		return "inconclusive"
	default:
		return "no difference shown"
	}
}

// servedInWords returns the throughput of the phases.
func servedInWords(phases []load.Phase) string {
	if len(phases) == 0 {
		return ""
	}
	least, most := phases[0].AchievedPerSecond, phases[0].AchievedPerSecond
	for _, p := range phases {
		least, most = min(least, p.AchievedPerSecond), max(most, p.AchievedPerSecond)
	}
	from, to := printable.Figure(least), printable.Figure(most)
	switch {
	case len(phases) == 1:
		return to + "/s served"
	case from == to:
		return fmt.Sprintf("%s/s served in each of %d phases", to, len(phases))
	default:
		return fmt.Sprintf("%s to %s/s served in %d phases", from, to, len(phases))
	}
}
