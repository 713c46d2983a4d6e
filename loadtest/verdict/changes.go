package verdict

import (
	"cmp"
	"fmt"
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

// changes compares a scenario with the baseline: the latencies of phases with the same plan,
// or the rates that searches confirmed.
func changes(base *threshold.Baseline, scenario string, now threshold.Earlier) []change {
	before, unfit := base.Of(scenario)
	switch {
	case unfit != "":
		return []change{{name: "figures", why: unfit}}
	case now.Search:
		return []change{rateChange(base, now, before)}
	}
	var all []change
	for _, p := range now.Phases {
		why := ""
		at := slices.IndexFunc(before.Phases, func(other threshold.EarlierPhase) bool { return other.Name == p.Name })
		if at < 0 {
			why = "it has no phase " + p.Name + " with accepted requests"
		} else {
			why = p.Plan.Differs(before.Phases[at].Plan)
		}
		if why != "" {
			all = append(all, change{phase: p.Name, name: "response times", of: threshold.Threshold{Metric: threshold.Quantile}, why: base.Otherwise(why)})
			continue
		}
		for _, q := range baselineQuantiles {
			c := change{phase: p.Name, name: fmt.Sprintf("response p%g", 100*q), of: threshold.Threshold{Metric: threshold.Quantile, P: q},
				now: p.Latencies[q], before: before.Phases[at].Latencies[q]}
			c.worse = threshold.Against(c.now, c.before, true)
			all = append(all, c)
		}
	}
	return all
}

// rateChange compares the rates of two searches.
func rateChange(base *threshold.Baseline, now, before threshold.Earlier) change {
	c := change{phase: "sustained", name: "sustained rate", of: threshold.Threshold{Metric: threshold.Sustained}, now: now.Sustained, before: before.Sustained}
	switch {
	case !now.Sustained.Known:
		c.why = "no confirmed rate to compare"
	case !before.Sustained.Known:
		c.why = base.Name + " has no confirmed rate to compare with (use a run that has one)"
	case !slices.Equal(now.Bounds, before.Bounds):
		c.why = base.Otherwise(fmt.Sprintf("its search had the thresholds %q, this one %q", before.Bounds, now.Bounds))
	case len(now.Phases) > 0 && len(before.Phases) > 0:
		plan, earlier := now.Phases[len(now.Phases)-1].Plan, before.Phases[len(before.Phases)-1].Plan
		plan.Rate, plan.Mean, plan.Peak = earlier.Rate, earlier.Mean, earlier.Peak // the rate itself is compared
		if differs := plan.Differs(earlier); differs != "" {
			c.why = base.Otherwise(differs)
		}
	}
	if c.why == "" {
		c.worse = threshold.Against(c.now, c.before, false)
	}
	return c
}

// holdWorse compares the figures with those of the other target, if there is one and the
// threshold names no file. Otherwise it compares them with the baseline's.
func (d *Draft) holdWorse(t threshold.Threshold) {
	if d.InBlocks && t.Baseline == "" {
		d.holdCompared(t)
		return
	}
	base := d.terms.Baselines[t.Baseline]
	now := earlier(d.Result)
	now.Search, now.Sustained, now.Bounds = d.Result.Sustained != nil, d.figures[threshold.Sustained], bounds(d.thresholds())
	for i, p := range d.phases {
		for _, q := range baselineQuantiles {
			now.Phases[i].Latencies[q] = threshold.Latency(d.tolerant(p.Recording), q, d.terms.Calibration.Adds)
		}
	}
	all := changes(base, d.scenario.Name, now)
	if len(all) == 0 {
		d.enter(t, "", t.Hold(threshold.Figure{}))
	}
	for _, c := range all {
		at, result := c.phase, threshold.Result{Threshold: t, Verdict: threshold.Inconclusive, Sentence: c.why}
		if c.why != "" {
			d.enter(t, at, result)
			continue
		}
		t.P = c.of.P // an open end of the interval closes with enough requests beyond the quantile
		result = t.Hold(c.worse)
		for _, p := range d.phases {
			if p.Name == c.phase {
				result = distrust(p, result)
				at = fmt.Sprintf("%s p%g", p.Name, 100*c.of.P)
			}
		}
		if result.Need > 0 {
			result.Sentence += " in both runs"
		}
		brief := fmt.Sprintf("%s, was %s", known(c.of, c.now), known(c.of, c.before))
		result.Sentence = fmt.Sprintf("%s in %s; %s", brief, base.Name, result.Sentence)
		d.list(t, at, result)
		d.because(t, at, result, brief)
	}
}

// known formats a figure.
func known(of threshold.Threshold, f threshold.Figure) string {
	if !f.Known {
		return "unknown"
	}
	return of.Brief(f)
}

// Difference compares the figures of two load runs, as a run with a baseline does. It
// compares the changes with the thresholds, which CheckDifference accepts. The name is
// that of the old file, for messages.
func Difference(name string, before, after load.Results, thresholds []threshold.Threshold) (figures []diff.Figure, held []diff.Threshold) {
	base, current := Baseline(name, before), Baseline("the new run", after)
	for _, s := range after.Scenarios {
		if s.Limiter != nil {
			continue // its requests are meant to be refused
		}
		now, unfit := current.Of(s.Name)
		all := changes(base, s.Name, now)
		if _, unfitBefore := base.Of(s.Name); unfit != "" && unfitBefore == "" {
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
