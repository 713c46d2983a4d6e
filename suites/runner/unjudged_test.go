package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A full run leaves no response without a verdict.
func TestEveryResponseIsJudged(t *testing.T) {
	results := first(t)
	if n := results.Traffic.Unjudged; n != 0 {
		t.Errorf("%d of %d responses without a verdict", n, results.Traffic.Requests)
	}
	if results.Traffic.Requests == 0 {
		t.Error("nothing was sent")
	}
}

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

// answered is an exchange with the reference server, whose response a damage may change.
type answered struct {
	request *http.Request
	status  int
	body    map[string]any // nil if it is no object
}

func (a answered) get(path string) bool {
	return a.request.Method == http.MethodGet && strings.HasSuffix(a.request.URL.Path, path)
}

func (a answered) has(parameter string) bool { return a.request.URL.Query().Has(parameter) }

// damaging is a way to a target on which the damage changes some responses. It reports
// whether it changed one.
func damaging(struck *atomic.Bool, damage func(*answered) bool) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return answer, err
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			return nil, err
		}
		a := answered{request: r, status: answer.StatusCode}
		_ = json.Unmarshal(body, &a.body) // others are left alone
		if damage(&a) {
			struck.Store(true)
			answer.StatusCode = a.status
			if body, err = json.Marshal(a.body); err != nil {
				return nil, err
			}
		}
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer.Header.Del("Content-Length")
		return answer, nil
	})
}

func (a *answered) fails() bool { a.status = http.StatusInternalServerError; return true }

// Whatever a spec meets beside its own check fails a requirement.
func TestWhatASpecMeetsBesideItsCheckFails(t *testing.T) {
	t.Parallel()
	const tests = "/inbox-placement-tests"
	secondKey := func(server *target.Target, r *http.Request) bool {
		key, _ := server.Profile.FullKey(dataset.Second)
		return strings.HasSuffix(r.Header.Get("Authorization"), key.Token)
	}
	for name, tc := range map[string]struct {
		operations   []string
		requirements []string
		breaks       string
		damage       func(*target.Target, *answered) bool
	}{
		"500 to a filter that matches nothing": {
			[]string{spec.ListSubsequences}, []string{"ISOLATION-FILTER"}, "STATUS-ALLOWED on " + spec.ListSubsequences,
			func(_ *target.Target, a *answered) bool {
				items, _ := a.body["items"].([]any)
				return a.get("/subsequences") && a.has("parent_campaign") && len(items) == 0 && a.fails()
			},
		},
		"500 to the deletion of a test in rollback": {
			[]string{spec.CreatePlacementTest, spec.DeletePlacementTest}, []string{"STATE-CREATE-NAME"}, "STATUS-ALLOWED on " + spec.DeletePlacementTest,
			func(_ *target.Target, a *answered) bool {
				return a.request.Method == http.MethodDelete && a.status == http.StatusOK && a.fails()
			},
		},
		"500 to the list before the first creation": {
			[]string{spec.CreatePlacementTest, spec.ListPlacementTests}, []string{"AUTH-KEY-UNKNOWN"}, "STATUS-ALLOWED on " + spec.ListPlacementTests,
			func(_ *target.Target, a *answered) bool {
				return a.get(tests) && a.has("sort_order") && a.status == http.StatusOK && a.fails()
			},
		},
		"500 to a get of an old test beside the list": {
			[]string{spec.GetPlacementTest}, []string{"STATE-GET-LIST"}, "STATUS-200 on " + spec.GetPlacementTest,
			func(_ *target.Target, a *answered) bool {
				name, _ := a.body["name"].(string)
				return a.request.Method == http.MethodGet && !a.get(tests) && name != "" && !strings.Contains(name, "conformance") && a.fails()
			},
		},
		"a search without an end": {
			[]string{spec.ListLeadLists}, []string{"FILTER-SEARCH-*"}, "FILTER-WALK on " + spec.ListLeadLists,
			func(_ *target.Target, a *answered) bool {
				a.body["next_starting_after"] = "2000-01-01T00:00:00.000Z"
				return a.get("/lead-lists") && a.has("search")
			},
		},
		"a list of another workspace without an end": {
			[]string{spec.ListLeadLists}, []string{"ISOLATION-LIST"}, "PAGE-WALK-ENDS on " + spec.ListLeadLists,
			func(server *target.Target, a *answered) bool {
				a.body["next_starting_after"] = "2000-01-01T00:00:00.000Z"
				return a.get("/lead-lists") && secondKey(server, a.request)
			},
		},
		"a row of another workspace twice": {
			[]string{spec.ListLeadLists}, []string{"ISOLATION-LIST"}, "PAGE-WALK-ONCE on " + spec.ListLeadLists,
			func(server *target.Target, a *answered) bool {
				items, _ := a.body["items"].([]any)
				if !a.get("/lead-lists") || !secondKey(server, a.request) || len(items) == 0 {
					return false
				}
				a.body["items"] = append(items, items[0])
				return true
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, server := NewWithT(t), embedded(t)
			requirement, _, _ := strings.Cut(tc.breaks, " ")
			var struck atomic.Bool
			way := damaging(&struck, func(a *answered) bool { return a.body != nil && tc.damage(server, a) })
			results := judged(t, t.Context(), Config{Target: server, Transport: way,
				Selection: Selection{Operations: tc.operations, Requirements: append(tc.requirements, requirement)}})
			g.Expect(struck.Load()).To(BeTrue(), "nothing was damaged")
			g.Expect(of(results, reports.Fail)).To(ConsistOf(tc.breaks))
			g.Expect(results.Verdict).To(Equal(reports.Failed))
		})
	}
}
