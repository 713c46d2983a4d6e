package loadtest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// conclude sets the verdict of the run from those of its scenarios. A scenario
// that lacks an input counts only if the user named it.
func conclude(r *load.Results, byName bool) {
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

// concludeComparison fails a run whose second target is worse and makes it
// inconclusive if the blocks are.
func concludeComparison(r *load.Results) {
	if len(r.Comparison.Figures) == 0 && r.Verdict == reports.Passed {
		r.Verdict, r.Reasons = reports.Inconclusive, append(r.Reasons, "nothing could be compared")
	}
	var compared []string
	for _, f := range r.Comparison.Figures {
		if f.Verdict == load.Worse {
			compared = append(compared, fmt.Sprintf("%s is worse at B (%s): %.3g %s, A has %.3g", f.Name, r.Comparison.B.BaseURL, *f.B, f.Unit, *f.A))
			if r.Verdict == reports.Passed {
				r.Verdict = reports.Failed
			}
		}
	}
	for _, f := range r.Comparison.Figures {
		if f.Verdict == load.EffectNotKnown {
			compared = append(compared, fmt.Sprintf("%s could not be compared: %s", f.Name, f.Why))
			if r.Verdict == reports.Passed {
				r.Verdict = reports.Inconclusive
			}
		}
	}
	r.Reasons = append(compared, r.Reasons...) // the comparison comes first
}

// unheld makes a run inconclusive if a threshold was never evaluated, which
// would look as if it were met.
func unheld(r *load.Results, thresholds []threshold.Threshold) {
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

// traffic sums up the traffic of all scenarios.
func traffic(parts []scenario.Outcome) load.Traffic {
	t := load.Traffic{Statuses: map[string]int64{}}
	for _, part := range parts {
		t.Planned += part.Traffic.Planned
		t.Sent += part.Traffic.Sent
		t.Late += part.Traffic.Late
		t.Dropped += part.Traffic.Dropped
		t.BytesReceived += part.Traffic.BytesReceived
		for status, n := range part.Traffic.Statuses {
			t.Statuses[status] += n
		}
	}
	return t
}

func calibration(c measure.Calibration) load.Calibration {
	described := load.Calibration{
		CeilingPerSecond: c.Ceiling, LagP99MS: float64(c.Lag.Value.Microseconds()) / 1000,
		CPUPerRequestUS: float64(c.CPU.Nanoseconds()) / 1000, Cores: runtime.NumCPU(),
	}
	described.Note = fmt.Sprintf("measured with answers of %d bytes from a null server on this machine", c.Bytes)
	if c.Shared {
		described.Note += ", in the generator's own process (its CPU time is included, which lowers the ceiling)"
	}
	return described
}

// shardOf converts to a shard that counts from 1.
func shardOf(s measure.Shard) *load.Shard {
	if s.Of <= 1 {
		return nil
	}
	return &load.Shard{Index: s.Index + 1, Of: s.Of}
}
