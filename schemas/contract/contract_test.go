package contract

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

func loaded(t *testing.T) *Document {
	t.Helper()
	d, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// example returns the document's example of a component with some fields
// replaced. A nil value removes the field.
func example(t *testing.T, component string, changes map[string]any) []byte {
	t.Helper()
	doc, err := schemas.Document()
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{}
	for name, value := range doc.Components.Schemas[component].Value.Example.(map[string]any) {
		body[name] = value
	}
	for name, value := range changes {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func request(method, target, token, body string) Exchange {
	r := httptest.NewRequest(method, target, nil)
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return Exchange{Request: r, RequestBody: []byte(body)}
}

const id = "0198c0de-0000-7000-8000-00000000000a"

func TestRequests(t *testing.T) {
	d := loaded(t)
	const (
		lists = "/api/v2/lead-lists"
		tests = "/api/v2/inbox-placement-tests"
		move  = "/api/v2/leads/subsequence/move"
		moved = `{"id": "` + id + `", "subsequence_id": "` + id + `"}`
		key   = "Bearer x"
	)
	cases := []struct {
		name, method, target, token, body string
		want                              string // in the error; empty for a valid request
	}{
		{"a list", "GET", lists + "?limit=100", key, "", ""},
		{"a path with an id", "GET", tests + "/" + id, key, "", ""},
		{"a deletion without a body", "DELETE", tests + "/" + id, key, "", ""},
		{"a deletion whose body is null", "DELETE", tests + "/" + id, key, "null", ""},
		{"a deletion with another body", "DELETE", tests + "/" + id, key, "{}", "not allowed"},
		{"a body", "POST", move, key, moved, ""},

		{"no key", "GET", lists, "", "", "no bearer token"},
		{"another scheme", "GET", lists, "Basic x", "", "no bearer token"},
		{"an unknown path", "GET", "/api/v2/nothing", key, "", "no operation"},
		{"another method", "PUT", lists, key, "", "no operation"},
		{"an unknown query parameter", "GET", lists + "?limt=1", key, "", `unknown query parameter "limt"`},
		{"a parameter of another operation", "GET", lists + "?sort_order=asc", key, "", `unknown query parameter "sort_order"`},
		{"a parameter twice", "GET", lists + "?limit=1&limit=2", key, "", `query parameter "limit": 2 values`},
		{"a limit out of range", "GET", lists + "?limit=101", key, "", "limit"},
		{"a limit that is no number", "GET", lists + "?limit=x", key, "", "limit"},
		{"an id that is no UUID", "GET", tests + "/1", key, "", `path parameter "id"`},
		{"no body", "POST", move, key, "", "body"},
		{"a body where there is none", "GET", lists, key, moved, "body"},
		{"a body that is no JSON", "POST", move, key, "{", "body"},
		{"a missing field", "POST", "/api/v2/accounts/move", key, `{}`, "is missing"},
		{"a field of another type", "POST", move, key, `{"id": 1, "subsequence_id": "` + id + `"}`, "/id"},
		{"a field in a bad format", "POST", move, key, `{"id": "1", "subsequence_id": "` + id + `"}`, "/id"},
		{"an unknown field", "POST", move, key, `{"x": 1, "id": "` + id + `", "subsequence_id": "` + id + `"}`, "unknown field /x"},
		{"a read-only field", "POST", tests, key, string(example(t, "InboxPlacementTest", nil)), "unknown field /id"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := d.CheckRequest(t.Context(), request(c.method, c.target, c.token, c.body))
			expect(t, err, c.want)
		})
	}
}

func TestResponses(t *testing.T) {
	d := loaded(t)
	row := func(changes map[string]any) string {
		return `{"items": [` + string(example(t, "LeadList", changes)) + `], "next_starting_after": null}`
	}
	const failed = `{"statusCode": 404, "error": "Not Found", "message": "m"}`
	cases := []struct {
		name   string
		status int
		media  string
		body   string
		want   string // in the error; empty for a valid response
	}{
		{"a page", 200, "application/json; charset=utf-8", row(nil), ""},
		{"an undocumented field", 200, "application/json", row(map[string]any{"x": 1}), ""},
		{"a documented error", 404, "application/json", failed, ""},
		{"an undocumented status with the documented body", 400, "application/json", failed, ""},

		{"another media type", 200, "text/html", row(nil), "text/html"},
		{"no JSON", 200, "application/json", "{", "decode"},
		{"no items", 200, "application/json", "{}", "items"},
		{"a missing field", 200, "application/json", row(map[string]any{"name": nil}), "name"},
		{"a field of another type", 200, "application/json", row(map[string]any{"name": 1}), "name"},
		{"an id that is no UUID", 200, "application/json", row(map[string]any{"id": "1"}), "/id"},
		{"a UUID of version 4", 200, "application/json", row(map[string]any{"id": "0198c0de-0000-4000-8000-00000000000a"}), "/id"},
		{"a timestamp of 30 February", 200, "application/json", row(map[string]any{"timestamp_created": "2026-02-30T00:00:00.000Z"}), "timestamp_created"},
		{"a documented error without its message", 404, "application/json", `{"statusCode": 404, "error": "Not Found"}`, "message"},
		{"an undocumented status with another body", 400, "application/json", `{}`, "statusCode"},
		{"an undocumented status without JSON", 500, "text/plain", "oops", "the body of an error"},
		{"an undocumented success", 204, "application/json", "", "status is not supported"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			x := request("GET", "/api/v2/lead-lists", "Bearer x", "")
			x.Status, x.Header, x.Body = c.status, http.Header{"Content-Type": {c.media}}, []byte(c.body)
			expect(t, d.CheckResponse(t.Context(), x), c.want)
		})
	}
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}

// A recorder reports a damaged request and a damaged response, and nothing else.
func TestRecorder(t *testing.T) {
	unknown := Exception{OpenPoint: spec.OpenPointUnknownQuery, Repair: func(x Exchange) Exchange {
		x.Request = x.Request.Clone(t.Context())
		query := x.Request.URL.Query()
		query.Del("allowed")
		x.Request.URL.RawQuery = query.Encode()
		return x
	}}
	const good, bad = `{"items": []}`, `{"items": 7}`
	cases := []struct {
		name, target, body string
		status             int
		want               string // in the one problem; empty for none
		excepted           int
	}{
		{"valid", "/api/v2/lead-lists?limit=1", good, 200, "", 0},
		{"a damaged request", "/api/v2/lead-lists?limt=1", good, 200, "request: unknown query parameter", 0},
		{"a damaged response", "/api/v2/lead-lists?limit=1", bad, 200, "response: ", 0},
		{"an invalid request that is refused", "/api/v2/lead-lists?limt=1", `{"statusCode": 400, "error": "Bad Request", "message": "m"}`, 400, "", 0},
		{"an exception", "/api/v2/lead-lists?allowed=1", good, 200, "", 1},
		{"an exception that is invalid besides", "/api/v2/lead-lists?allowed=1&limit=0", good, 200, "request: ", 0},
		{"a path outside the document", "/api/v2/nothing", good, 200, "outside the document", 0},
		{"a path outside the document that is refused", "/api/v2/nothing", "", 404, "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			recorder := &Recorder{Document: loaded(t), Exceptions: []Exception{unknown}}
			server := recorder.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			w := httptest.NewRecorder()
			r := request("GET", c.target, "Bearer x", "").Request
			server.ServeHTTP(w, r)
			if w.Code != c.status || w.Body.String() != c.body || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("the client got %d %v %s", w.Code, w.Header(), w.Body)
			}
			problems := recorder.Problems()
			if len(problems) > 1 || (len(problems) == 1) != (c.want != "") || c.want != "" && !strings.Contains(problems[0], c.want) {
				t.Errorf("problems %q, want %q", problems, c.want)
			}
			if got := recorder.Excepted(unknown); got != c.excepted {
				t.Errorf("%d exceptions, want %d", got, c.excepted)
			}
			if got := recorder.Answered(recorder.Document.Operation(r), c.status); got != 1 {
				t.Errorf("%d exchanges with status %d", got, c.status)
			}
		})
	}
}
