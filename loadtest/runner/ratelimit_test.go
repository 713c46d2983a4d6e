package runner

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
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

func TestRateLimitTellsFaults(t *testing.T) {
	t.Run("honest", inFakeTime(func(t *testing.T) {
		o := Run(t.Context(), limitedBy(t, quickLimit), probing(t))
		if o.Verdict != reports.Passed || len(o.Reasons) > 0 {
			t.Errorf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
		}
		for _, requirement := range []string{"RATE-429", "RATE-RESUMES", "ERROR-429-BODY"} {
			if !assessedOf(o, requirement) {
				t.Errorf("%s was not put to the test", requirement)
			}
		}
		if o.Limiter == nil || o.Limiter.Total.Refused == 0 {
			t.Errorf("the limiter: %+v", o.Limiter)
		}
	}))
	for _, f := range []fault{
		{name: "a 429 without message", lay: defectOf("lead-lists.list/answers-429-with-an-empty-message"), finds: []spec.Pair{{Requirement: "ERROR-429-MESSAGE", Operation: spec.ListLeadLists}}},
		{name: "a 429 as text", lay: defectOf("lead-lists.list/answers-429-as-text-plain"), finds: []spec.Pair{{Requirement: "ERROR-429-CONTENT_TYPE", Operation: spec.ListLeadLists}}},
		{name: "503 instead of 429", lay: transformed(unavailableNowAndThen), finds: []spec.Pair{{Requirement: "STATUS-200", Operation: spec.ListLeadLists}}},
		{name: "a refused write that is carried out", lay: transformed(carriedOut), finds: []spec.Pair{{Requirement: "RATE-429", Operation: spec.CreatePlacementTest}}},
		{name: "refuses for ever", lay: transformed(refusingForEver), finds: []spec.Pair{{Requirement: "RATE-RESUMES", Operation: spec.ListLeadLists}}},
	} {
		t.Run(f.name, inFakeTime(func(t *testing.T) {
			expectRed(t, Run(t.Context(), limitedBy(t, quickLimit, f.lay(t)), probing(t)), f)
		}))
	}
}

func assessedOf(o verdict.Outcome, requirement string) bool {
	for _, c := range o.Inspected.Checks {
		if c.Requirement == requirement && c.Assessments > 0 {
			return true
		}
	}
	return false
}

// A Retry-After that is too short is no violation. It is observed.
func TestRateLimitObservesALyingRetryAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		limit string
		lies  func(next http.Handler) http.Handler
		least float64 // of the share of honest waits
		most  float64
		word  string // of the verdict
	}{
		"honest": {"fixed-window:10/1s", func(next http.Handler) http.Handler { return next }, 0.99, 1, "honest"},
		"lying":  {"fixed-window:10/3s", saysAlways("1"), 0, 0.7, "too short"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			// Ten windows of 3 s to understand the limiter, and drains to try promises.
			s := builtinScenario(t, "rate-limit", func(s *scenario.Scenario) { s.Duration = time.Minute })
			o := Run(t.Context(), limitedBy(t, tc.limit, tc.lies), s)
			if o.Verdict != reports.Passed {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
			honest := o.Limiter.RetryAfter.Honest
			if o.Limiter.RetryAfter.Trials == 0 || honest.Value < tc.least || honest.Value > tc.most {
				t.Errorf("Retry-After: %+v", o.Limiter.RetryAfter)
			}
			if !strings.Contains(o.Limiter.RetryAfter.Verdict.Value, tc.word) {
				t.Errorf("Retry-After: %+v, want that it is %s", o.Limiter.RetryAfter.Verdict, tc.word)
			}
			t.Logf("%s; Retry-After honest: %+v", o.Limiter.Summary, honest)
		}))
	}
}

// unavailableNowAndThen answers 503 to some of the requests beyond the limit.
func unavailableNowAndThen(next faults.Handler) faults.Handler {
	var beyond atomic.Int64
	return func(r faults.Request) (faults.Response, error) {
		answer, err := next(r)
		if err == nil && answer.Status == http.StatusTooManyRequests && r.Operation == spec.ListLeadLists && beyond.Add(1)%5 == 0 {
			answer.Status = http.StatusServiceUnavailable
		}
		return answer, err
	}
}

