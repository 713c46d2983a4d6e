package scenario

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// baselineQuantiles are the quantiles compared with the baseline.
var baselineQuantiles = []float64{0.5, 0.99}

// holdRegression compares the phases, or the sustained rate, with the
// baseline's if both runs did the same.
func (r *runner) holdRegression(t threshold.Threshold) {
	if r.scenario.Kind == RateLimit {
		return
	}
	base := r.env.Baselines[t.Baseline]
	earlier, unfit := base.Of(r.scenario.Name)
	switch {
	case unfit == "" && r.scenario.Kind == Sustained:
		r.compareRates(t, base, earlier)
	case unfit == "" && len(r.counted) > 0:
		for i, c := range r.counted {
			r.comparePhase(t, base, earlier, c, PlanOf(r.out.Phases[i], r.out.Walks))
		}
	case unfit == "":
		r.enter(t, "", t.Hold(threshold.Figure{}))
	default:
		r.untold(t, "", unfit)
	}
}

// untold lists a threshold without a figure and the reason.
func (r *runner) untold(t threshold.Threshold, phase, why string) {
	result := t.Hold(threshold.Figure{})
	result.Sentence = why
	r.enter(t, phase, result)
}

// comparePhase compares the latencies of a phase with the baseline's.
func (r *runner) comparePhase(t threshold.Threshold, base *threshold.Baseline, earlier threshold.Earlier, c counted, plan threshold.Plan) {
	name := c.recording.Name
	before, there := earlier.Phases[name]
	if !there {
		r.untold(t, name, base.Otherwise("it has no phase "+name+" with accepted requests"))
		return
	}
	if differs := plan.Differs(before.Plan); differs != "" {
		r.untold(t, name, base.Otherwise(differs))
		return
	}
	for _, p := range baselineQuantiles {
		of := threshold.Threshold{Metric: threshold.Quantile, P: p}
		now := of.Of(c.recording)
		result := distrust(c, t.Hold(threshold.Against(now, before.Latencies[p], true)))
		result.Sentence = fmt.Sprintf("%s, was %s in %s; %s", inMS(now), inMS(before.Latencies[p]), base.Name, result.Sentence)
		at := fmt.Sprintf("%s p%g", name, 100*p)
		r.list(t, at, result)
		r.because(t, at, result, fmt.Sprintf("%s, was %s", inMS(now), inMS(before.Latencies[p])))
	}
}

// inMS formats a latency.
func inMS(f threshold.Figure) string {
	if !f.Known {
		return "unknown"
	}
	return fmt.Sprintf("%.4g ms", 1000*f.Value)
}

// compareRates compares the rates of two searches.
func (r *runner) compareRates(t threshold.Threshold, base *threshold.Baseline, earlier threshold.Earlier) {
	const phase = "sustained"
	now, known := r.figures[threshold.Sustained]
	var held []string
	for _, t := range r.thresholds() {
		held = append(held, t.Text)
	}
	bounds := bounds(held)
	switch {
	case !known:
		r.untold(t, phase, "no confirmed rate to compare")
		return
	case !earlier.Sustained.Known:
		r.untold(t, phase, base.Name+" has no confirmed rate to compare with (use a run that has one)")
		return
	case !slices.Equal(bounds, earlier.Bounds):
		r.untold(t, phase, base.Otherwise(fmt.Sprintf("its search had the thresholds %q, this one %q", earlier.Bounds, bounds)))
		return
	}
	plan := PlanOf(r.out.Phases[len(r.out.Phases)-1], nil)
	plan.Rate = earlier.Searched.Rate // the rate itself is compared below
	if differs := plan.Differs(earlier.Searched); differs != "" {
		r.untold(t, phase, base.Otherwise(differs))
		return
	}
	now.Known = true
	result := t.Hold(threshold.Against(now, earlier.Sustained, false))
	result.Sentence = fmt.Sprintf("%.4g/s, was %.4g/s in %s; %s", now.Value, earlier.Sustained.Value, base.Name, result.Sentence)
	r.enter(t, phase, result)
}

// PlanOf returns the plan of a phase. walks is nil unless the scenario walks
// lists.
func PlanOf(p load.Phase, walks *load.Walks) threshold.Plan {
	plan := threshold.Plan{Rate: p.RatePerSecond, Requests: map[string]int64{}}
	if walks != nil {
		plan.Clients = walks.Clients
	}
	if !p.ClosedLoop && p.Seconds > 0 {
		plan.Mean = float64(p.Planned) / p.Seconds
		for _, second := range p.Series {
			plan.Peak = max(plan.Peak, second.Asked)
		}
	}
	for _, l := range p.Labels {
		name, _, _ := strings.Cut(l.Name, pageOfLabel) // the number of pages depends on the target
		plan.Requests[name] += l.Accepted + l.Limited + l.Failed
	}
	return plan
}

// BoundsOf returns the sorted thresholds that a search of the scenario had to
// meet.
func BoundsOf(s load.Scenario) []string {
	var held []string
	for _, t := range s.Thresholds {
		held = append(held, t.Text)
	}
	return bounds(held)
}

func bounds(held []string) []string {
	var bounds []string
	for _, text := range held {
		if t, err := threshold.Parse(text); err == nil && t.OfPhases() {
			bounds = append(bounds, text)
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}
