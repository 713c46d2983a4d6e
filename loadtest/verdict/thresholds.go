package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// thresholds returns the thresholds of the scenario: the run's, and its own for
// figures that the run does not bound.
func (d *Draft) thresholds() []threshold.Threshold {
	own, _ := d.scenario.OwnThresholds() // Check has already parsed them
	own = slices.DeleteFunc(own, func(t threshold.Threshold) bool {
		t.Scenario = d.scenario.Name
		return slices.ContainsFunc(d.terms.Thresholds, func(given threshold.Threshold) bool { return given.Replaces(t) })
	})
	var all []threshold.Threshold
	for _, t := range slices.Concat(own, d.terms.Thresholds) {
		same := func(other threshold.Threshold) bool { return other.Text == t.Text }
		if t.For(d.scenario.Name) && !slices.ContainsFunc(all, same) {
			all = append(all, t)
		}
	}
	return all
}

// holdAgainstThresholds evaluates every threshold.
func (d *Draft) holdAgainstThresholds() {
	for _, t := range d.thresholds() {
		switch {
		case t.OfPhases():
			d.holdPhases(t)
		case t.Metric == threshold.Worse:
			d.holdWorse(t)
		default:
			figure, known := d.figures[t.Metric]
			figure.Known = known
			if kind, _ := scenario.KindOf(t.Metric); kind == d.scenario.Kind || t.Scenario != "" {
				d.enter(t, "", t.Hold(figure))
			}
		}
	}
}

// holdPhases evaluates a threshold in each phase, or in each phase at its rate.
func (d *Draft) holdPhases(t threshold.Threshold) {
	if d.scenario.Kind == scenario.RateLimit {
		return // its requests are meant to be refused
	}
	held, phases := 0, d.judgedPhases()
	for _, p := range phases {
		if t.Rate != 0 && t.Rate != p.Rate || t.Label != "" && elsewhere(p, phases, t.Label) {
			continue
		}
		held++
		d.enter(t, p.Name, distrust(p, t.Hold(d.figure(t, p.Recording))))
	}
	if held == 0 && d.scenario.Kind == scenario.Sustained && len(d.phases) == 0 && d.Uses.Searched > 0 {
		result := t.Hold(threshold.Figure{})
		result.Sentence = unconfirmed
		d.list(t, "", result) // the search has its own reason
		return
	}
	if held == 0 && (t.Rate == 0 || t.Scenario != "") {
		result := t.Hold(threshold.Figure{})
		if t.Rate != 0 {
			result.Sentence = fmt.Sprintf("no phase ran at %v/s", t.Rate)
		}
		d.enter(t, "", result)
	}
}

// judgedPhases returns the phases that thresholds are evaluated in. The blocks of a
// comparison are short and count as one phase.
func (d *Draft) judgedPhases() []Phase {
	if !d.InBlocks || len(d.phases) == 0 {
		return d.phases
	}
	all := Phase{}
	var blocks []measure.Recording
	for _, p := range d.phases {
		blocks = append(blocks, p.Recording)
		all.Cut, all.OtherLoad, all.Near = all.Cut || p.Cut, cmp.Or(all.OtherLoad, p.OtherLoad), cmp.Or(all.Near, p.Near)
	}
	all.Recording = measure.InTurn(blocks...)
	all.Name = allBlocks
	return []Phase{all}
}

// allBlocks is the name of all blocks of one target in a comparison.
const allBlocks = "all blocks"

// elsewhere reports whether requests with the label belong to other phases
// only: each page size of a scenario has its own phase.
func elsewhere(p Phase, all []Phase, label string) bool {
	asks := func(p Phase) bool { return len(p.Label(label)) > 0 }
	return !asks(p) && slices.ContainsFunc(all, asks)
}

// distrust makes a miss inconclusive if another load than the requested one, a generator
// at its limit, or an early end of the phase may have caused it.
func distrust(p Phase, result threshold.Result) threshold.Result {
	if p.Cut && result.Verdict == threshold.Missed && (result.Threshold.Metric == threshold.Errors || result.Figure.AtLeast) {
		result.Verdict = threshold.Inconclusive
		result.Sentence += ", but the phase was cut short, so unanswered requests do not count"
	}
	if result.Verdict != threshold.Missed || result.Threshold.Metric == threshold.Errors {
		return result
	}
	switch {
	case p.OtherLoad != "":
		result.Verdict = threshold.Inconclusive
		result.Sentence += ", but under another load than requested"
	case p.Near != "":
		result.Verdict = threshold.Inconclusive
		result.Sentence += ", but the generator was near its ceiling"
	}
	return result
}

// list adds the result of a threshold to the results.
func (d *Draft) list(t threshold.Threshold, phase string, result threshold.Result) {
	entry := load.Threshold{Text: t.Text, Phase: phase, Outcome: load.Outcome(result.Verdict), Why: result.Sentence}
	if entry.Measured = shown(t, result.Figure); entry.Measured != nil {
		entry.Unit = t.Unit()
	}
	d.Result.Thresholds = append(d.Result.Thresholds, entry)
}

// enter lists the result of a threshold and gives it as a reason unless it is
// met.
func (d *Draft) enter(t threshold.Threshold, phase string, result threshold.Result) {
	d.list(t, phase, result)
	brief := ""
	if f := result.Figure; f.Known {
		brief = t.Brief(f)
	}
	d.because(t, phase, result, brief)
}

