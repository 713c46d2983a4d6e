package contract

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/schemas"
)

func loaded(t *testing.T) *Document {
	t.Helper()
	d, err := Load()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return d
}

const id = "0198c0de-0000-7000-8000-00000000000a"

func TestRequests(t *testing.T) {
	d := loaded(t)
	doc, err := schemas.Document()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	resource, err := json.Marshal(doc.Components.Schemas["InboxPlacementTest"].Value.Example)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	const (
		lists = "/api/v2/lead-lists"
		tests = "/api/v2/inbox-placement-tests"
		move  = "/api/v2/leads/subsequence/move"
		moved = `{"id": "` + id + `", "subsequence_id": "` + id + `"}`
		key   = "Bearer x"
	)
	for _, c := range []struct {
		method, target, token, body string
		want                        string // in the error; empty for a valid request
	}{
		{"GET", lists + "?limit=100", key, "", ""},
		{"GET", tests + "/" + id, key, "", ""},
		{"DELETE", tests + "/" + id, key, "", ""},
		{"DELETE", tests + "/" + id, key, "null", ""},
		{"DELETE", tests + "/" + id, key, "{}", "no body"},
		{"POST", move, key, moved, ""},

		{"GET", lists, "", "", "Bearer <API_KEY>"},
		{"GET", lists, "Basic x", "", "Bearer <API_KEY>"},
		{"GET", "/api/v2/nothing", key, "", "no operation"},
		{"PUT", lists, key, "", "this path has GET"},
		{"GET", lists + "?limt=1", key, "", `unknown query parameter "limt"`},
		{"GET", lists + "?sort_order=asc", key, "", `unknown query parameter "sort_order"`},
		{"GET", lists + "?limit=1&limit=2", key, "", `query parameter "limit" must have one value, not 2`},
		{"GET", lists + "?limit=101", key, "", "limit"},
		{"GET", lists + "?limit=x", key, "", "limit"},
		{"GET", tests + "/1", key, "", `path parameter "id": value must be a UUID (got "1")`},
		{"POST", move, key, "", "body"},
		{"GET", lists, key, moved, "body"},
		{"POST", move, key, "{", "body"},
		{"POST", "/api/v2/accounts/move", key, `{}`, "is missing"},
		{"POST", move, key, `{"id": 1, "subsequence_id": "` + id + `"}`, "/id"},
		{"POST", move, key, `{"id": "1", "subsequence_id": "` + id + `"}`, "/id"},
		{"POST", move, key, `{"x": 1, "id": "` + id + `", "subsequence_id": "` + id + `"}`, "/x in the body is unknown: the members are id, subsequence_id"},
		{"POST", tests, key, string(resource), "/id in the body is read-only"},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		if c.token != "" {
			r.Header.Set("Authorization", c.token)
		}
		if c.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		found := fmt.Sprint(d.Judge(r, []byte(c.body)).Violations)
		if (found != "[]") != (c.want != "") || !strings.Contains(found, c.want) {
			t.Errorf("%s %s %s: %s, want %q", c.method, c.target, c.body, found, c.want)
		}
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
