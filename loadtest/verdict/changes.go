package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/loadtest/measure"

	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
)

// change is a figure of two runs.
type change struct {
	phase, name string
	of          measure.Threshold // has the unit and the quantile of the figure
	now, before measure.Figure
	why         string // it cannot be compared; empty if it can
}

// worse returns how much worse the figure is now, as a share. More is worse of latencies,
// less of rates.
func (c change) worse() measure.Figure {
	return against(c.now, c.before, c.of.Metric == measure.Quantile)
}

// hold compares the change with a threshold.
func (c change) hold(t measure.Threshold) measure.ThresholdResult {
	if c.why != "" {
		return t.Unknown(c.why)
	}
	t.P = c.of.P // an open end of the interval closes with enough requests beyond the quantile
	result := t.Hold(c.worse())
	if result.Need > 0 {
		result.Sentence += " in both runs"
	}
	return result
}

// latencyOf returns a quantile of the response times in the results of a run.
func latencyOf(p load.Phase, quantile float64) measure.Figure {
	accepted, failed := p.Response.Accepted, p.Response.Failed
	if failed != nil && failed.MaxMS > accepted.MaxMS {
		return measure.Figure{} // of an earlier release, whose percentiles leave out failed requests
	}
	for _, q := range accepted.Quantiles {
		if q.P == quantile {
			return measure.Figure{Value: q.ValueMS / 1000, Low: q.LowMS / 1000, High: q.HighMS / 1000, Open: q.Open, Known: true}
		}
	}
	return measure.Figure{}
}

// rateOfSearch returns the rate that a search confirmed.
func rateOfSearch(s *load.Sustained) measure.Figure {
	if s == nil {
		return measure.Figure{}
	}
	return measure.Figure{Value: s.RatePerSecond, Low: s.LowPerSecond, High: max(s.HighPerSecond, s.RatePerSecond), Known: s.Confirmed}
}

