package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// burst says how slow the target was before, during and after a burst; "" without one.
func burst(s load.Scenario) string {
	if p, parts := spikeOf(s); parts != nil && p.Response.Accepted != nil {
		return spikeInWords(parts)
	}
	return ""
}

// achieved returns the least and the highest throughput of phases, once if they are equal.
func achieved(phases []load.Phase) []string {
	var all []float64
	for _, p := range phases {
		all = append(all, p.AchievedPerSecond)
	}
	if all == nil {
		return nil
	}
	return slices.Compact([]string{printable.Figure(slices.Min(all)), printable.Figure(slices.Max(all))})
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
