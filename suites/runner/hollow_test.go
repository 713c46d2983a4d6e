package runner

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
)

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
		"SCOPE-EXACT": "the key was let in", "SCOPE-RESOURCE-ALL": "the key was let in", "SCOPE-ALL-*": "the key was let in", "SCOPE-SEVERAL": "the key was let in",
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
		{"empty object", always(200, json, `{}`), together(status200, typed, written, formed)},
		{"page without items", always(200, json, `{"items":[]}`), together(status200, typed, written, formed, scoped, paged)},
		{"page of an empty object", always(200, json, `{"items":[{}]}`), together(status200, typed, written, formed, scoped, paged, alike,
			map[string]string{"PAGE-LIMIT-HONOURED": "one item is not more than any limit"})},
		{"empty array", always(200, json, `[]`), together(status200, typed, written, formed, scoped)},
		{"the same id", always(200, json, `{"id":"019535d9-3df7-79fb-b466-fa907fa17f9e"}`), together(status200, typed, written, formed, scoped, alike, present, valued,
			map[string]string{"META-ELSEWHERE": "a thing with an id, and no metadata"})},
		{"success", always(200, json, `{"status":"success"}`), together(status200, typed, written, formed, present, valued)},
		{"web page", always(200, "text/html", `<html></html>`), status200},
		{"empty body", always(200, json, ``), together(status200, typed)},
		{"no content", always(204, "", ``), nil},
		{"401", always(401, json, refusal("401", "Unauthorized")), nil},
		{"402", always(402, json, refusal("402", "Payment Required")), map[string]string{"ERROR-402-*": "the body is the documented one"}},
		{"404", always(404, json, refusal("404", "Not Found")), nil}, // it serves nothing
		{"500", always(500, json, `{}`), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: server, Transport: tc.answer})
			want := reports.Failed
			if tc.name == "401" { // which is what a wrong key looks like
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

// Refusals count only beside a valid request that is served.
func TestRefusingAllIsNoPass(t *testing.T) {
	g := NewWithT(t)
	refuse := always(401, "application/json", `{"statusCode":401,"error":"Unauthorized","message":"no"}`)
	served := false
	results := judged(t, t.Context(), Config{Target: embedded(t), Selection: Selection{Requirements: []string{"AUTH-*"}},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if !served { // the question whether the key is taken, which comes first and alone
				served = true
				return always(200, "application/json", `{}`)(r)
			}
			return refuse(r)
		})})
	g.Expect(of(results, reports.Pass)).To(BeEmpty())
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.Checks).To(ContainElement(HaveField("Missing", ContainElement("a valid request of lead-lists.list that does not also get 401"))))
}
