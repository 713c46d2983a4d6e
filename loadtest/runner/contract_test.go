package runner

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/truth"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/spec"
)

// The requests of the scenarios are valid and get the status 200.
// The scenario rate-limit also provokes 429.
func TestScenariosFollowTheDocument_long(t *testing.T) {
	limit, err := limiter.Parse(quickLimit)
	if err != nil {
		t.Fatal(err)
	}
	brief := func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup = 100, 300*time.Millisecond, 0 }
	for name, change := range map[string]func(*scenario.Scenario){
		"list-throughput": brief,
		"page-depth":      func(s *scenario.Scenario) { brief(s); s.Pages = []int{1, 2, 10} },
		"walk":            func(s *scenario.Scenario) { s.Clients, s.Duration = 2, 300*time.Millisecond },
		"mixed":           func(s *scenario.Scenario) { brief(s); s.Duration = time.Second; s.Mix[spec.DeleteSubsequence] = 1 },
		"rate-limit":      func(s *scenario.Scenario) { *s = probing(t) },
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			loaded, err := data()
			if err != nil {
				t.Fatal(err)
			}
			service, err := loaded.Server(refserver.Options{Limiters: map[string]limiter.Config{dataset.Limited: limit}, StrictClients: true})
			if err != nil {
				t.Fatal(err)
			}
			env := envOf(t, inMemory, piped(t, service.Handler()), generate.Options{})
			Run(t.Context(), env, builtinScenario(t, name, change))
			for _, k := range service.Clients().Kinds {
				t.Errorf("%d × %s: %s\n%s %s", k.Count, k.Rule, k.Message, k.Request.Method, k.Request.Target)
			}
			shown := httptest.NewRecorder()
			service.TruthHandler().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/truth", nil))
			var report truth.Report
			if err := json.Unmarshal(shown.Body.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			statuses := map[int]int64{}
			for _, r := range report.Requests {
				statuses[r.Status] += r.Count
			}
			served := statuses[http.StatusOK]
			delete(statuses, http.StatusOK)
			if name == "rate-limit" {
				delete(statuses, http.StatusTooManyRequests)
				delete(statuses, http.StatusNotFound) // a deletion of an id that is nobody's
			}
			if served == 0 || len(statuses) > 0 {
				t.Errorf("%d requests got 200, others %s", served, fmt.Sprint(statuses))
			}
		}))
	}
}
