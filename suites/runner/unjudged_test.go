package runner

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// The number would show a request of which nobody says what is allowed.
func TestUndeclaredRequestsAreCounted(t *testing.T) {
	g, server := NewWithT(t), embedded(t)
	env, err := NewEnv(Config{Target: server})
	g.Expect(err).NotTo(HaveOccurred())
	defer env.Client.Close()
	request := client.Request{Operation: spec.ListLeadLists, Path: spec.MustOperation(spec.ListLeadLists).Path, Query: url.Values{"limit": {"1"}}}
	env.Client.Do(t.Context(), request)
	g.Expect(env.Unjudged()).To(Equal(1), "it bypasses those who judge")
	env.Send(t.Context(), request)
	g.Expect(env.Unjudged()).To(Equal(2), "it does not say what is allowed")
	request.Allowed = client.Only(http.StatusUnauthorized)
	env.Send(t.Context(), request)
	g.Expect(env.Unjudged()).To(Equal(2))
	env.SendUnspecified(t.Context(), client.Request{Path: "/api/v2/nothing"})
	g.Expect(env.Unjudged()).To(Equal(2))
}

// Whatever a spec meets beside its own check fails a requirement.
func TestWhatASpecMeetsBesideItsCheckFails(t *testing.T) {
	by := func(r *http.Request, server *target.Target, role string) bool {
		return r.Header.Get("Authorization") == "Bearer "+tokenOf(server, role)
	}
	endless := func(page map[string]any) { page["next_starting_after"] = "2000-01-01T00:00:00.000Z" }
	for name, tc := range map[string]struct {
		operations   []string
		requirements []string
		breaks       string
		damage       func(server *target.Target, r *http.Request, body map[string]any) (broken bool) // the status becomes 500
	}{
		"500 to a filter that matches nothing": {[]string{spec.ListSubsequences}, []string{"ISOLATION-FILTER"}, "STATUS-ALLOWED on " + spec.ListSubsequences,
			func(_ *target.Target, r *http.Request, body map[string]any) bool {
				items, _ := body["items"].([]any)
				return asks(r, spec.ListSubsequences) && r.URL.Query().Has("parent_campaign") && len(items) == 0
			}},
		"500 to the deletion of a test in rollback": {[]string{spec.CreatePlacementTest, spec.DeletePlacementTest}, []string{"STATE-CREATE-NAME"}, "STATUS-ALLOWED on " + spec.DeletePlacementTest,
			func(_ *target.Target, r *http.Request, _ map[string]any) bool { return r.Method == http.MethodDelete }},
		"a search without an end": {[]string{spec.ListLeadLists}, []string{"FILTER-SEARCH-*"}, "FILTER-WALK on " + spec.ListLeadLists,
			func(_ *target.Target, r *http.Request, body map[string]any) bool {
				if asks(r, spec.ListLeadLists) && r.URL.Query().Has("search") {
					endless(body)
				}
				return false
			}},
		"a row of another workspace twice": {[]string{spec.ListLeadLists}, []string{"ISOLATION-LIST"}, "PAGE-WALK-ONCE on " + spec.ListLeadLists,
			func(server *target.Target, r *http.Request, body map[string]any) bool {
				if items, _ := body["items"].([]any); len(items) > 0 && asks(r, spec.ListLeadLists) && by(r, server, dataset.Second) {
					body["items"] = append(items, items[0])
				}
				return false
			}},
	} {
		t.Run(name, func(t *testing.T) {
			g, server := NewWithT(t), embedded(t)
			requirement, _, _ := strings.Cut(tc.breaks, " ")
			results := judged(t, t.Context(), Config{Target: server,
				Transport: changing(func(r *http.Request, answer *http.Response, body any) any {
					if one, ok := body.(map[string]any); ok && tc.damage(server, r, one) {
						answer.StatusCode = http.StatusInternalServerError
					}
					return body
				}),
				Selection: Selection{Operations: tc.operations, Requirements: append(tc.requirements, requirement)}})
			g.Expect(of(results, reports.Fail)).To(ConsistOf(tc.breaks))
			g.Expect(results.Verdict).To(Equal(reports.Failed))
		})
	}
}
