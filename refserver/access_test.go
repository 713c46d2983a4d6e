package refserver

import (
	"net/http/httptest"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/limiter"
)

func TestAuthentication(t *testing.T) {
	s := start(t, Options{})
	token := s.token("main")
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"missing", nil, 401},
		{"empty", []string{""}, 401},
		{"scheme only", []string{"Bearer"}, 401},
		{"scheme and space", []string{"Bearer "}, 401},
		{"token only", []string{token}, 401},
		{"another scheme", []string{"Basic " + token}, 401},
		{"unknown token", []string{"Bearer nobody"}, 401},
		{"part of a token", []string{"Bearer " + token[:len(token)-1]}, 401},
		{"more than a token", []string{"Bearer " + token + " x"}, 401},
		{"revoked", []string{"Bearer " + s.token("main-revoked")}, 401},
		{"two headers", []string{"Bearer " + token, "Bearer " + token}, 401},
		{"valid", []string{"Bearer " + token}, 200},
		{"scheme in lower case", []string{"bearer " + token}, 200},
		{"scheme in upper case", []string{"BEARER  " + token}, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", BasePath+"/lead-lists", nil)
			for _, h := range tc.headers {
				r.Header.Add("Authorization", h)
			}
			s := s.in(t)
			a := send(s.api, r)
			if s.want(tc.status, a); tc.status == 401 {
				s.fails(a, 401)
				if a.json(t)["message"] != "Missing Authorization header" || a.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("body %s, header %v", a.body, a.header)
				}
			}
		})
	}
}

// requestFor returns a request for the operation whose body and path are well formed.
func requestFor(op *operation) (path string, body any) {
	path = strings.ReplaceAll(op.path, "{id}", unknownID)
	if op.method == "POST" {
		body = map[string]any{}
	}
	return path, body
}

func TestEveryOperationNeedsOneOfItsScopes(t *testing.T) {
	s := start(t, Options{})
	for _, op := range operations() {
		path, body := requestFor(op)
		for _, key := range s.data.Keys {
			if key.Workspace != dataset.Main || key.Revoked {
				continue
			}
			allowed := false
			for _, scope := range op.scopes {
				for _, has := range key.Scopes {
					allowed = allowed || has == scope
				}
			}
			got := s.do(key.Name, op.method, path, body)
			if refused := got.status == 403; refused == allowed {
				t.Errorf("%s with the scopes %v: status %d", op.id, key.Scopes, got.status)
			} else if refused {
				s.fails(got, 403)
			}
		}
	}
}

func TestOrderOfChecks(t *testing.T) {
	s := start(t, Options{Limiters: map[string]limiter.Config{dataset.Second: {
		Layers: []limiter.Layer{{Kind: limiter.FixedWindow, Limit: 1, Per: limiter.MaxPer}},
	}}})
	for _, path := range []string{"/lead-lists?limit=0", "/nothing", "/inbox-placement-tests/x"} {
		s.fails(s.do("", "GET", path, nil), 401)
		s.fails(s.do("unpaid", "GET", path, nil), 402)
	}
	s.want(200, s.do("second", "GET", "/lead-lists", nil))
	s.fails(s.do("second", "GET", "/nothing", nil), 429)
	s.fails(s.do("main-no-scopes", "GET", "/lead-lists?limit=0", nil), 403)
	s.fails(s.do("main-no-scopes", "GET", "/nothing", nil), 404)
	s.fails(s.do("main", "POST", "/campaigns/"+unknownID+"/variables", "{"), 400)
	s.fails(s.do("main", "POST", "/campaigns/"+unknownID+"/variables", `{"variables":[]}`), 404)
	for status, text := range map[int]string{402: "Workspace does not have an active paid plan", 429: "Rate limit exceeded", 404: "Resource not found"} {
		key := map[int]string{402: "unpaid", 429: "second", 404: "main"}[status]
		if got := s.do(key, "GET", "/nothing", nil); got.status != status || got.json(t)["message"] != text {
			t.Errorf("%s: %d %s, want %d %q", key, got.status, got.body, status, text)
		}
	}
}

