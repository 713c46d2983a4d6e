package scenario

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/loadtest/generate"
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

// Every request that a mix can hold is valid.
func TestRequestsFollowTheDocument(t *testing.T) {
	d := document(t)
	s, err := newSubjects(&Env{Profile: embedded(), Run: "run", Seed: 1}, "mixed")
	if err != nil {
		t.Fatal(err)
	}
	s.stock = map[uint64]string{}
	for place := range uint64(8) {
		s.stock[place] = s.rows.tests[0]
	}
	check := func(q generate.Request) error {
		r := httptest.NewRequest(q.Method, q.Path, nil)
		r.Header.Set("Authorization", "Bearer "+q.Key.Token)
		if len(q.Body) > 0 {
			r.Header.Set("Content-Type", "application/json")
		}
		return d.CheckRequest(t.Context(), contract.Exchange{Request: r, RequestBody: q.Body})
	}
	for _, op := range spec.Operations() {
		if why := s.lacks(op); why != "" {
			t.Errorf("%s cannot be asked: %s", op.ID, why)
			continue
		}
		for _, limit := range []int{0, 1, 100} {
			for n := range uint64(8) {
				q := s.request(op, limit, n, n)
				if err := check(q); err != nil || !q.Asked.Valid {
					t.Errorf("%s, limit %d, number %d: %+v is invalid: %v", op.ID, limit, n, q, err)
				}
			}
		}
	}
	if check(s.request(spec.MustOperation(spec.ListLeadLists), 101, 0, 0)) == nil {
		t.Error("a limit of 101 is found valid")
	}
}

// The requests of the scenarios get 200 and are valid, and so are the responses.
// The scenario rate-limit provokes 429 besides.
func TestScenariosFollowTheDocument(t *testing.T) {
	d := document(t)
	limit, err := limiter.Parse(quickLimit)
	if err != nil {
		t.Fatal(err)
	}
	brief := func(s *Scenario) { s.Rate, s.Duration, s.Warmup = 100, 300*time.Millisecond, 0 }
	for name, change := range map[string]func(*Scenario){
		"list-throughput": brief,
		"page-depth":      func(s *Scenario) { brief(s); s.Pages = []int{1, 2, 10} },
		"walk":            func(s *Scenario) { s.Clients, s.Duration = 2, 300*time.Millisecond },
		"mixed":           func(s *Scenario) { brief(s); s.Duration = time.Second; s.Mix[spec.DeleteSubsequence] = 1 },
		"rate-limit":      func(s *Scenario) { *s = probing(t) },
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