// boundsOf returns the sorted thresholds that a search had to meet.
func boundsOf(s load.Scenario) []string {
	var bounds []string
	for _, held := range s.Thresholds {
		if t, err := measure.ParseThreshold(held.Text); err == nil && t.OfPhases() {
			bounds = append(bounds, t.Text)
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}

// changes compares a scenario with the baseline: the latencies of phases with the same plan,
// or the rates that searches confirmed.
func changes(base *Baseline, now load.Scenario) []change {
	before, unfit := base.scenario(now.Name)
	switch {
	case unfit != "":
		return []change{{name: "figures", why: unfit}}
	case now.Sustained != nil:
		return []change{rateChange(base, now, before)}
	}
	var all []change
	for _, p := range now.Phases {
		if p.Response.Accepted == nil {
			continue
		}
		why, earlier := "it has no phase "+p.Name+" with accepted requests", load.Phase{}
		for _, earlier = range before.Phases {
			if earlier.Name == p.Name && earlier.Response.Accepted != nil {
				why = planOf(p, now).differs(planOf(earlier, before))
				break
			}
		}
		if why != "" {
			all = append(all, change{phase: p.Name, name: "response times", of: measure.Threshold{Metric: measure.Quantile}, why: base.otherwise(why)})
			continue
		}
		for _, q := range []float64{0.5, 0.99} {
			all = append(all, change{phase: p.Name, name: fmt.Sprintf("response p%g", 100*q), of: measure.Threshold{Metric: measure.Quantile, P: q},
				now: latencyOf(p, q), before: latencyOf(earlier, q)})
		}
	}
	return all
}

// rateChange compares the rates of two searches.
func rateChange(base *Baseline, now, before load.Scenario) change {
	c := change{phase: "sustained", name: "sustained rate", of: measure.Threshold{Metric: measure.Sustained},
		now: rateOfSearch(now.Sustained), before: rateOfSearch(before.Sustained)}
	last, bounds := len(now.Phases)-1, boundsOf(before)
	switch {
	case !c.now.Known:
		c.why = "no confirmed rate to compare"
	case !c.before.Known:
		c.why = base.Name + " has no confirmed rate to compare with (use a run that has one)"
	case !slices.Equal(boundsOf(now), bounds):
		c.why = base.otherwise(fmt.Sprintf("its search had the thresholds %q, this one %q", bounds, boundsOf(now)))
	case last >= 0 && len(before.Phases) > 0:
		plan, then := planOf(now.Phases[last], now), planOf(before.Phases[len(before.Phases)-1], before)
		plan.rate, plan.mean, plan.peak = then.rate, then.mean, then.peak // the rate itself is compared
		if differs := plan.differs(then); differs != "" {
			c.why = base.otherwise(differs)
		}
	}
	return c
}

// against returns how much worse a figure is than the baseline's, as a share:
// 0.1 is a tenth worse. higher means that higher is worse, as for latencies.
// The interval covers every combination of the two intervals. The result is
// unknown if either figure is unknown or the baseline's is 0.
func against(now, before measure.Figure, higher bool) measure.Figure {
	if !now.Known || !before.Known || now.Value < 0 || before.Value <= 0 {
		return measure.Figure{}
	}
	f := measure.Figure{AtLeast: now.AtLeast, Samples: now.Samples, Known: true}
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
func (d *Draft) holdWorse(t measure.Threshold) {
	if d.InBlocks && t.Baseline == "" {
		d.holdCompared(t)
		return
	}
	base := d.terms.Baselines[t.Baseline]
	all := changes(base, d.Result)
	if len(all) == 0 {
		d.enter("", t.Hold(measure.Figure{}))
	}
	for _, c := range all {
		if c.why != "" {
			d.enter(c.phase, c.hold(t))
			continue
		}
		var p phase
		if c.of.Metric == measure.Sustained {
			c.now = d.figures[measure.Sustained] // which may have no upper end
		} else {
			p = d.phases[slices.IndexFunc(d.phases, func(p phase) bool { return p.Name == c.phase })]
			c.now = d.latency(p, c.of.P)
			c.phase = fmt.Sprintf("%s p%g", c.phase, 100*c.of.P)
		}
		result := distrust(p, c.hold(t))
		result.Brief = fmt.Sprintf("%s, was %s", c.of.Brief(c.now), c.of.Brief(c.before))
		result.Sentence = fmt.Sprintf("%s in %s; %s", result.Brief, base.Name, result.Sentence)
		d.enter(c.phase, result)
	}
}

// latency returns a quantile of the response times of a phase. It may be as low as that of
// the service times, unless the generator's lag is the target's.
func (d *Draft) latency(p phase, quantile float64) measure.Figure {
	e := p.Response[measure.Accepted].Quantile(quantile)
	if p.Late() > 0 && !d.tolerates(p.Recording) {
		e.Low = min(e.Low, p.Service[measure.Accepted].Quantile(quantile).Low)
	}
	return measure.OfQuantile(e)
}

// Difference compares the figures of two load runs, as a run with a baseline does. It
// compares the changes with the thresholds, which CheckDifference accepts. The name is
// that of the old file, for messages.
func Difference(name string, before, after load.Results, thresholds []measure.Threshold) (figures []diff.Figure, held []diff.Threshold) {
	base, current := &Baseline{name, before}, &Baseline{"the new run", after}
	for _, s := range after.Scenarios {
		if s.Limiter != nil {
			continue // its requests are meant to be refused
		}
		all := changes(base, s)
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
				phase := c.phase
				if c.why == "" {
					phase += " " + c.name
				}
				result := c.hold(t)
				held = append(held, diff.Threshold{Scenario: s.Name, Phase: phase, Text: t.Text, Outcome: load.Outcome(result.Verdict), Why: result.Sentence})
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
	worse := c.worse()
	f.Old, f.New, f.Open = shown(c.of, c.before), shown(c.of, c.now), worse.Open
	f.Worse = shown(measure.Threshold{Metric: measure.Worse}, worse)
	switch {
	case !worse.Known:
		f.Why = "a run has no such figure"
	case worse.Low > 0:
		f.Verdict = load.Worse
	case worse.High < 0 && !worse.Open:
		f.Verdict = load.Better
	case c.of.Metric == measure.Quantile && (c.now.Open || c.before.Open):
		f.Why, f.Worse = "too few requests got a response in time for an upper bound", nil
	default:
		f.Verdict = load.NoDifference
	}
	return f
}

// CheckDifference returns an error for a threshold that is not on a change.
func CheckDifference(thresholds []measure.Threshold) error {
	for _, t := range thresholds {
		if t.Metric != measure.Worse || t.Baseline != "" {
			return fmt.Errorf("--threshold %q: a comparison of two runs has changes only (use worse<5%%)", t.Text)
		}
	}
	return nil
}

// shown returns a figure in the unit of the threshold; nil if it is unknown.
func shown(of measure.Threshold, f measure.Figure) *load.Estimate {
	if !f.Known {
		return nil
	}
	f = of.Shown(f)
	return &load.Estimate{Value: f.Value, Low: f.Low, High: max(f.High, f.Value), Open: f.Open}
}