func TestRouting(t *testing.T) {
	s := start(t, Options{})
	for _, tc := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/lead-lists/", 404, ""},
		{"GET", "/lead-list", 404, ""},
		{"GET", "/inbox-placement-tests/a/b", 404, ""},
		{"GET", "/inbox-placement-tests/", 404, ""},
		{"POST", "/campaigns/" + unknownID, 404, ""},
		{"POST", "/lead-lists", 405, "GET, HEAD"},
		{"PUT", "/inbox-placement-tests", 405, "GET, HEAD, POST"},
		{"PATCH", "/inbox-placement-tests/" + unknownID, 405, "GET, HEAD, DELETE"},
		{"GET", "/subsequences/" + unknownID, 405, "DELETE"},
		{"OPTIONS", "/leads/subsequence/move", 405, "POST"},
		{"HEAD", "/accounts/move", 405, "POST"},
		{"HEAD", "/lead-lists", 200, ""},
		{"GET", "/inbox-placement-tests/email-service-provider-options", 200, ""},
		{"GET", "/inbox-placement-tests/" + strings.ToUpper(unknownID), 404, ""},
		{"GET", "/inbox-placement-tests/17", 400, ""},
		{"GET", "/inbox-placement-tests/urn:uuid:" + unknownID, 400, ""},
		{"DELETE", "/subsequences/" + unknownID[:35], 400, ""},
		{"POST", "/campaigns/x/variables", 400, ""},
	} {
		got := s.do("main", tc.method, tc.path, nil)
		if got.status != tc.status || got.header.Get("Allow") != tc.allow {
			t.Errorf("%s %s: %d with Allow %q, want %d with %q", tc.method, tc.path, got.status, got.header.Get("Allow"), tc.status, tc.allow)
		}
		if tc.status >= 400 {
			s.fails(got, tc.status)
		}
	}
	for path, status := range map[string]int{"/": 404, "/api/v2": 404, "/api/v1/lead-lists": 404, "/healthz": 200} {
		if got := send(s.api, httptest.NewRequest("GET", path, nil)); got.status != status {
			t.Errorf("GET %s: %d, want %d", path, got.status, status)
		}
	}
}

// TestIsolation asks with the key of one workspace for what belongs to another.
func TestIsolation(t *testing.T) {
	s := start(t, Options{})
	second := s.workspace(dataset.Second)
	test := first(t, second.Tests, nil).ID
	subsequence := first(t, second.Subsequences, nil).ID
	campaign := first(t, second.Campaigns, nil).ID
	lead := first(t, second.Leads, nil).ID
	mine := s.workspace(dataset.Main)
	for name, a := range map[string]answer{
		"get test":                 get(s, "/inbox-placement-tests/"+test),
		"delete test":              s.do("main", "DELETE", "/inbox-placement-tests/"+test, nil),
		"delete subsequence":       s.do("main", "DELETE", "/subsequences/"+subsequence, nil),
		"variables":                s.do("main", "POST", "/campaigns/"+campaign+"/variables", `{"variables":["x"]}`),
		"move lead":                s.do("main", "POST", "/leads/subsequence/move", map[string]any{"id": lead, "subsequence_id": first(t, mine.Subsequences, nil).ID}),
		"move to subsequence":      s.do("main", "POST", "/leads/subsequence/move", map[string]any{"id": first(t, mine.Leads, nil).ID, "subsequence_id": subsequence}),
		"create with its campaign": s.do("main", "POST", "/inbox-placement-tests", with(minimalTest(), "campaign_id", campaign)),
	} {
		t.Run(name, func(t *testing.T) { s.in(t).fails(a, 404) })
	}
	s.want(200, s.do("second", "DELETE", "/inbox-placement-tests/"+test, nil))
	s.want(200, s.do("second", "DELETE", "/subsequences/"+subsequence, nil))
	if got := s.page("main", "/subsequences?parent_campaign="+campaign); len(got.Items) != 0 {
		t.Errorf("subsequences of another workspace's campaign: %s", got.Items)
	}
}

// TestOperationTable holds the router's table against the specification's
// section Endpoints and, where nothing is shown there, our own choice.
func TestOperationTable(t *testing.T) {
	want := map[string]string{
		"POST /campaigns/{id}/variables":                            "campaigns:update",
		"POST /leads/subsequence/move":                              "leads:update",
		"POST /accounts/move":                                       "accounts:update",
		"POST /inbox-placement-tests":                               "inbox_placement_tests:create",
		"GET /inbox-placement-tests":                                "inbox_placement_tests:read",
		"GET /inbox-placement-tests/{id}":                           "inbox_placement_tests:read",
		"DELETE /inbox-placement-tests/{id}":                        "inbox_placement_tests:delete",
		"GET /inbox-placement-tests/email-service-provider-options": "inbox_placement_tests:read",
		"GET /inbox-placement-reports":                              "inbox_placement_reports:read",
		"GET /subsequences":                                         "subsequences:read",
		"DELETE /subsequences/{id}":                                 "subsequences:delete",
		"GET /workspace-members":                                    "workspace_members:read",
		"GET /workspace-group-members":                              "workspace_group_members:read",
		"GET /dfy-email-account-orders":                             "dfy_email_account_orders:read",
		"GET /custom-tag-mappings":                                  "custom_tag_mappings:read",
		"GET /lead-labels":                                          "lead-labels:read",
		"GET /lead-lists":                                           "lead_lists:read",
		"GET /crm-actions/phone-numbers":                            "crm_actions:read",
		"GET /webhook-events":                                       "webhook_events:read",
	}
	ids := map[string]bool{}
	for _, op := range operations() {
		scope := want[op.method+" "+op.path]
		resource, action, _ := strings.Cut(scope, ":")
		if got := strings.Join(op.scopes, " "); got != strings.Join([]string{scope, resource + ":all", "all:" + action, "all:all"}, " ") {
			t.Errorf("%s %s takes the scopes %s", op.method, op.path, got)
		}
		ids[op.id] = true
	}
	if len(ids) != len(want) {
		t.Errorf("%d operations with different ids, want %d", len(ids), len(want))
	}
}