// carriedOut answers 429 to creations beyond the limit, but carries them out with the
// key of the main workspace, which has no limit.
func carriedOut(next faults.Handler) faults.Handler {
	profile := embedded()
	var mu sync.Mutex
	var created []byte // rows that the limited workspace must not have
	return func(r faults.Request) (faults.Response, error) {
		answer, err := next(r)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
		case r.Operation == spec.CreatePlacementTest && answer.Status == http.StatusTooManyRequests:
			again := r
			again.Header = r.Header.Clone()
			again.Header.Set("Authorization", "Bearer "+tokenOf(profile, dataset.Main))
			made, err := next(again)
			if err != nil || made.Status != http.StatusOK {
				return made, err
			}
			created = made.Body
		case r.Operation == spec.ListPlacementTests && answer.Status == http.StatusOK && len(created) > 0:
			body := strings.Replace(string(answer.Body), `"items":[`, `"items":[`+string(created)+`,`, 1)
			body = strings.ReplaceAll(body, profile.Workspaces[dataset.Main].ID, profile.Workspaces[dataset.Limited].ID)
			answer.Body = []byte(strings.Replace(body, "},]", "}]", 1))
		case r.Operation == spec.DeletePlacementTest && len(created) > 0 && strings.Contains(string(created), r.ID):
			again := r
			again.Header = r.Header.Clone()
			again.Header.Set("Authorization", "Bearer "+tokenOf(profile, dataset.Main))
			created = nil
			return next(again)
		}
		return answer, err
	}
}

func tokenOf(profile *profile.Profile, role string) string {
	key, ok := profile.FullKey(role)
	if !ok {
		panic("the profile of the reference server has no key of " + role)
	}
	return key.Token
}

// refusingForEver answers 429 to a key that was refused often on the operation.
func refusingForEver(next faults.Handler) faults.Handler {
	var refused atomic.Int64
	return func(r faults.Request) (faults.Response, error) {
		answer, err := next(r)
		if err != nil || r.Operation != spec.ListLeadLists || r.Header.Get("Authorization") != "Bearer "+tokenOf(embedded(), dataset.Limited) {
			return answer, err
		}
		if answer.Status == http.StatusTooManyRequests {
			refused.Add(1)
		} else if refused.Load() > 5 {
			return faults.Response{Status: http.StatusTooManyRequests, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
				Body: []byte(`{"statusCode":429,"error":"Too Many Requests","message":"for ever"}`)}, nil
		}
		return answer, err
	}
}

// A probe of the rate limit asks for the list that the scenario names, and for nothing
// that the profile does not list.
func TestRateLimitProbesTheNamedList(t *testing.T) {
	some := []string{spec.ListLeadLabels, spec.ListWebhookEvents}
	for name, tc := range map[string]struct {
		operations []string
		probe      string
		most       string // the operation that is requested most
		missing    string
	}{
		"none named":                    {nil, "", spec.ListLeadLists, ""},
		"one of those in the profile":   {some, "", spec.ListLeadLabels, ""},
		"named":                         {nil, spec.ListSubsequences, spec.ListSubsequences, ""},
		"named, and in the profile":     {some, spec.ListWebhookEvents, spec.ListWebhookEvents, ""},
		"named, but not in the profile": {some, spec.ListSubsequences, "", "the list subsequences.list to probe with"},
		"no list is in the profile":     {[]string{spec.GetPlacementTest}, "", "", "a paged list"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]int{}
			env := limitedBy(t, quickLimit, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if op, _, ok := spec.MatchOperation(r.Method, r.URL.Path); ok {
						mu.Lock()
						asked[op.ID]++
						mu.Unlock()
					}
					next.ServeHTTP(w, r)
				})
			})
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
			if o.Verdict != reports.Passed || o.Limiter == nil || o.Limiter.Total.Refused == 0 {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
			for operation, n := range asked {
				if !narrowed.Implements(operation) {
					t.Errorf("%s, which the profile does not list, was requested %d times", operation, n)
				}
				if n > asked[tc.most] {
					t.Errorf("%s was requested %d times, and %s %d times", operation, n, tc.most, asked[tc.most])
				}
			}
		}))
	}
}
