package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
)

// Difference compares the figures of two load runs, as a run with a baseline does: the
// latencies of phases with the same plan, and the rates that searches confirmed. It
// compares the changes with the thresholds, which CheckDifference accepts. The name is
// that of the old file, for messages.
func Difference(name string, before, after load.Results, thresholds []threshold.Threshold) ([]diff.Figure, []diff.Threshold) {
	c := comparison{base: Baseline(name, before), thresholds: thresholds}
	current := Baseline("the new run", after)
	for _, s := range after.Scenarios {
		if s.Limiter != nil {
			continue // its requests are meant to be refused
		}
		now, unfit := current.Of(s.Name)
		earlier, unfitBefore := c.base.Of(s.Name)
		switch {
		case unfitBefore != "":
			c.unknown(s.Name, "", "figures", "", unfitBefore)
		case unfit != "":
			c.unknown(s.Name, "", "figures", "", unfit)
		case s.Sustained != nil:
			c.rates(s.Name, now, earlier)
		default:
			c.phases(s, now, earlier)
		}
	}
	c.unused()
	return c.figures, c.held
}

// CheckDifference returns an error for a threshold that is not on a change.
func CheckDifference(thresholds []threshold.Threshold) error {
	for _, t := range thresholds {
		if t.Metric != threshold.Worse || t.Baseline != "" {
			return fmt.Errorf("--threshold %q: a comparison of two runs has changes only (use worse<5%%)", t.Text)
		}
	}
	return nil
}

// comparison collects what Difference compares.
type comparison struct {
	base       *threshold.Baseline
	thresholds []threshold.Threshold
	figures    []diff.Figure
	held       []diff.Threshold
}

func (c *comparison) phases(s load.Scenario, now, earlier threshold.Earlier) {
	for _, p := range s.Phases {
		phase, measured := now.Phases[p.Name]
		before, there := earlier.Phases[p.Name]
		switch {
		case p.Warmup || !measured:
			continue
		case !there:
			c.unknown(s.Name, p.Name, "response times", "ms", c.base.Otherwise("it has no phase "+p.Name+" with accepted requests"))
			continue
		}
		if differs := phase.Plan.Differs(before.Plan); differs != "" {
			c.unknown(s.Name, p.Name, "response times", "ms", c.base.Otherwise(differs))
			continue
		}
		for _, q := range baselineQuantiles {
			scale := threshold.Threshold{Metric: threshold.Quantile, P: q}
			c.add(s.Name, p.Name, fmt.Sprintf("response p%g", 100*q), scale, phase.Latencies[q], before.Latencies[q], true)
		}
	}
}

func (c *comparison) rates(scenario string, now, earlier threshold.Earlier) {
	const phase, name = "sustained", "sustained rate"
	switch {
	case !now.Sustained.Known || !earlier.Sustained.Known:
		c.unknown(scenario, phase, name, "/s", "a run has no confirmed rate")
	case !slices.Equal(now.Bounds, earlier.Bounds):
		c.unknown(scenario, phase, name, "/s", c.base.Otherwise(fmt.Sprintf("its search had the thresholds %q, this one %q", earlier.Bounds, now.Bounds)))
	default:
		c.add(scenario, phase, name, threshold.Threshold{Metric: threshold.Sustained}, now.Sustained, earlier.Sustained, false)
	}
}

// add compares a figure that both runs have. higher means that higher is worse. scale
// has the unit of the figure.
func (c *comparison) add(scenario, phase, name string, scale threshold.Threshold, now, before threshold.Figure, higher bool) {
	change := threshold.Against(now, before, higher)
	f := diff.Figure{Scenario: scenario, Phase: phase, Name: name, Unit: scale.Unit(), Old: shown(scale, before), New: shown(scale, now), Open: change.Open}
	f.Verdict = effect(change)
	switch {
	case f.Verdict == load.EffectNotKnown:
		f.Why = "a run has no such figure"
	case f.Verdict == load.NoDifference && higher && (now.Open || before.Open):
		f.Verdict, f.Why = load.EffectNotKnown, "too few requests got a response in time for an upper bound"
	default:
		f.Worse = shown(threshold.Threshold{Metric: threshold.Worse}, change)
	}
	c.figures = append(c.figures, f)
	for _, t := range c.of(scenario) {
		t.P = scale.P
		result := t.Hold(change)
		c.held = append(c.held, diff.Threshold{Scenario: scenario, Phase: phase + " " + name, Text: t.Text, Outcome: load.Outcome(result.Verdict), Why: result.Sentence})
	}
}

// unknown adds a figure that cannot be compared.
func (c *comparison) unknown(scenario, phase, name, unit, why string) {
	c.figures = append(c.figures, diff.Figure{Scenario: scenario, Phase: phase, Name: name, Unit: unit, Verdict: load.EffectNotKnown, Why: why})
	for _, t := range c.of(scenario) {
		c.held = append(c.held, diff.Threshold{Scenario: scenario, Phase: phase, Text: t.Text, Outcome: load.Inconclusive, Why: why})
	}
}

// unused adds the thresholds that no figure was compared with.
func (c *comparison) unused() {
	for _, t := range c.thresholds {
		if !slices.ContainsFunc(c.held, func(h diff.Threshold) bool { return h.Text == t.Text }) {
			scenario := cmp.Or(t.Scenario, "all scenarios")
			c.held = append(c.held, diff.Threshold{Scenario: scenario, Text: t.Text, Outcome: load.Inconclusive, Why: "the new run has no figure to compare"})
		}
	}
}

// of returns the thresholds for the scenario.
func (c *comparison) of(scenario string) []threshold.Threshold {
	return slices.DeleteFunc(slices.Clone(c.thresholds), func(t threshold.Threshold) bool { return !t.For(scenario) })
}

// effect returns what the interval of a change shows.
func effect(change threshold.Figure) load.Effect {
	switch {
	case !change.Known:
		return load.EffectNotKnown
	case change.Low > 0:
		return load.Worse
	case change.High < 0 && !change.Open:
		return load.Better
	default:
		return load.NoDifference
	}
}

// shown returns a figure in the unit of the threshold; nil if it is unknown.
func shown(scale threshold.Threshold, f threshold.Figure) *load.Estimate {
	if !f.Known {
		return nil
	}
	f = scale.Shown(f)
	return &load.Estimate{Value: f.Value, Low: f.Low, High: max(f.High, f.Value), Open: f.Open}
}
