package runner

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

func document(t *testing.T) *contract.Document {
	t.Helper()
	d, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The requests of the scenarios are valid and get valid responses with status 200.
// The scenario rate-limit also provokes 429.
func TestScenariosFollowTheDocument_long(t *testing.T) {
	d := document(t)
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
			recorder := &contract.Recorder{Document: d}
			env := worldOf(t, refserver.Options{Limiters: map[string]limiter.Config{dataset.Limited: limit},
				Middleware: []func(http.Handler) http.Handler{recorder.Middleware}})
			Run(t.Context(), env, builtinScenario(t, name, change))
			for i, problem := range recorder.Problems() {
				if i == 10 {
					t.Fatalf("and %d more", len(recorder.Problems())-i)
				}
				t.Error(problem)
			}
			statuses := recorder.Statuses()
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
