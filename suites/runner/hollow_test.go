package runner

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
)

// saying answers every request with 200 and the body, whatever was asked for.
func saying(contentType, body string) roundTripper { return always(http.StatusOK, contentType, body) }

// always answers every request alike, whatever was asked for.
func always(status int, contentType, body string) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header()["Content-Type"] = nil // or the recorder would guess one
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.WriteString(body)
		answer := w.Result()
		answer.Request = r
		return answer, nil
	}
}

// What a server may pass that answers everything alike, and why that is earned:
// the answer itself is what the requirement asks for.
var (
	status200 = map[string]string{
		"STATUS-200":     "the valid requests were answered with 200",
		"STATUS-ALLOWED": "an unknown query parameter was answered with 200",
		"SERVED":         "the operation was answered with something other than 404, 405 and 501",
	}
	typed   = map[string]string{"CONTENT-TYPE": "the header names JSON"}
	written = map[string]string{
		"BODY-JSON":      "the body is JSON",
		"OPTIONS-SERVED": "the provider options are JSON, and no shape of them is shown",
	}
	formed = map[string]string{"BODY-TYPE": "the body is an object or an array, where such is due"}
	scoped = map[string]string{
		"SCOPE-EXACT":        "the key was let in to what is documented",
		"SCOPE-RESOURCE-ALL": "the key was let in to what is documented",
		"SCOPE-ALL-ACTION":   "the key was let in to what is documented",
		"SCOPE-ALL-ALL":      "the key was let in to what is documented",
		"SCOPE-SEVERAL":      "the key was let in to what is documented",
	}
	alike = map[string]string{"SCOPE-SAME-ROWS": "every key saw the same row"}
	paged = map[string]string{
		"PAGE-ITEMS-PRESENT":      "there are items",
		"PAGE-ITEMS-TYPE":         "they are an array",
		"PAGE-LIMIT-ACCEPTED":     "each limit was answered with a page",
		"QUERY-ACCEPTED":          "each value was answered with a page",
		"PAGE-LIMIT-ABSENT":       "no limit was answered with a page",
		"PAGE-LIMIT-OUT-OF-RANGE": "pages of no more than 100 items, which is all that is asked",
		"PAGE-WALK-ENDS":          "no page has a cursor, so that the first is the last",
	}
	present = map[string]string{"SHAPE-*-PRESENT": "the member is there"}
	valued  = map[string]string{
		"SHAPE-*-TYPE":  "the member has its type",
		"SHAPE-*-VALUE": "and a value that it may have",
	}
)

func together(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// A server that answers everything alike has kept hardly any rule: what it
// passes stands here, each with its reason, and nothing else is green.
func TestHollowServersPassNothingTheyHaveNotEarned_long(t *testing.T) {
	t.Parallel()
	const json = "application/json"
	refusal := func(status, text string) string {
		return `{"statusCode":` + status + `,"error":"` + text + `","message":"no"}`
	}
	server := embedded(t)
	for _, tc := range []struct {
		name   string
		answer roundTripper
		earned map[string]string // pattern of requirements → reason
	}{
		{"empty object", saying(json, `{}`), together(status200, typed, written, formed)},
		{"page without items", saying(json, `{"items":[]}`), together(status200, typed, written, formed, scoped, paged)},
		{"page of an empty object", saying(json, `{"items":[{}]}`), together(status200, typed, written, formed, scoped, paged, alike,
			map[string]string{"PAGE-LIMIT-HONOURED": "one item is not more than any limit"})},
		{"empty array", saying(json, `[]`), together(status200, typed, written, formed, scoped)},
		{"array of an empty object", saying(json, `[{}]`), together(status200, typed, written, formed, scoped, alike)},
		{"null", saying(json, `null`), together(status200, typed, written)},
		{"id of null", saying(json, `{"id":null}`), together(status200, typed, written, formed, present)},
		{"the same id", saying(json, `{"id":"019535d9-3df7-79fb-b466-fa907fa17f9e"}`), together(status200, typed, written, formed, scoped, alike, present, valued,
			map[string]string{"META-ELSEWHERE": "a thing with an id, and no metadata"})},
		{"success", saying(json, `{"status":"success"}`), together(status200, typed, written, formed, present, valued)},
		{"web page", saying("text/html", `<html></html>`), status200},
		{"empty body", saying(json, ``), together(status200, typed)},
		{"no content", always(204, "", ``), nil},
		{"redirect", always(302, "text/html", ``), nil},
		{"401", always(401, json, refusal("401", "Unauthorized")), nil},
		{"402", always(402, json, refusal("402", "Payment Required")), map[string]string{"ERROR-402-*": "the body is the documented one"}},
		{"403", always(403, json, `{}`), nil},
		{"404", always(404, json, refusal("404", "Not Found")), nil}, // it serves nothing
		{"500", always(500, json, `{}`), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: server, Transport: tc.answer})
			want := reports.Failed
			if tc.name == "401" || tc.name == "403" { // which is what a wrong key looks like
				want = reports.Inconclusive
			}
			g.Expect(results.Verdict).To(Equal(want))
			g.Expect(of(results, reports.Error)).To(BeEmpty())
			used := map[string]bool{}
			for _, c := range results.Checks {
				if c.Outcome != reports.Pass {
					continue
				}
				at := slices.IndexFunc(slices.Sorted(maps.Keys(tc.earned)), func(pattern string) bool {
					ok, err := path.Match(pattern, c.Requirement)
					return ok && err == nil
				})
				if at < 0 {
					t.Errorf("%s on %s passes", c.Requirement, c.Operation)
					continue
				}
				used[slices.Sorted(maps.Keys(tc.earned))[at]] = true
			}
			for pattern, reason := range tc.earned {
				if !used[pattern] {
					t.Errorf("%s does not pass, although %s", pattern, reason)
				}
			}
		})
	}
}

// Nor do refusals count of a run that sends nothing else.
func TestRefusingAllIsNoPass(t *testing.T) {
	server := embedded(t)
	refuse := always(401, "application/json", `{"statusCode":401,"error":"Unauthorized","message":"no"}`)
	taken := false
	refusing := roundTripper(func(r *http.Request) (*http.Response, error) {
		if !taken { // the question whether the key is taken, which comes first and alone
			taken = true
			return saying("application/json", `{}`)(r)
		}
		return refuse(r)
	})
	results := judged(t, t.Context(), Config{Target: server, Transport: refusing, Selection: Selection{Requirements: []string{"AUTH-*"}}})
	g := NewWithT(t)
	g.Expect(of(results, reports.Pass)).To(BeEmpty())
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	for _, c := range results.Checks {
		if c.Requirement != "AUTH-NO-EFFECT" { // it needs rows to look at
			g.Expect(c.Missing).To(ContainElement("a valid request of "+c.Operation+" that does not also get 401"), "%s", c.Requirement)
		}
	}
}
