package runner

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/loadtest/scenario"
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

// A Retry-After that cannot be parsed counts as present. Its value is redacted before
// it is truncated.
func TestAnUnreadableRetryAfterIsShown(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		key, _ := embedded().FullKey(dataset.Limited)
		lies := with(func(next faults.Handler) faults.Handler {
			return func(r faults.Request) (faults.Response, error) {
				answer, err := next(r)
				if answer.Status == 429 {
					answer.Header.Set("Retry-After", strings.Repeat("x", 50)+key.Token)
				}
				return answer, err
			}
		})
		r := Run(t.Context(), limitedBy(t, quickLimit, lies), probing(t)).Limiter.RetryAfter
		if r.With == 0 || r.Unreadable != r.With || !strings.Contains(r.Example, "$OUTREACH") || strings.Contains(r.Example, key.Token[:8]) {
			t.Errorf("%+v", r)
		}
	})(t)
}

// Probes ask for the list that the scenario names, and for nothing that the profile excludes.
func TestRateLimitProbesTheNamedList(t *testing.T) {
	some := []string{spec.ListLeadLabels, spec.ListWebhookEvents}
	for name, tc := range map[string]struct {
		operations []string
		probe      string
		most       string // the operation that is requested most
		missing    string
	}{
		"one of those in the profile":   {some, "", spec.ListLeadLabels, ""},
		"named":                         {nil, spec.ListSubsequences, spec.ListSubsequences, ""},
		"named, but not in the profile": {some, spec.ListSubsequences, "", "the list subsequences.list to probe with"},
		"no list is in the profile":     {[]string{spec.GetPlacementTest}, "", "", "a paged list"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]int{}
			env := limitedBy(t, quickLimit, instead(func(r *http.Request) bool {
				op, _, _ := spec.MatchOperation(r.Method, r.URL.Path)
				mu.Lock()
				defer mu.Unlock()
				asked[op.ID]++
				return false
			}, nil))
			narrowed := *env.Profile
			narrowed.Operations = tc.operations
			env.Profile = &narrowed
			s := probing(t)
			s.Probe = tc.probe
			o := Run(t.Context(), env, s)
			if tc.missing != "" {
				if len(o.Missing) != 1 || !strings.Contains(o.Missing[0], tc.missing) || asked[tc.probe] > 0 {
					t.Errorf("missing %q, and %d requests; want %q, and none", o.Missing, asked[tc.probe], tc.missing)
				}
				return
			}
			for operation, n := range asked {
				if !narrowed.Implements(operation) || n > asked[tc.most] {
					t.Errorf("%s was requested %d times, and %s %d times", operation, n, tc.most, asked[tc.most])
				}
			}
		}))
	}
}
