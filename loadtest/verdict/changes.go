package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
)

// baselineQuantiles are the quantiles compared with the baseline.
var baselineQuantiles = []float64{0.5, 0.99}

// change is a figure of two runs.
type change struct {
	phase       string
	name        string
	of          threshold.Threshold // has the unit and the quantile of the figure
	now, before threshold.Figure
	worse       threshold.Figure
	why         string // it cannot be compared; empty if it can
}

// side is a run of a scenario in a comparison.
type side struct {
	load.Scenario
	latency   func(p load.Phase, q float64) threshold.Figure
	sustained threshold.Figure // in requests per second, if one was confirmed
}

// sideOf returns what the results of a run have.
func sideOf(s load.Scenario) side {
	of := side{Scenario: s, latency: func(p load.Phase, quantile float64) threshold.Figure {
		accepted, failed := p.Response.Accepted, p.Response.Failed
		if failed != nil && failed.MaxMS > accepted.MaxMS {
			return threshold.Figure{} // of an earlier release, whose percentiles leave out failed requests
		}
		for _, q := range accepted.Quantiles {
			if q.P == quantile {
				return threshold.Figure{Value: q.ValueMS / 1000, Low: q.LowMS / 1000, High: q.HighMS / 1000, Open: q.Open, Known: true}
			}
		}
		return threshold.Figure{}
	}}
	if f := s.Sustained; f != nil && f.Confirmed {
		of.sustained = threshold.Figure{Value: f.RatePerSecond, Low: f.LowPerSecond, High: max(f.HighPerSecond, f.RatePerSecond), Known: true}
	}
	return of
}

// measured returns the phases with accepted requests.
func (s side) measured() []load.Phase {
	return slices.DeleteFunc(slices.Clone(s.Phases), func(p load.Phase) bool { return p.Warmup || p.Response.Accepted == nil })
}