// because gives the result of a threshold as a reason unless it is met.
func (d *Draft) because(t threshold.Threshold, phase string, result threshold.Result, brief string) {
	where := ""
	if phase != "" && (len(d.phases) != 1 || phase != d.phases[0].Name) {
		where = phase
	}
	switch result.Verdict {
	case threshold.Missed:
		d.fails = append(d.fails, reason{phase: where, cause: t.Text, brief: brief, text: fmt.Sprintf("%s missed: %s", t.Text, result.Sentence)})
	case threshold.Inconclusive:
		d.voids = append(d.voids, reason{phase: where, cause: t.Text, brief: brief, text: fmt.Sprintf("%s inconclusive: %s", t.Text, result.Sentence)})
	}
}

// baselineQuantiles are the quantiles compared with the baseline.
var baselineQuantiles = []float64{0.5, 0.99}

// holdWorse compares the figures with those of the other target, if there is one and the
// threshold names no file. Otherwise it compares the phases, or the sustained rate, with
// the baseline's if both runs did the same.
func (d *Draft) holdWorse(t threshold.Threshold) {
	if d.scenario.Kind == scenario.RateLimit {
		return
	}
	if d.InBlocks && t.Baseline == "" {
		d.holdCompared(t)
		return
	}
	base := d.terms.Baselines[t.Baseline]
	earlier, unfit := base.Of(d.scenario.Name)
	switch {
	case unfit == "" && d.scenario.Kind == scenario.Sustained:
		d.compareRates(t, base, earlier)
	case unfit == "" && len(d.phases) > 0:
		for i, p := range d.phases {
			d.comparePhase(t, base, earlier, p, planOf(d.Result.Phases[i], d.Result.Walks))
		}
	case unfit == "":
		d.enter(t, "", t.Hold(threshold.Figure{}))
	default:
		d.unknown(t, "", unfit)
	}
}

// unknown lists a threshold without a figure and the reason.
func (d *Draft) unknown(t threshold.Threshold, phase, why string) {
	result := t.Hold(threshold.Figure{})
	result.Sentence = why
	d.enter(t, phase, result)
}

// comparePhase compares the latencies of a phase with the baseline's.
func (d *Draft) comparePhase(t threshold.Threshold, base *threshold.Baseline, earlier threshold.Earlier, p Phase, plan threshold.Plan) {
	name := p.Name
	before, there := earlier.Phases[name]
	if !there {
		d.unknown(t, name, base.Otherwise("it has no phase "+name+" with accepted requests"))
		return
	}
	if differs := plan.Differs(before.Plan); differs != "" {
		d.unknown(t, name, base.Otherwise(differs))
		return
	}
	for _, q := range baselineQuantiles {
		of := threshold.Threshold{Metric: threshold.Quantile, P: q}
		now := d.figure(of, p.Recording)
		t.P = q // an open end of the interval closes with enough requests beyond the quantile
		result := distrust(p, t.Hold(threshold.Against(now, before.Latencies[q], true)))
		if result.Need > 0 {
			result.Sentence += " in both runs"
		}
		result.Sentence = fmt.Sprintf("%s, was %s in %s; %s", inMS(now), inMS(before.Latencies[q]), base.Name, result.Sentence)
		at := fmt.Sprintf("%s p%g", name, 100*q)
		d.list(t, at, result)
		d.because(t, at, result, fmt.Sprintf("%s, was %s", inMS(now), inMS(before.Latencies[q])))
	}
}

// inMS formats a latency.
func inMS(f threshold.Figure) string {
	if !f.Known {
		return "unknown"
	}
	return threshold.Threshold{Metric: threshold.Quantile}.Brief(f)
}

// compareRates compares the rates of two searches.
func (d *Draft) compareRates(t threshold.Threshold, base *threshold.Baseline, earlier threshold.Earlier) {
	const phase = "sustained"
	now, known := d.figures[threshold.Sustained]
	var held []string
	for _, t := range d.thresholds() {
		held = append(held, t.Text)
	}
	bounds := bounds(held)
	switch {
	case !known:
		d.unknown(t, phase, "no confirmed rate to compare")
		return
	case !earlier.Sustained.Known:
		d.unknown(t, phase, base.Name+" has no confirmed rate to compare with (use a run that has one)")
		return
	case !slices.Equal(bounds, earlier.Bounds):
		d.unknown(t, phase, base.Otherwise(fmt.Sprintf("its search had the thresholds %q, this one %q", earlier.Bounds, bounds)))
		return
	}
	plan := planOf(d.Result.Phases[len(d.Result.Phases)-1], nil)
	plan.Rate = earlier.Searched.Rate // the rate itself is compared below
	if differs := plan.Differs(earlier.Searched); differs != "" {
		d.unknown(t, phase, base.Otherwise(differs))
		return
	}
	now.Known = true
	result := t.Hold(threshold.Against(now, earlier.Sustained, false))
	result.Sentence = fmt.Sprintf("%s/s, was %s/s in %s; %s", printable.Figure(now.Value), printable.Figure(earlier.Sustained.Value), base.Name, result.Sentence)
	d.enter(t, phase, result)
}
