package runner

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// probing returns a short rate-limit scenario.
func probing(t *testing.T) scenario.Scenario {
	return builtinScenario(t, "rate-limit", func(s *scenario.Scenario) { s.Budget, s.Duration = 600, 3*time.Second })
}

// quickLimit is the limiter behind the faults of this file.
const quickLimit = "fixed-window:10/200ms,no-retry-after"

// answering changes the status of the answers that match.
func answering(status int, match func(faults.Request, faults.Response) bool) middleware {
	return with(func(next faults.Handler) faults.Handler {
		return func(r faults.Request) (faults.Response, error) {
			answer, err := next(r)
			if match(r, answer) {
				answer.Status = status
			}
			return answer, err
		}
	})
}

// The responses beyond the limit are judged, and the command of a violation exceeds the limit
// first. An error below it is reproduced by its request alone.
func TestResponsesBeyondTheLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		lay    func(*testing.T) middleware
		broken string // requirement; empty for none
		beyond bool
	}{
		"honest":                {func(*testing.T) middleware { return func(next http.Handler) http.Handler { return next } }, "", false},
		"a 429 without message": {defectOf("lead-lists.list/answers-429-with-an-empty-message"), "ERROR-429-MESSAGE", true},
		"503 instead of 429": {func(*testing.T) middleware {
			return answering(503, func(_ faults.Request, a faults.Response) bool { return a.Status == 429 })
		}, "STATUS-200", true},
		"503 always": {func(*testing.T) middleware {
			return answering(503, func(r faults.Request, _ faults.Response) bool { return r.Operation == spec.ListLeadLists })
		}, "STATUS-200", false},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), limitedBy(t, quickLimit, tc.lay(t)), probing(t))
			if tc.broken == "" {
				if o.Verdict != reports.Passed || len(o.Reasons) > 0 || o.Limiter.Total.Refused == 0 || len(o.Inspected.Checks) == 0 {
					t.Errorf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
				}
				return
			}
			pair := spec.Pair{Requirement: tc.broken, Operation: spec.ListLeadLists}
			if o.Verdict != reports.Failed || !violated(o, pair) {
				t.Fatalf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
			}
			for _, v := range o.Violations {
				if curl := v.Examples[0].Curl; v.Requirement == tc.broken && strings.Contains(curl, "; for n in ") != tc.beyond {
					t.Errorf("%s: %s", v.Requirement, curl)
				}
			}
		}))
	}
}

// Probes ask for the list that the scenario names, and for nothing that the profile excludes.
func TestRateLimitProbesTheNamedList(t *testing.T) {
	for probe, missing := range map[string]string{
		"": "", spec.ListWebhookEvents: "", spec.ListSubsequences: "the list subsequences.list to probe with"} {
		t.Run(probe, inFakeTime(func(t *testing.T) {
			var others atomic.Int64
			env := limitedBy(t, quickLimit, instead(func(r *http.Request) bool {
				if op, _, _ := spec.MatchOperation(r.Method, r.URL.Path); op.ID != spec.ListLeadLabels && op.ID != spec.ListWebhookEvents {
					others.Add(1)
				}
				return false
			}, nil))
			narrowed := *env.Profile
			narrowed.Operations = []string{spec.ListLeadLabels, spec.ListWebhookEvents}
			env.Profile = &narrowed
			s := probing(t)
			s.Probe = probe
			o := Run(t.Context(), env, s)
			if got := strings.Join(o.Missing, "\n"); others.Load() > 0 || (got == "") != (missing == "") || !strings.Contains(got, missing) {
				t.Errorf("missing %q, and %d other requests; want %q", got, others.Load(), missing)
			}
		}))
	}
}

// A search finds the capacity of a target, or the rate that is met for long. What a target
// that fell behind kept up with shortens the search, though it is not exact.
func TestSearchFindsTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(50, 5000).Draw(t, "capacity")
		off := rapid.SampledFrom([]float64{0, 0.3, 0.97, 1, 1.03}).Draw(t, "rate served, as a share; 0 if unknown")
		holds := rapid.Float64Range(0.97, 1).Draw(t, "share of the capacity that is met for long")
		tries := 0
		f, err := search(100, 1e6, func(rate float64, confirm bool) (verdict.Tried, error) {
			tries++
			if rate <= capacity && (!confirm || rate <= holds*capacity) {
				return verdict.Tried{Met: true}, nil
			}
			return verdict.Tried{Served: capacity * off}, nil
		})
		if err != nil || !f.Confirmed || f.Ceiling || f.Most || f.Rate > holds*capacity || f.Rate < 0.9*holds*capacity {
			t.Fatalf("capacity %v: %+v, %v", capacity, f, err)
		}
		doublings := int(math.Ceil(math.Abs(math.Log2(capacity/100)))) + 1
		if off > 0.9 && tries > doublings+10 {
			t.Fatalf("capacity %v: %d tries (%d to get there)", capacity, tries, doublings)
		}
	})
}

// A search ends at the generator's ceiling, at the highest rate allowed, at a target that
// meets nothing, and with the error of a step.
func TestEndsOfASearch(t *testing.T) {
	broken := fmt.Errorf("broken")
	for name, tc := range map[string]struct {
		capacity, ceiling float64
		err               error
		want              verdict.Found
	}{
		"the highest rate":  {1e9, 1e9, nil, verdict.Found{Rate: 700, Confirmed: true, Most: true}},
		"the ceiling":       {1e9, 400, nil, verdict.Found{Rate: 400, Above: 700, Confirmed: true, Ceiling: true}},
		"nothing met":       {0, 1e9, nil, verdict.Found{Above: 1}},
		"an error":          {1e9, 1e9, broken, verdict.Found{}},
		"the first rate is": {150, 1e9, nil, verdict.Found{Rate: 150, Above: 156, Confirmed: true}},
	} {
		f, err := search(100, 700, func(rate float64, _ bool) (verdict.Tried, error) {
			return verdict.Tried{Met: rate <= tc.capacity, Ceiling: rate > tc.ceiling}, tc.err
		})
		near := func(got, want float64) bool {
			return got <= want*1.05 && got >= want/1.05/narrow || want > 600 && got <= want
		}
		if err != tc.err || f.Confirmed != tc.want.Confirmed || f.Ceiling != tc.want.Ceiling || f.Most != tc.want.Most || !near(f.Rate, tc.want.Rate) {
			t.Errorf("%s: %+v, %v; want %+v", name, f, err, tc.want)
		}
	}
}

// The search finds at least 95 % of what a server with one queue can serve, and never more
// than it can serve for long. The time is simulated, so the machine does not matter.
func TestSustainedRateOfKnownCapacities(t *testing.T) {
	for _, capacity := range []int{90, 378} {
		t.Run(fmt.Sprint(capacity), inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, shaped(t, fmt.Sprintf("capacity=%d/1s", capacity))), builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Mix, s.Limits, s.Thresholds = map[string]int{spec.ListLeadLists: 1}, []int{1}, append(s.Thresholds, "sustained>=50/s")
			}))
			share := o.Sustained.RatePerSecond / float64(capacity)
			if o.Verdict != reports.Passed || share < 0.95 || share > 1.02 || o.Seconds > (45*time.Second).Seconds() {
				t.Errorf("%s: %.1f of %d/s found in %.0f s: %q", o.Verdict, o.Sustained.RatePerSecond, capacity, o.Seconds, o.Reasons)
			}
		}))
	}
}
