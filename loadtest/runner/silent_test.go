package runner

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// threePhases are 20 requests each for pages of 1, 10 and 100 rows.
func threePhases(t *testing.T) scenario.Scenario {
	t.Helper()
	return builtinScenario(t, "list-throughput", func(s *scenario.Scenario) {
		s.Mix = map[string]int{spec.ListLeadLists: 1}
		s.Limits, s.Rate, s.Duration, s.Warmup, s.Thresholds = []int{1, 10, 100}, 20, time.Second, 0, []string{"errors<1%"}
	})
}

// fromTheSecond lets the phase with pages of one row alone and does something
// else with all others.
func fromTheSecond(do http.HandlerFunc) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if limit := r.URL.Query().Get("limit"); limit == "10" || limit == "100" {
				do(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// A target that has ceased to answer says nothing, and is left alone after the
// phase in which it did. One that answers, however badly, is asked to the end.
func TestSilentTargetsAreGivenUp(t *testing.T) {
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for name, tc := range map[string]struct {
		does   http.HandlerFunc
		silent bool
		says   string
	}{
		"breaks connections": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, "connection broken: 20"},
		"answers too late":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, "no answer in time: 20"},
		"fails":              {answers(http.StatusInternalServerError), false, "none of 20 requests was accepted (status 500: 20)"},
		"refuses":            {answers(http.StatusTooManyRequests), false, "none of 20 requests was accepted (status 429: 20)"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			env := patient(t, generate.Options{Timeout: 500 * time.Millisecond}, fromTheSecond(tc.does))
			o := Run(t.Context(), env, threePhases(t))
			phases, givenUp := 3, "; the scenario was given up"
			if tc.silent {
				phases = 2
			}
			reasons := strings.Join(o.Reasons, "\n")
			if len(o.Phases) != phases || o.Traffic.Sent != int64(20*phases) {
				t.Errorf("%d phases and %d requests, want %d and %d", len(o.Phases), o.Traffic.Sent, phases, 20*phases)
			}
			if !strings.Contains(reasons, tc.says) || strings.Contains(reasons, givenUp) != tc.silent {
				t.Errorf("want %q, given up %t:\n%s", tc.says, tc.silent, reasons)
			}
			if tc.silent && o.Verdict != reports.Inconclusive {
				t.Errorf("%s instead of %s", o.Verdict, reports.Inconclusive)
			}
		}))
	}
}

// A target that never was there is given up in the first phase.
func TestDeadTargetsAreGivenUp(t *testing.T) {
	for _, kind := range []string{"list-throughput", "mixed", "spike", "soak"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			env := envOf(t, "http://127.0.0.1:1", nil, generate.Options{}) // where nobody listens
			o := Run(t.Context(), env, builtinScenario(t, kind, func(s *scenario.Scenario) {
				s.Rate, s.Duration, s.Warmup = 20, time.Second, 0
				delete(s.Mix, spec.DeletePlacementTest) // whose tests are made before
			}))
			reasons := strings.Join(o.Reasons, "\n")
			if o.Verdict != reports.Inconclusive || !strings.Contains(reasons, fmt.Sprintf("connection refused: %d", o.Traffic.Sent)) || len(o.Recordings) != 1 || o.Traffic.Sent == 0 {
				t.Errorf("%s after %d phases and %d requests: %s", o.Verdict, len(o.Recordings), o.Traffic.Sent, reasons)
			}
		})
	}
}
