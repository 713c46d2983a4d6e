package contract

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"outreach.example/conformance/schemas"
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
		{"a deletion with another body", "DELETE", tests + "/" + id, key, "{}", "no body"},
		{"a body", "POST", move, key, moved, ""},

		{"no key", "GET", lists, "", "", "Bearer <API_KEY>"},
		{"another scheme", "GET", lists, "Basic x", "", "Bearer <API_KEY>"},
		{"an unknown path", "GET", "/api/v2/nothing", key, "", "no operation"},
		{"another method", "PUT", lists, key, "", "this path has GET"},
		{"an unknown query parameter", "GET", lists + "?limt=1", key, "", `unknown query parameter "limt"`},
		{"a parameter of another operation", "GET", lists + "?sort_order=asc", key, "", `unknown query parameter "sort_order"`},
		{"a parameter twice", "GET", lists + "?limit=1&limit=2", key, "", `query parameter "limit" must have one value, not 2`},
		{"a limit out of range", "GET", lists + "?limit=101", key, "", "limit"},
		{"a limit that is no number", "GET", lists + "?limit=x", key, "", "limit"},
		{"an id that is no UUID", "GET", tests + "/1", key, "", `path parameter "id": value must be a UUID (got "1")`},
		{"no body", "POST", move, key, "", "body"},
		{"a body where there is none", "GET", lists, key, moved, "body"},
		{"a body that is no JSON", "POST", move, key, "{", "body"},
		{"a missing field", "POST", "/api/v2/accounts/move", key, `{}`, "is missing"},
		{"a field of another type", "POST", move, key, `{"id": 1, "subsequence_id": "` + id + `"}`, "/id"},
		{"a field in a bad format", "POST", move, key, `{"id": "1", "subsequence_id": "` + id + `"}`, "/id"},
		{"an unknown field", "POST", move, key, `{"x": 1, "id": "` + id + `", "subsequence_id": "` + id + `"}`, "/x in the body is unknown: the members are id, subsequence_id"},
		{"a read-only field", "POST", tests, key, string(example(t, "InboxPlacementTest", nil)), "/id in the body is read-only"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.target, nil)
			if c.token != "" {
				r.Header.Set("Authorization", c.token)
			}
			if c.body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			found := fmt.Sprint(d.Judge(r, []byte(c.body)).Violations)
			if (found != "[]") != (c.want != "") || !strings.Contains(found, c.want) {
				t.Errorf("%s, want %q", found, c.want)
			}
		})
	}
}

// A large body shows its first violation alone, and one that is too large is not read.
func TestLargeBodies(t *testing.T) {
	d := loaded(t)
	for _, c := range []struct {
		items, want int
		rule        string
	}{{2, 2, MemberValue}, {manyErrors, 1, MemberValue}, {MaxBody, 1, BodySyntax}} {
		r := httptest.NewRequest("POST", "/api/v2/campaigns/"+id+"/variables", nil)
		r.Header.Set("Authorization", "Bearer x")
		r.Header.Set("Content-Type", "application/json")
		found := d.Judge(r, []byte(`{"variables":[1`+strings.Repeat(",1", c.items-1)+`]}`)).Violations
		if len(found) != c.want || found[0].Rule != c.rule {
			t.Errorf("%d items: %d violations, the first is %v", c.items, len(found), found[:1])
		}
	}
}
