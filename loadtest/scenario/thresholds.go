package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// thresholds returns the thresholds of the scenario: the run's, and its own for
// figures that the run does not bound.
func (r *runner) thresholds() []threshold.Threshold {
	own, _ := r.scenario.thresholds() // Check has already parsed them
	own = slices.DeleteFunc(own, func(t threshold.Threshold) bool {
		t.Scenario = r.scenario.Name
		return slices.ContainsFunc(r.env.Thresholds, func(given threshold.Threshold) bool { return given.Replaces(t) })
	})
	var all []threshold.Threshold
	for _, t := range slices.Concat(own, r.env.Thresholds) {
		same := func(other threshold.Threshold) bool { return other.Text == t.Text }
		if t.For(r.scenario.Name) && !slices.ContainsFunc(all, same) {
			all = append(all, t)
		}
	}
	return all
}

// misses returns the thresholds that a phase of a search does not meet. A step
// is short: if its sample cannot decide, the value does. A confirmation must be
// sure: unsure are the thresholds that its values meet and its sample does not
// decide.
func (r *runner) misses(rec measure.Recording, sure bool) (missed []string, unsure []threshold.Result) {
	if rec.Count(measure.Accepted) == 0 {
		return []string{"nothing was accepted"}, nil
	}
	for _, t := range r.thresholds() {
		if !t.OfPhases() {
			continue
		}
		switch held := t.Hold(t.Of(rec)); {
		case held.Verdict == threshold.Missed, held.Verdict == threshold.Inconclusive && !held.PointMeets:
			missed = append(missed, t.Text+": "+held.Sentence)
		case held.Verdict == threshold.Inconclusive && sure:
			unsure = append(unsure, held)
		}
	}
	if said := fallsBehind(rec); said != "" {
		missed = append(missed, said)
	}
	return append(missed, r.refused(rec)...), unsure
}

// fallsBehind describes how much the target serves if it does not keep up with
// the rate; it is empty otherwise.
func fallsBehind(rec measure.Recording) string {
	served, behind := rec.Served()
	if !behind {
		return ""
	}
	return fmt.Sprintf("the target falls behind: its queue grows as if it served %.4g of %.4g requests/s", served, rec.Rate)
}

// mostRefused is the share of 429 answers at which a rate still counts as held,
// unless the scenario has a threshold for it.
const mostRefused = 0.01

// refused reports that a rate is held only by refusing much of it.
func (r *runner) refused(rec measure.Recording) []string {
	limited := rec.Count(measure.Limited)
	own := slices.ContainsFunc(r.thresholds(), func(t threshold.Threshold) bool { return t.Metric == threshold.Limited })
	if own || float64(limited) <= mostRefused*float64(rec.Sent) {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d requests got 429", limited, rec.Sent)}
}

// holdAgainstThresholds evaluates every threshold.
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

// measures maps the figures of a whole scenario to the kind of scenario that
// yields them.
var measures = map[threshold.Metric]Kind{threshold.Sustained: Sustained, threshold.Depth: Depth}

// holdPhases evaluates a threshold in each phase, or in each phase at its rate.
func (r *runner) holdPhases(t threshold.Threshold) {
	if r.scenario.Kind == RateLimit {
		return // its requests are meant to be refused
	}
	held, phases := 0, r.phases()
	for _, c := range phases {
		if t.Rate != 0 && t.Rate != c.recording.Rate || t.Label != "" && elsewhere(c, phases, t.Label) {
			continue
		}
		held++
		r.enter(t, c.recording.Name, distrust(c, t.Hold(t.Of(c.recording))))
	}
	if held == 0 && r.scenario.Kind == Sustained && len(r.counted) == 0 && r.uses.Searched > 0 {
		result := t.Hold(threshold.Figure{})
		result.Sentence = unconfirmed
		r.list(t, "", result) // the search has its own reason
		return
	}
	if held == 0 && (t.Rate == 0 || t.Scenario != "") {
		result := t.Hold(threshold.Figure{})
		if t.Rate != 0 {
			result.Sentence = fmt.Sprintf("no phase ran at %v/s", t.Rate)
		}
		r.enter(t, "", result)
	}
}

// phases returns the phases that thresholds are evaluated in. The blocks of a
// comparison are short and count as one phase.
func (r *runner) phases() []counted {
	if !r.inBlocks || len(r.counted) == 0 {
		return r.counted
	}
	all := counted{}
	var blocks []measure.Recording
	for _, c := range r.counted {
		blocks = append(blocks, c.recording)
		all.cut, all.limited = all.cut || c.cut, cmp.Or(all.limited, c.limited)
	}
	all.recording = measure.InTurn(blocks...)
	all.recording.Name = allBlocks
	return []counted{all}
}

// allBlocks is the name of all blocks of one target in a comparison.
const allBlocks = "all blocks"

// elsewhere reports whether requests with the label belong to other phases
// only: each page size of a scenario has its own phase.
func elsewhere(c counted, all []counted, label string) bool {
	asks := func(c counted) bool { return len(c.recording.Label(label).Count) > 0 }
	return !asks(c) && slices.ContainsFunc(all, asks)
}

// distrust makes a miss inconclusive if the generator or an early end of the
// phase may have caused it.
func distrust(c counted, result threshold.Result) threshold.Result {
	if c.cut && result.Verdict == threshold.Missed && result.Threshold.Metric == threshold.Errors {
		result.Verdict = threshold.Inconclusive
		result.Sentence += ", but the phase was cut short, so unanswered requests do not count"
	}
	if c.limited != "" && result.Verdict == threshold.Missed && result.Threshold.Metric != threshold.Errors {
		result.Verdict = threshold.Inconclusive
		result.Sentence += ", but the generator was the bottleneck"
	}
	return result
}

// list adds the result of a threshold to the results.
func (r *runner) list(t threshold.Threshold, phase string, result threshold.Result) {
	entry := load.Threshold{Text: t.Text, Phase: phase, Outcome: load.Outcome(result.Verdict), Why: result.Sentence}
	if f := t.Shown(result.Figure); f.Known {
		entry.Unit = t.Unit()
		entry.Measured = &load.Estimate{Value: f.Value, Low: f.Low, High: max(f.High, f.Value)}
	}
	r.out.Thresholds = append(r.out.Thresholds, entry)
}

// enter lists the result of a threshold and gives it as a reason unless it is
// met.
func (r *runner) enter(t threshold.Threshold, phase string, result threshold.Result) {
	r.list(t, phase, result)
	brief := ""
	if f := result.Figure; f.Known {
		brief = t.Brief(f)
	}
	r.because(t, phase, result, brief)
}

// because gives the result of a threshold as a reason unless it is met.
func (r *runner) because(t threshold.Threshold, phase string, result threshold.Result, brief string) {
	where := ""
	if phase != "" && (len(r.counted) != 1 || phase != r.counted[0].recording.Name) {
		where = phase
	}
	switch result.Verdict {
	case threshold.Missed:
		r.fails = append(r.fails, reason{phase: where, cause: t.Text, brief: brief, text: fmt.Sprintf("%s missed: %s", t.Text, result.Sentence)})
	case threshold.Inconclusive:
		r.voids = append(r.voids, reason{phase: where, cause: t.Text, brief: brief, text: fmt.Sprintf("%s inconclusive: %s", t.Text, result.Sentence)})
	}
}

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
