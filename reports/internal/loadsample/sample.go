// Package loadsample makes load results for tests of the model and of its views:
// realistic, hostile, minimal and empty ones. Only tests import it.
//
// It imports the models and nothing else of this module.
package loadsample

import (
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

var started = time.Date(2026, 3, 1, 10, 20, 30, 0, time.UTC)

// Empty returns a run without a request.
func Empty() load.Results {
	return load.Results{
		Version: load.ModelVersion,
		Tool:    reports.Tool{Name: "outreach-conformance"},
		Target:  reports.Target{Kind: "url"},
		Run:     load.Run{ID: "0", Started: started},
		Verdict: reports.Inconclusive,
		Reasons: []string{"the target cannot be reached"},
	}
}

// Passed returns the smallest run that passes.
func Passed() load.Results {
	r := Empty()
	r.Target = reports.Target{Name: "reference server", Kind: "embedded", BaseURL: "http://127.0.0.1:8025"}
	r.Verdict, r.Reasons = reports.Passed, nil
	phase := simulate("at 50/s", 50, 5, func(int, int) float64 { return 3 })
	r.Scenarios = []load.Scenario{{
		Name: "list-throughput", About: "Each list operation at a fixed rate.", Verdict: reports.Passed,
		Started: started, Seconds: 5, Phases: []load.Phase{phase},
		Thresholds: []load.Threshold{{
			Text: "p99<250ms", Outcome: load.Met, Measured: &load.Estimate{Value: 3, Low: 3, High: 3}, Unit: "ms",
		}},
	}}
	r.Run.Seconds = 5.1
	r.Traffic = total(r.Scenarios)
	return r
}

// Full returns a run of many scenarios with every part of the model.
func Full() load.Results {
	r := load.Results{
		Version: load.ModelVersion,
		Tool:    reports.Tool{Name: "outreach-conformance", Version: "v1.4.0", Go: "go1.26.8", Commit: "0123abc"},
		Target:  reports.Target{Name: "Example Outreach", Version: "2.8.1", Vendor: "Example GmbH", BaseURL: "https://api.example.test", Kind: "url"},
		Run: load.Run{
			ID: "20260301T102030-7f3a", Started: started, Seconds: 171.4, Seed: 7,
			Selection: "--scenario list-throughput,sustained-rate,page-depth,walk,soak,rate-limit", Shard: &load.Shard{Index: 3, Of: 8},
		},
		Verdict:     reports.Failed,
		Reasons:     []string{"list-throughput: p99<250ms@500/s is missed", "walk: PAGE-WALK-01 is broken on campaigns.list", "soak: errors<0.1% is inconclusive"},
		Calibration: &load.Calibration{CeilingPerSecond: 11842.4, LagP99MS: 0.62, CPUPerRequestUS: 41.7, Cores: 2, Note: "null server on loopback, keep-alive"},
		Scenarios:   []load.Scenario{throughput(), sustained(), depth(), walk(), soak(), rateLimit()},
		Comparison: &load.Comparison{
			A:     reports.Target{Name: "Example Outreach", Version: "2.8.1", BaseURL: "https://api.example.test", Kind: "url"},
			B:     reports.Target{Name: "Example Outreach", Version: "2.9.0-rc1", BaseURL: "https://next.example.test", Kind: "url"},
			Pairs: 12, BlockSeconds: 2, Order: "ABBAABABBABAABABBAABBABA", Level: 0.01,
			Figures: []load.ComparedFigure{
				{Name: "response p50", Unit: "ms", A: new(4.1), B: new(4.2), Ratio: 1.02, RatioLow: 0.98, RatioHigh: 1.07, P: 0.31, Verdict: load.NoDifference},
				{Name: "response p99", Unit: "ms", A: new(61.2), B: new(92.4), Difference: &load.Estimate{Value: 31.2, Low: 20.5, High: 44.7}, Confidence: 0.95, Ratio: 1.51, RatioLow: 1.34, RatioHigh: 1.73, P: 0.0005, Verdict: load.Worse},
				{Name: "failed", Unit: "%", Verdict: load.EffectNotKnown, Why: "a block of pair 6 has no such figure"},
			},
		},
	}
	r.Traffic = total(r.Scenarios)
	return r
}

// total sums up the phases.
func total(scenarios []load.Scenario) load.Traffic {
	t := load.Traffic{Statuses: map[string]int64{}}
	for _, s := range scenarios {
		for _, p := range s.Phases {
			t.Planned += p.Planned
			t.Sent += p.Sent
			t.Late += p.Late
			t.Dropped += p.Dropped
			t.BytesReceived += p.BytesReceived
			for status, n := range p.Statuses {
				t.Statuses[status] += n
			}
		}
	}
	return t
}