// bounds returns the sorted thresholds that a search had to meet.
func (s side) bounds() []string {
	var bounds []string
	for _, held := range s.Thresholds {
		if t, err := threshold.Parse(held.Text); err == nil && t.OfPhases() {
			bounds = append(bounds, t.Text)
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}

// changes compares a scenario with the baseline: the latencies of phases with the same plan,
// or the rates that searches confirmed.
func changes(base *Baseline, now side) []change {
	s, unfit := base.scenario(now.Name)
	before := sideOf(s)
	switch {
	case unfit != "":
		return []change{{name: "figures", why: unfit}}
	case now.Sustained != nil:
		return []change{rateChange(base, now, before)}
	}
	var all []change
	for _, p := range now.measured() {
		earlier := before.measured()
		at := slices.IndexFunc(earlier, func(other load.Phase) bool { return other.Name == p.Name })
		why := "it has no phase " + p.Name + " with accepted requests"
		if at >= 0 {
			why = planOf(p, now.Scenario).differs(planOf(earlier[at], s))
		}
		if why != "" {
			all = append(all, change{phase: p.Name, name: "response times", of: threshold.Threshold{Metric: threshold.Quantile}, why: base.otherwise(why)})
			continue
		}
		for _, q := range baselineQuantiles {
			c := change{phase: p.Name, name: fmt.Sprintf("response p%g", 100*q), of: threshold.Threshold{Metric: threshold.Quantile, P: q},
				now: now.latency(p, q), before: before.latency(earlier[at], q)}
			c.worse = against(c.now, c.before, true)
			all = append(all, c)
		}
	}
	return all
}

// rateChange compares the rates of two searches.
func rateChange(base *Baseline, now, before side) change {
	c := change{phase: "sustained", name: "sustained rate", of: threshold.Threshold{Metric: threshold.Sustained}, now: now.sustained, before: before.sustained}
	switch {
	case !now.sustained.Known:
		c.why = "no confirmed rate to compare"
	case !before.sustained.Known:
		c.why = base.Name + " has no confirmed rate to compare with (use a run that has one)"
	case !slices.Equal(now.bounds(), before.bounds()):
		c.why = base.otherwise(fmt.Sprintf("its search had the thresholds %q, this one %q", before.bounds(), now.bounds()))
	default:
		c.worse = against(c.now, c.before, false)
	}
	phases, earlier := now.measured(), before.measured()
	if c.why != "" || len(phases) == 0 || len(earlier) == 0 {
		return c
	}
	plan, then := planOf(phases[len(phases)-1], now.Scenario), planOf(earlier[len(earlier)-1], before.Scenario)
	plan.rate, plan.mean, plan.peak = then.rate, then.mean, then.peak // the rate itself is compared
	if differs := plan.differs(then); differs != "" {
		c.why = base.otherwise(differs)
	}
	return c
}

// against returns how much worse a figure is than the baseline's, as a share:
// 0.1 is a tenth worse. higher means that higher is worse, as for latencies.
// The interval covers every combination of the two intervals. The result is
// unknown if either figure is unknown or the baseline's is 0.
func against(now, before threshold.Figure, higher bool) threshold.Figure {
	if !now.Known || !before.Known || now.Value < 0 || before.Value <= 0 {
		return threshold.Figure{}
	}
	f := threshold.Figure{AtLeast: now.AtLeast, Samples: now.Samples, Known: true}
	// The ratio of the two: it is at least 0, and may have no upper end.
	value, low, high := now.Value/before.Value, 0.0, math.Inf(1)
	if !before.Open && before.High > 0 {
		low = now.Low / before.High
	}
	if !now.Open && before.Low > 0 {
		high = now.High / before.Low
	}
	if higher {
		f.Value, f.Low, f.High, f.Open = value-1, low-1, high-1, math.IsInf(high, 1)
		if f.Open {
			f.High = f.Value
		}
		return f
	}
	f.Value, f.Low, f.High, f.Open = 1-value, 1-high, 1-low, false // nothing loses more than all of it
	if math.IsInf(high, 1) {
		f.Low = -1
	}
	return f
}

// holdWorse compares the figures with those of the other target, if there is one and the
// threshold names no file. Otherwise it compares them with the baseline's.
func (d *Draft) holdWorse(t threshold.Threshold) {
	if d.InBlocks && t.Baseline == "" {
		d.holdCompared(t)
		return
	}
	base, now := d.terms.Baselines[t.Baseline], sideOf(d.Result)
	now.sustained = d.figures[threshold.Sustained]
	phase := func(name string) int { return slices.IndexFunc(d.phases, func(p Phase) bool { return p.Name == name }) }
	now.latency = func(p load.Phase, q float64) threshold.Figure {
		return threshold.Latency(d.tolerant(d.phases[phase(p.Name)].Recording), q)
	}
	all := changes(base, now)
	if len(all) == 0 {
		d.enter("", t.Hold(threshold.Figure{}))
	}
	for _, c := range all {
		if c.why != "" {
			d.enter(c.phase, t.Unknown(c.why))
			continue
		}
		t.P = c.of.P // an open end of the interval closes with enough requests beyond the quantile
		at, result := c.phase, t.Hold(c.worse)
		if i := phase(c.phase); i >= 0 {
			at, result = fmt.Sprintf("%s p%g", c.phase, 100*c.of.P), distrust(d.phases[i], result)
		}
		if result.Need > 0 {
			result.Sentence += " in both runs"
		}
		result.Brief = fmt.Sprintf("%s, was %s", c.of.Brief(c.now), c.of.Brief(c.before))
		result.Sentence = fmt.Sprintf("%s in %s; %s", result.Brief, base.Name, result.Sentence)
		d.enter(at, result)
	}
}

// Difference compares the figures of two load runs, as a run with a baseline does. It
// compares the changes with the thresholds, which CheckDifference accepts. The name is
// that of the old file, for messages.
func Difference(name string, before, after load.Results, thresholds []threshold.Threshold) (figures []diff.Figure, held []diff.Threshold) {
	base, current := &Baseline{name, before}, &Baseline{"the new run", after}
	for _, s := range after.Scenarios {
		if s.Limiter != nil {
			continue // its requests are meant to be refused
		}
		all := changes(base, sideOf(s))
		_, unfit := current.scenario(s.Name)
		if _, unfitBefore := base.scenario(s.Name); unfit != "" && unfitBefore == "" {
			all = []change{{name: "figures", why: unfit}}
		}
		for _, c := range all {
			figures = append(figures, c.figure(s.Name))
			for _, t := range thresholds {
				if !t.For(s.Name) {
					continue
				}
				one := diff.Threshold{Scenario: s.Name, Phase: c.phase, Text: t.Text, Outcome: load.Inconclusive, Why: c.why}
				if c.why == "" {
					t.P = c.of.P
					result := t.Hold(c.worse)
					one.Phase, one.Outcome, one.Why = c.phase+" "+c.name, load.Outcome(result.Verdict), result.Sentence
				}
				held = append(held, one)
			}
		}
	}
	for _, t := range thresholds {
		if !slices.ContainsFunc(held, func(h diff.Threshold) bool { return h.Text == t.Text }) {
			held = append(held, diff.Threshold{Scenario: cmp.Or(t.Scenario, "all scenarios"), Text: t.Text, Outcome: load.Inconclusive, Why: "the new run has no figure to compare"})
		}
	}
	return figures, held
}

// figure returns the change for the report on two runs.
func (c change) figure(scenario string) diff.Figure {
	f := diff.Figure{Scenario: scenario, Phase: c.phase, Name: c.name, Unit: c.of.Unit(), Verdict: load.EffectNotKnown, Why: c.why}
	if c.why != "" {
		return f
	}
	f.Old, f.New, f.Open = shown(c.of, c.before), shown(c.of, c.now), c.worse.Open
	switch {
	case !c.worse.Known:
		f.Why = "a run has no such figure"
		return f
	case c.worse.Low > 0:
		f.Verdict = load.Worse
	case c.worse.High < 0 && !c.worse.Open:
		f.Verdict = load.Better
	case c.of.Metric == threshold.Quantile && (c.now.Open || c.before.Open):
		f.Why = "too few requests got a response in time for an upper bound"
		return f
	default:
		f.Verdict = load.NoDifference
	}
	f.Worse = shown(threshold.Threshold{Metric: threshold.Worse}, c.worse)
	return f
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

// shown returns a figure in the unit of the threshold; nil if it is unknown.
func shown(of threshold.Threshold, f threshold.Figure) *load.Estimate {
	if !f.Known {
		return nil
	}
	f = of.Shown(f)
	return &load.Estimate{Value: f.Value, Low: f.Low, High: max(f.High, f.Value), Open: f.Open}
}
