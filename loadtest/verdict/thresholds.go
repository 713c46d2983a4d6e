package verdict

import (
	"cmp"
	"fmt"
	"slices"

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

// holdAgainstThresholds evaluates every threshold. Those on a change come last, because
// searches are comparable if they had the same thresholds.
func (d *Draft) holdAgainstThresholds() {
	all := d.thresholds()
	slices.SortStableFunc(all, func(a, b threshold.Threshold) int {
		if worse := a.Metric == threshold.Worse; worse != (b.Metric == threshold.Worse) {
			return map[bool]int{true: 1, false: -1}[worse]
		}
		return 0
	})
	for _, t := range all {
		switch {
		case d.scenario.Kind == scenario.RateLimit && (t.OfPhases() || t.Metric == threshold.Worse):
			// Its requests are meant to be refused.
		case t.OfPhases():
			d.holdPhases(t)
		case t.Metric == threshold.Worse:
			d.holdWorse(t)
		default:
			if kind, _ := scenario.KindOf(t.Metric); kind == d.scenario.Kind || t.Scenario != "" {
				d.enter(t, "", t.Hold(d.figures[t.Metric]))
			}
		}
	}
}

// holdPhases evaluates a threshold in each phase, or in each phase at its rate.
func (d *Draft) holdPhases(t threshold.Threshold) {
	held, phases := 0, d.judgedPhases()
	for _, p := range phases {
		if t.Rate != 0 && t.Rate != p.Rate || t.Label != "" && elsewhere(p, phases, t.Label) {
			continue
		}
		held++
		d.enter(t, p.Name, distrust(p, t.Hold(t.Of(d.tolerant(p.Recording), d.terms.Calibration.Adds))))
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
