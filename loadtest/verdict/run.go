package verdict

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// ConcludeRun sets the verdict of the run from those of its scenarios. A scenario
// that lacks an input counts only if the user named it.
func ConcludeRun(r *load.Results, byName bool) {
	ran, fails, voids := 0, []string{}, []string{}
	for _, s := range r.Scenarios {
		if len(s.Missing) > 0 && !byName {
			continue
		}
		ran++
		text := s.Name + ": " + strings.Join(s.Reasons, "; ")
		switch s.Verdict {
		case reports.Failed:
			fails = append(fails, text)
		case reports.Inconclusive:
			voids = append(voids, text)
		}
	}
	switch {
	case r.Run.Interrupted:
		r.Verdict = reports.Inconclusive
		voids = append(voids, "the run was interrupted")
	case len(fails) > 0:
		r.Verdict = reports.Failed
	case len(voids) > 0 || ran == 0:
		r.Verdict = reports.Inconclusive
	default:
		r.Verdict = reports.Passed
	}
	if ran == 0 {
		voids = append(voids, "no scenario could run")
	}
	r.Reasons = append(fails, voids...)
}

// ConcludeComparison fails a run whose second target is worse and makes it
// inconclusive if the blocks are.
func ConcludeComparison(r *load.Results) {
	if len(r.Comparison.Figures) == 0 && r.Verdict == reports.Passed {
		r.Verdict, r.Reasons = reports.Inconclusive, append(r.Reasons, "nothing could be compared")
	}
	var worse, unknown []string
	for _, f := range r.Comparison.Figures {
		switch {
		case tolerated(r.Scenarios, f):
		case f.Verdict == load.Worse:
			worse = append(worse, fmt.Sprintf("%s is worse at B (%s): %s %s, A has %s", f.Name, r.Comparison.B.BaseURL, load.AtLeast(f.BOpen, *f.B), f.Unit, load.AtLeast(f.AOpen, *f.A)))
		case f.Verdict == load.EffectNotKnown && f.P == 0: // a figure with a p has been compared: the reasons of its scenario say why
			unknown = append(unknown, fmt.Sprintf("%s could not be compared: %s", f.Name, f.Why))
		}
	}
	if r.Verdict == reports.Passed && len(worse) > 0 {
		r.Verdict = reports.Failed
	}
	if r.Verdict == reports.Passed && len(unknown) > 0 {
		r.Verdict = reports.Inconclusive
	}
	r.Reasons = slices.Concat(worse, unknown, r.Reasons) // the comparison comes first
}

// tolerated reports whether a threshold of the user's bounds how much worse the figure may
// be. Then the threshold decides, not whether there is a difference at all.
func tolerated(scenarios []load.Scenario, f load.ComparedFigure) bool {
	return slices.ContainsFunc(scenarios, func(s load.Scenario) bool {
		return slices.ContainsFunc(s.Thresholds, func(one load.Threshold) bool { return one.Phase == f.Name })
	})
}

// RequireEvaluated makes a run inconclusive if a threshold was never evaluated, which
// would look as if it were met.
func RequireEvaluated(r *load.Results, thresholds []measure.Threshold) {
	for _, t := range thresholds {
		held := slices.ContainsFunc(r.Scenarios, func(s load.Scenario) bool {
			return slices.ContainsFunc(s.Thresholds, func(one load.Threshold) bool { return one.Text == t.Text })
		})
		if held {
			continue
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf("the threshold %s was not evaluated: no phase or scenario has that figure", t.Text))
		if r.Verdict == reports.Passed {
			r.Verdict = reports.Inconclusive
		}
	}
}

// Traffic sums up the traffic of all scenarios.
func Traffic(parts []Outcome) load.Traffic {
	t := load.Traffic{Statuses: map[string]int64{}}
	for _, part := range parts {
		t = sum(t, part.Traffic)
	}
	return t
}
