package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// thresholds are those that hold for the scenario: the run's, and its own on
// figures of which the run says nothing.
func (r *runner) thresholds() []threshold.Threshold {
	own, _ := r.scenario.thresholds() // Check has read them
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

// misses says which thresholds a phase of a search does not meet. A step is
// short: where the sample cannot decide, its figure does. A confirmation has to
// be sure: unsure are the thresholds that its figures meet and its sample does
// not settle.
func (r *runner) misses(rec measure.Recording, sure bool) (missed []string, unsure []threshold.Result) {
	if rec.Count(measure.Accepted) == 0 {
		return []string{"nothing was accepted"}, nil
	}
	for _, t := range r.thresholds() {
		if !t.OfPhases() {
			continue
		}
		switch held := t.Hold(t.Of(rec)); {
		case held.Verdict == threshold.Missed, held.Verdict == threshold.CouldNotTell && !held.PointMeets:
			missed = append(missed, t.Text+": "+held.Sentence)
		case held.Verdict == threshold.CouldNotTell && sure:
			unsure = append(unsure, held)
		}
	}
	if said := fallsBehind(rec); said != "" {
		missed = append(missed, said)
	}
	return append(missed, r.refused(rec)...), unsure
}

// fallsBehind says of a rate that the target does not keep up with how much it
// serves; it is empty of one that it keeps up with.
func fallsBehind(rec measure.Recording) string {
	served, behind := rec.Served()
	if !behind {
		return ""
	}
	return fmt.Sprintf("the target falls behind: what is due later waits longer and longer, as if %.4g of %.4g requests a second were served", served, rec.Rate)
}

// mostRefused is the share of 429 answers at which a rate still counts as held,
// unless a threshold of the scenario says another.
const mostRefused = 0.01

// refused says when a rate is held by refusing much of it.
func (r *runner) refused(rec measure.Recording) []string {
	limited := rec.Count(measure.Limited)
	own := slices.ContainsFunc(r.thresholds(), func(t threshold.Threshold) bool { return t.Metric == threshold.Limited })
	if own || float64(limited) <= mostRefused*float64(rec.Sent) {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d requests were refused with 429", limited, rec.Sent)}
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
		r.list(t, "", result) // what came of the search has its own reason
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

// phases are what thresholds are held against one by one. The blocks of a
// comparison are short, and are the same phase all of them.
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

// allBlocks is what the blocks of one target in a comparison are called together.
const allBlocks = "all blocks"

// elsewhere reports whether requests with the label belong to other phases, and
// none to this one: each page size of a scenario has its own.
func elsewhere(c counted, all []counted, label string) bool {
	asks := func(c counted) bool { return len(c.recording.Label(label).Count) > 0 }
	return !asks(c) && slices.ContainsFunc(all, asks)
}

// distrust takes a miss back where the generator, or the end of the phase, may
// have made it.
func distrust(c counted, result threshold.Result) threshold.Result {
	if c.cut && result.Verdict == threshold.Missed && result.Threshold.Metric == threshold.Errors {
		result.Verdict = threshold.CouldNotTell
		result.Sentence += ", but the phase did not run to its end, and what had no answer then decides nothing"
	}
	if c.limited != "" && result.Verdict == threshold.Missed && result.Threshold.Metric != threshold.Errors {
		result.Verdict = threshold.CouldNotTell
		result.Sentence += ", but the generator shaped that figure"
	}
	return result
}

// list puts what became of a threshold into the results.
func (r *runner) list(t threshold.Threshold, phase string, result threshold.Result) {
	entry := load.Threshold{Text: t.Text, Phase: phase, Outcome: load.Outcome(result.Verdict), Why: result.Sentence}
	if f := t.Shown(result.Figure); f.Known {
		entry.Unit = t.Unit()
		entry.Measured = &load.Estimate{Value: f.Value, Low: f.Low, High: max(f.High, f.Value)}
	}
	r.out.Thresholds = append(r.out.Thresholds, entry)
}

// enter lists what became of a threshold, and gives it as a reason unless it is met.
func (r *runner) enter(t threshold.Threshold, phase string, result threshold.Result) {
	r.list(t, phase, result)
	brief := ""
	if f := result.Figure; f.Known {
		brief = t.Brief(f)
	}
	r.because(t, phase, result, brief)
}

// because gives what became of a threshold as a reason unless it is met.
func (r *runner) because(t threshold.Threshold, phase string, result threshold.Result, brief string) {
	where := ""
	if phase != "" && (len(r.counted) != 1 || phase != r.counted[0].recording.Name) {
		where = phase
	}
	switch result.Verdict {
	case threshold.Missed:
		r.fails = append(r.fails, reason{phase: where, cause: t.Text, brief: brief, text: fmt.Sprintf("%s is missed: %s", t.Text, result.Sentence)})
	case threshold.CouldNotTell:
		r.voids = append(r.voids, reason{phase: where, cause: t.Text, brief: brief, text: fmt.Sprintf("%s could not be told: %s", t.Text, result.Sentence)})
	}
}
