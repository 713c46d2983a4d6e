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
	"outreach.example/conformance/spec"
)

// counting counts the requests that match.
func counting(n *atomic.Int64, match func(*http.Request) bool) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match(r) {
				n.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	}
}

func all(*http.Request) bool { return true }

func unsafe(r *http.Request) bool { return r.Method != http.MethodGet }

// A phase that would exceed the profile's rate or budget is not sent at all.
func TestProfileBoundsLoad(t *testing.T) {
	for name, tc := range map[string]struct {
		bound func(*Env)
		says  string
	}{
		"max_rate": {func(e *Env) { e.MaxRate = 99 }, "exceed the profile's maximum of 99 (load.max_rate)"},
		"budget":   {func(e *Env) { e.Budget = prepare.NewBudget(99) }, "the budget of 99 requests is too small"},
	} {
		for _, kind := range []string{"list-throughput", "spike", "soak", "mixed"} {
			t.Run(name+" "+kind, inFakeTime(func(t *testing.T) {
				var sent atomic.Int64
				env := world(t, counting(&sent, unsafe))
				tc.bound(env)
				s := builtinScenario(t, kind, func(s *scenario.Scenario) {
					s.Rate, s.Duration, s.Warmup = 100, time.Second, 0
				})
				o := Run(t.Context(), env, s)
				if o.Verdict != reports.Inconclusive || !strings.Contains(strings.Join(o.Reasons, "\n"), tc.says) || len(o.Recordings) > 0 && o.Recordings[0].Sent > 0 {
					t.Errorf("%s: %q; sent %+v", o.Verdict, o.Reasons, o.Traffic)
				}
				if sent.Load() > 0 {
					t.Errorf("%d changes were asked for beforehand", sent.Load())
				}
			}))
		}
	}
}

// A search keeps to the maximum rate. A used up budget ends it.
func TestProfileBoundsTheSearch(t *testing.T) {
	s := builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
		s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup, s.Limits = 50, 10_000, 200*time.Millisecond, 300*time.Millisecond, 0, []int{1}
		s.Thresholds = []string{"p50<1s"}
	})
	t.Run("max_rate", inFakeTime(func(t *testing.T) {
		env := world(t)
		env.MaxRate = 120
		o := Run(t.Context(), env, s)
		if o.Sustained == nil || !o.Sustained.Confirmed || o.Sustained.RatePerSecond != 120 {
			t.Errorf("%+v, %q", o.Sustained, o.Reasons)
		}
		for _, point := range o.Sustained.Knee {
			if point.AskedPerSecond > 120 {
				t.Errorf("tried %v/s", point.AskedPerSecond)
			}
		}
	}))
	t.Run("budget", inFakeTime(func(t *testing.T) {
		var sent atomic.Int64
		env := world(t, counting(&sent, all))
		env.Budget = prepare.NewBudget(40)
		o := Run(t.Context(), env, s)
		if o.Verdict != reports.Inconclusive || sent.Load() > 40 {
			t.Errorf("%s after %d requests: %q", o.Verdict, sent.Load(), o.Reasons)
		}
	}))
}

// Requests without a schedule keep to the budget too.
func TestProfileBoundsWalksAndProbes(t *testing.T) {
	for kind, change := range map[string]func(*scenario.Scenario){
		"walk":       func(s *scenario.Scenario) { s.Duration = 2 * time.Second },
		"rate-limit": func(s *scenario.Scenario) { s.Duration = 20 * time.Second }, // the budget is to end it
	} {
		t.Run(kind, inFakeTime(func(t *testing.T) {
			const budget = 210
			var sent atomic.Int64
			env := world(t, counting(&sent, all))
			env.Budget = prepare.NewBudget(budget)
			o := Run(t.Context(), env, builtinScenario(t, kind, change))
			if sent.Load() > budget || sent.Load() == 0 {
				t.Errorf("%d requests were sent, of at most %d: %s %q %q", sent.Load(), budget, o.Verdict, o.Reasons, o.Notes)
			}
			before := sent.Load()
			again := Run(t.Context(), env, builtinScenario(t, kind, change))
			if reasons := strings.Join(again.Reasons, "\n"); again.Verdict != reports.Inconclusive || !strings.Contains(reasons, "(load.budget)") || sent.Load() > before {
				t.Errorf("%s with a budget that is spent, after %d more requests: %q", again.Verdict, sent.Load()-before, again.Reasons)
			}
		}))
	}
}

// With writes: none, no request is sent that could change something.
func TestWritesNone_long(t *testing.T) {
	for kind, change := range map[string]func(*scenario.Scenario){
		"mixed": func(s *scenario.Scenario) {
			s.Mix[spec.DeleteSubsequence] = 5
			s.Limits, s.Duration, s.Thresholds = []int{10}, time.Second, []string{"errors<5%"}
		},
		"rate-limit": func(s *scenario.Scenario) { s.Budget, s.Duration = 400, 3*time.Second },
	} {
		t.Run(kind, inFakeTime(func(t *testing.T) {
			var changes atomic.Int64
			env := world(t, counting(&changes, unsafe))
			env.Profile.Writes = profile.WritesNone
			o := Run(t.Context(), env, builtinScenario(t, kind, change))
			if changes.Load() > 0 {
				t.Errorf("%d requests that may change something were sent", changes.Load())
			}
			if o.Verdict != reports.Passed || !strings.Contains(strings.Join(o.Notes, "\n"), "writes: none") {
				t.Errorf("%s: %q; %q", o.Verdict, o.Reasons, o.Notes)
			}
		}))
	}
}
