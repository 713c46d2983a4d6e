package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/reports/load"
)

// thresholds returns the thresholds of the scenario: the run's, and its own for
// figures that the run does not bound.
func (d *Draft) thresholds() []measure.Threshold {
	own, _ := d.scenario.OwnThresholds() // Check has already parsed them
	own = slices.DeleteFunc(own, func(t measure.Threshold) bool {
		t.Scenario = d.scenario.Name
		return slices.ContainsFunc(d.terms.Thresholds, func(given measure.Threshold) bool { return given.Replaces(t) })
	})
	var all []measure.Threshold
	for _, t := range slices.Concat(own, d.terms.Thresholds) {
		same := func(other measure.Threshold) bool { return other.Text == t.Text }
		if t.For(d.scenario.Name) && !slices.ContainsFunc(all, same) {
			all = append(all, t)
		}
	}
	return all
}

// holdAgainstThresholds evaluates every threshold. Those on a change come last, because
// searches are comparable if they had the same thresholds.
func (d *Draft) holdAgainstThresholds() {
	var onChanges []measure.Threshold
	for _, t := range d.thresholds() {
		kind, particular := scenario.KindOf(t.Metric)
		switch {
		case particular:
			if kind == d.scenario.Kind || t.Scenario != "" {
				d.enter("", t.Hold(d.figures[t.Metric]))
			}
		case d.scenario.Kind == scenario.RateLimit: // its requests are meant to be refused
		case t.OfPhases():
			d.holdPhases(t)
		default:
			onChanges = append(onChanges, t)
		}
	}
	for _, t := range onChanges {
		d.holdWorse(t)
	}
}

// holdPhases evaluates a threshold in each phase, or in each phase at its rate.
func (d *Draft) holdPhases(t measure.Threshold) {
	held, phases := 0, d.judgedPhases()
	for _, p := range phases {
		if t.Rate != 0 && t.Rate != p.Rate() || t.Label != "" && elsewhere(p, phases, t.Label) {
			continue
		}
		held++
		d.enter(p.Name, distrust(p, t.Hold(d.figure(t, p.Recording))))
	}
	switch {
	case held > 0:
	case d.scenario.Kind == scenario.Sustained && len(d.phases) == 0 && d.Uses.Searched > 0:
		d.list("", t.Unknown("no rate was confirmed; the short phases of the search do not count")) // the search has its own reason
	case t.Rate == 0:
		d.enter("", t.Hold(measure.Figure{}))
	case t.Scenario != "":
		d.enter("", t.Unknown(fmt.Sprintf("no phase ran at %v/s", t.Rate)))
	}
}

// figure returns the figure of a phase that the threshold bounds. A tolerated lag is the
// target's.
func (d *Draft) figure(t measure.Threshold, rec measure.Recording) measure.Figure {
	if d.tolerates(rec) {
		rec = rec.WithoutLag()
	}
	return t.Of(rec)
}

// judgedPhases returns the phases that thresholds are evaluated in. The blocks of a
// comparison are short and count as one phase.
func (d *Draft) judgedPhases() []phase {
	if !d.InBlocks || len(d.phases) == 0 {
		return d.phases
	}
	var all phase
	var blocks []measure.Recording
	for _, p := range d.phases {
		blocks = append(blocks, p.Recording)
		all.cut, all.otherLoad, all.near = all.cut || p.cut, cmp.Or(all.otherLoad, p.otherLoad), cmp.Or(all.near, p.near)
	}
	all.Recording = measure.InTurn(blocks...)
	all.Name = "all blocks"
	return []phase{all}
}

// elsewhere reports whether requests with the label belong to other phases
// only: each page size of a scenario has its own phase.
func elsewhere(p phase, all []phase, label string) bool {
	asks := func(p phase) bool { return len(p.Label(label)) > 0 }
	return !asks(p) && slices.ContainsFunc(all, asks)
}

// distrust makes a miss inconclusive if another load than the requested one, a generator
// at its limit, or an early end of the phase may have caused it.
func distrust(p phase, result measure.ThresholdResult) measure.ThresholdResult {
	doubt, errors := "", result.Threshold.Metric == measure.Errors
	switch {
	case result.Verdict != measure.Missed:
	case p.cut && (errors || result.Figure.AtLeast):
		doubt = ", but the phase was cut short, so unanswered requests do not count"
	case errors: // they are the target's, whatever the load
	case p.otherLoad != "":
		doubt = ", but under another load than requested"
	case p.near != "":
		doubt = ", but the generator was near its ceiling"
	}
	if doubt != "" {
		result.Verdict, result.Sentence = measure.Inconclusive, result.Sentence+doubt
	}
	return result
}

// list adds the result of a threshold to the results.
func (d *Draft) list(phase string, result measure.ThresholdResult) {
	t := result.Threshold
	entry := load.Threshold{Text: t.Text, Phase: phase, Outcome: load.Outcome(result.Verdict), Why: result.Sentence}
	if entry.Measured = shown(t, result.Figure); entry.Measured != nil {
		entry.Unit = t.Unit()
	}
	d.Result.Thresholds = append(d.Result.Thresholds, entry)
}

// enter lists the result of a threshold and gives it as a reason unless it is met.
func (d *Draft) enter(phase string, result measure.ThresholdResult) {
	d.list(phase, result)
	text := result.Threshold.Text
	why := reason{cause: text, brief: result.Brief, text: fmt.Sprintf("%s %s: %s", text, result.Verdict, result.Sentence)}
	if len(d.phases) != 1 || phase != d.phases[0].Name {
		why.phase = phase
	}
	switch result.Verdict {
	case measure.Missed:
		d.fails = append(d.fails, why)
	case measure.Inconclusive:
		d.voids = append(d.voids, why)
	}
}
