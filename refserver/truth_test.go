package refserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/truth"
)

func (s *service) truthGet(path string) answer {
	return send(s.truth, httptest.NewRequest("GET", path, nil))
}

func (s *service) truthPost(path string) {
	s.t.Helper()
	s.want(204, send(s.truth, httptest.NewRequest("POST", path, nil)))
}

func (s *service) report() truth.Report {
	s.t.Helper()
	var r truth.Report
	if err := json.Unmarshal(s.want(200, s.truthGet("/truth")).body, &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func TestTruthCountsRequests(t *testing.T) {
	s := start(t, Options{})
	get(s, "/lead-lists")
	get(s, "/lead-lists?limit=5")
	get(s, "/lead-lists?limit=0")
	get(s, "/nothing")
	s.do("", "GET", "/lead-lists", nil)
	s.do("unpaid", "GET", "/lead-lists", nil)
	send(s.api, httptest.NewRequest("GET", "/healthz", nil))
	want := map[truth.Request]int64{
		{Operation: "lead-lists.list", Status: 200, Key: "main"}:   2,
		{Operation: "lead-lists.list", Status: 400, Key: "main"}:   1,
		{Operation: "lead-lists.list", Status: 402, Key: "unpaid"}: 1,
		{Operation: "none", Status: 404, Key: "main"}:              1,
		{Operation: "none", Status: 401, Key: "none"}:              1,
	}
	got := s.report()
	for _, r := range got.Requests {
		if key := (truth.Request{Operation: r.Operation, Status: r.Status, Key: r.Key}); want[key] != r.Count {
			t.Errorf("%+v: %d, want %d", key, r.Count, want[key])
		}
	}
	if len(got.Requests) != len(want) || got.Total != 6 || len(got.Latency) == 0 {
		t.Errorf("report %+v", got)
	}
	s.truthPost("/truth/reset")
	if got := s.report(); got.Total != 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

func TestResetRestoresTheSeed(t *testing.T) {
	s := start(t, Options{})
	w, a, b := s.workspace(dataset.Main), s.workspace(dataset.SubA), s.workspace(dataset.SubB)
	made := s.want(200, create(s, minimalTest())).json(t)["id"].(string)
	s.want(200, s.do("main", "DELETE", "/inbox-placement-tests/"+nth(w.Tests, 0).ID, nil))
	s.want(200, s.do("main", "DELETE", "/subsequences/"+nth(w.Subsequences, 0).ID, nil))
	s.want(200, s.do("main", "POST", "/campaigns/"+nth(w.Campaigns, 0).ID+"/variables", `{"variables":["a"]}`))
	s.want(200, s.do("admin", "POST", "/accounts/move", map[string]any{"emails": a.Accounts, "source_workspace_id": a.ID, "destination_workspace_id": b.ID}))
	s.truthPost("/reset")
	if got := s.report(); got.Total != 0 {
		t.Errorf("counts after the reset: %+v", got)
	}
	for path, want := range everyList(t, w) {
		got, _ := s.walk("main", path+"?limit=100")
		sameRows(t, path, got, want)
	}
	state := s.state()
	if len(state.CampaignVariables) != 0 || len(state.Accounts[a.ID]) != len(a.Accounts) || len(state.Accounts[b.ID]) != len(b.Accounts) {
		t.Errorf("state %+v", state)
	}
	if again := s.want(200, create(s, minimalTest())).json(t)["id"].(string); again <= made {
		t.Errorf("id %s after the reset does not come after %s before it", again, made)
	}
}

func TestMiddlewareAndPanics(t *testing.T) {
	var order []string
	mark := func(name string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				order = append(order, name)
				switch r.Header.Get("X-Panic") {
				case name:
					panic("on purpose")
				case name + " late":
					w.WriteHeader(200)
					panic("on purpose")
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	s := start(t, Options{Middleware: []func(http.Handler) http.Handler{mark("outer"), mark("inner")}})
	ask := func(panics string) (a answer, aborted any) {
		defer func() { aborted = recover() }()
		r := httptest.NewRequest("GET", BasePath+"/lead-lists", nil)
		r.Header.Set("Authorization", "Bearer "+s.token("main"))
		r.Header.Set("X-Panic", panics)
		return send(s.api, r), nil
	}
	got, _ := ask("")
	s.want(200, got)
	if strings.Join(order, " ") != "outer inner" {
		t.Errorf("order %q", order)
	}
	got, _ = ask("inner")
	s.fails(got, 500)
	if _, aborted := ask("outer late"); aborted != http.ErrAbortHandler {
		t.Errorf("a panic in mid-answer ended with %v, want the connection broken", aborted)
	}
	if r := s.report(); r.Total != 3 || r.InFlight != 0 {
		t.Errorf("truth after panics: %+v", r)
	}
}
