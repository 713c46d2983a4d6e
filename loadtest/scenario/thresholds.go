package scenario

import (
	"fmt"
	"slices"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// thresholds are those that hold for the scenario: its own and the run's.
func (r *runner) thresholds() []threshold.Threshold {
	own, _ := r.scenario.thresholds() // Check has read them
	var all []threshold.Threshold
	for _, t := range slices.Concat(own, r.env.Thresholds) {
		same := func(other threshold.Threshold) bool { return other.Text == t.Text }
		if t.For(r.scenario.Name) && !slices.ContainsFunc(all, same) {
			all = append(all, t)
		}
	}
	return all
}

// misses says which thresholds a phase of a search does not meet. A step is
// short: where the sample cannot decide, its figure does. A confirmation has to
// be sure.
func (r *runner) misses(rec measure.Recording, sure bool) []string {
	if rec.Count(measure.Accepted) == 0 {
		return []string{"nothing was accepted"}
	}
	var missed []string
	for _, t := range r.thresholds() {
		if !t.OfPhases() {
			continue
		}
		held := t.Hold(t.Of(rec))
		if held.Verdict == threshold.Missed || held.Verdict == threshold.CouldNotTell && (sure || !held.PointMeets) {
			missed = append(missed, t.Text+": "+held.Sentence)
		}
	}
	return missed
}

// holdAgainstThresholds enters what became of each threshold.
func (r *runner) holdAgainstThresholds() {
	for _, t := range r.thresholds() {
		switch {
		case t.OfPhases():
			r.holdPhases(t)
		case t.Metric == threshold.Regression:
			r.holdRegression(t)
		case measures[t.Metric] == r.scenario.Kind:
			figure, known := r.figures[t.Metric]
			figure.Known = known
			r.enter(t, "", t.Hold(figure))
		case t.Scenario != "":
			r.enter(t, "", t.Hold(threshold.Figure{}))
		}
	}
}

// measures says which kind of scenario a figure of a whole scenario comes from:
// thresholds on it mean no other.
var measures = map[threshold.Metric]Kind{threshold.Sustained: Sustained, threshold.Depth: Depth}

// holdPhases holds a threshold against each phase, or each of its rate.
func (r *runner) holdPhases(t threshold.Threshold) {
	if r.scenario.Kind == RateLimit {
		return // its figures are those of requests that were meant to be refused
	}
	held := 0
	for _, c := range r.counted {
		if t.Rate != 0 && t.Rate != c.recording.Rate {
			continue
		}
		held++
		r.enter(t, c.recording.Name, distrust(c, t.Hold(t.Of(c.recording))))
	}
	if held == 0 && (t.Rate == 0 || t.Scenario != "") {
		result := t.Hold(threshold.Figure{})
		if t.Rate != 0 {
			result.Sentence = fmt.Sprintf("no phase ran at %v/s", t.Rate)
		}
		r.enter(t, "", result)
	}
}

// distrust takes a miss back where the generator may have made it.
func distrust(c counted, result threshold.Result) threshold.Result {
	if silent(c.recording) && result.Verdict == threshold.Missed {
		result.Verdict = threshold.CouldNotTell
		result.Sentence += ", but the target answered nothing at all"
	}
	if c.limited != "" && result.Verdict == threshold.Missed && result.Threshold.Metric != threshold.Errors {
		result.Verdict = threshold.CouldNotTell
		result.Sentence += ", but the generator shaped that figure"
	}
	return result
}

// enter puts what became of a threshold into the results.
func (r *runner) enter(t threshold.Threshold, phase string, result threshold.Result) {
	entry := load.Threshold{Text: t.Text, Phase: phase, Outcome: load.Outcome(result.Verdict), Why: result.Sentence}
	if f := t.Shown(result.Figure); f.Known {
		entry.Unit = t.Unit()
		entry.Measured = &load.Estimate{Value: f.Value, Low: f.Low, High: max(f.High, f.Value)}
	}
	r.out.Thresholds = append(r.out.Thresholds, entry)
	where := ""
	if phase != "" && len(r.counted) > 1 {
		where = phase + ": "
	}
	switch result.Verdict {
	case threshold.Missed:
		r.fail("%s%s is missed: %s", where, t.Text, result.Sentence)
	case threshold.CouldNotTell:
		r.void("%s%s could not be told: %s", where, t.Text, result.Sentence)
	}
}

// baselineQuantiles are those that a regression is looked for in.
var baselineQuantiles = []float64{0.5, 0.99}

// holdRegression compares the phases, or the sustained rate, with the baseline's.
func (r *runner) holdRegression(t threshold.Threshold) {
	if r.scenario.Kind == RateLimit {
		return
	}
	base := r.env.Baselines[t.Baseline]
	compared := 0
	if base != nil {
		for _, c := range r.counted {
			for _, p := range baselineQuantiles {
				before, there := base.Latencies[threshold.Place{Scenario: r.scenario.Name, Phase: c.recording.Name, P: p}]
				if !there {
					continue
				}
				compared++
				now := threshold.Threshold{Metric: threshold.Quantile, P: p}.Of(c.recording)
				r.enter(t, fmt.Sprintf("%s p%g", c.recording.Name, 100*p), distrust(c, t.Hold(threshold.Against(now, before, true))))
			}
		}
		if now, known := r.figures[threshold.Sustained]; known {
			if before, there := base.Sustained[r.scenario.Name]; there {
				compared++
				now.Known = true
				r.enter(t, "sustained", t.Hold(threshold.Against(now, before, false)))
			}
		}
	}
	if compared == 0 {
		result := t.Hold(threshold.Figure{})
		result.Sentence = base.Missing(r.scenario.Name)
		r.enter(t, "", result)
	}
}
