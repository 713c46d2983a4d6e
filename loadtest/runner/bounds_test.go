package runner

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
)

// counting counts the requests that match.
func counting(n *atomic.Int64, match func(*http.Request) bool) middleware {
	return instead(func(r *http.Request) bool {
		if match(r) {
			n.Add(1)
		}
		return false
	}, nil)
}

func unsafe(r *http.Request) bool { return r.Method != http.MethodGet }

// The profile bounds the rate and the number of all requests, and may forbid changes. A
// phase that would exceed it is not sent at all, nor is what it needs beforehand.
func TestTheProfileBoundsLoad(t *testing.T) {
	brief := func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup = 100, time.Second, 0 }
	rate := func(e *Env) { e.MaxRate = 99 }
	budget := func(e *Env) { e.Budget = prepare.NewBudget(99) }
	for name, tc := range map[string]struct {
		scenario string
		change   func(*scenario.Scenario)
		bound    func(*Env)
		verdict  reports.Verdict
		says     string
		most     int64 // requests that reach the target
	}{
		"rate of a phase":   {"list-throughput", brief, rate, reports.Inconclusive, "exceed the profile's maximum of 99 (load.max_rate)", 0},
		"rate of changes":   {"mixed", brief, rate, reports.Inconclusive, "exceed the profile's maximum of 99 (load.max_rate)", 0},
		"budget of a phase": {"mixed", brief, budget, reports.Inconclusive, "the budget of 99 requests is too small", 0},
		"budget of a walk": {"walk", func(s *scenario.Scenario) { s.Duration = time.Hour }, budget,
			reports.Inconclusive, "(load.budget)", 99},
		"budget of probes": {"rate-limit", func(s *scenario.Scenario) { s.Duration = 20 * time.Second }, budget,
			reports.Inconclusive, "(load.budget)", 0},
		"rate of a search": {"sustained-rate", func(s *scenario.Scenario) {
			s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup = 50, 10_000, 200*time.Millisecond, 300*time.Millisecond, 0
			s.Limits, s.Thresholds = []int{1}, []string{"p50<1s"}
		}, rate, reports.Passed, "", 200},
		"writes: none": {"mixed", func(s *scenario.Scenario) { s.Duration, s.Thresholds = time.Second, nil },
			func(e *Env) { e.Profile.Writes = profile.WritesNone }, reports.Passed, "writes: none", 1000},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var sent, changes atomic.Int64
			env := world(t, counting(&changes, unsafe), counting(&sent, func(*http.Request) bool { return true }))
			tc.bound(env)
			o := Run(t.Context(), env, builtinScenario(t, tc.scenario, tc.change))
			if said := strings.Join(append(o.Reasons, o.Notes...), "\n"); o.Verdict != tc.verdict || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s", o.Verdict, said)
			}
			if sent.Load() > tc.most || changes.Load() > 0 {
				t.Errorf("%d requests were sent, of at most %d; %d are changes", sent.Load(), tc.most, changes.Load())
			}
			if s := o.Sustained; s != nil && (!s.Confirmed || s.RatePerSecond != 99) {
				t.Errorf("found %+v, want the profile's maximum", s)
			}
		}))
	}
}
