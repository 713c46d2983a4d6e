package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// mannered runs all requirements behind a gate, with a changed profile.
func mannered(t *testing.T, code int, change func(*profile.Profile)) (front *gate, before, after state, results reports.Results) {
	t.Helper()
	base, truth := servingBuilt(t)
	front = newGate(t, base)
	profile := profile.Embedded()
	change(profile)
	text, err := profile.YAML("")
	if err != nil {
		t.Fatal(err)
	}
	before = stateOf(t, base, truth)
	e := exitsWith(t, code, nil, runCommand, "--target", front.URL, "--target-profile", written(t, "server.yaml", string(text)))
	return front, before, stateOf(t, base, truth), e.results(t)
}

// outcomes returns the outcomes of the requirement by operation.
func outcomes(results reports.Results, requirement string) map[string]reports.Outcome {
	all := map[string]reports.Outcome{}
	for _, c := range results.Checks {
		if c.Requirement == requirement {
			all[c.Operation] = c.Outcome
		}
	}
	return all
}

// With writes: none a run sends no unsafe request, and checks that need one are not
// assessed.
func TestWritesNone_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	front, before, after, results := mannered(t, 0, func(p *profile.Profile) { p.Writes = profile.WritesNone })
	for _, s := range front.saw() {
		g.Expect(s.unsafe()).To(BeFalse(), "%s %s", s.method, s.path)
	}
	g.Expect(after).To(Equal(before))
	g.Expect(len(front.saw())).To(BeNumerically(">", 1000))
	for _, c := range results.Checks {
		if op := spec.MustOperation(c.Operation); op.Unsafe() {
			g.Expect(c.Outcome).To(Equal(reports.NotAssessed), "%s on %s", c.Requirement, c.Operation)
			g.Expect(c.Missing).To(ContainElement(ContainSubstring("writes: none")), "%s on %s", c.Requirement, c.Operation)
		}
	}
	g.Expect(outcomes(results, "STATUS-200")[spec.ListLeadLists]).To(Equal(reports.Pass))
}

// With writes: own the target has its original state after the run: the run makes no
// change that cannot be rolled back.
func TestWritesOwn_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	front, before, after, results := mannered(t, 0, func(p *profile.Profile) { p.Writes = profile.WritesOwn })
	g.Expect(after).To(Equal(before))
	changed := 0
	for _, s := range front.saw() {
		if s.unsafe() && s.status == http.StatusOK {
			changed++
			g.Expect(s.path).To(HavePrefix(spec.MustOperation(spec.CreatePlacementTest).Path), "%s", s.method)
		}
	}
	g.Expect(changed).To(BeNumerically(">", 10))
	g.Expect(outcomes(results, "STATUS-200")).To(And(
		HaveKeyWithValue(spec.CreatePlacementTest, reports.Pass), HaveKeyWithValue(spec.DeletePlacementTest, reports.Pass),
		HaveKeyWithValue(spec.MoveAccounts, reports.NotAssessed), HaveKeyWithValue(spec.DeleteSubsequence, reports.NotAssessed)))
}

// With writes: listed a run changes only rows of the profile and rows that it created.
func TestWritesListed_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	front, before, after, _ := mannered(t, 0, func(p *profile.Profile) { p.Writes = profile.WritesListed })
	g.Expect(after.withoutLasting()).To(Equal(before.withoutLasting()))
	g.Expect(lastingIsListed(before, after)).To(Succeed())
	text, err := json.Marshal(profile.Embedded())
	g.Expect(err).NotTo(HaveOccurred())
	creation := spec.MustOperation(spec.CreatePlacementTest).Path
	for _, s := range front.saw() {
		if !s.unsafe() || s.status != http.StatusOK || strings.HasPrefix(s.path, creation) {
			continue
		}
		var body map[string]any
		if s.body != "" {
			g.Expect(json.Unmarshal([]byte(s.body), &body)).To(Succeed())
		}
		named := []any{body["id"], body["subsequence_id"], body["source_workspace_id"], body["destination_workspace_id"]}
		if parts := strings.Split(s.path, "/"); body["id"] == nil && body["emails"] == nil {
			named = append(named, parts[4]) // /api/v2/RESOURCE/ID
		}
		for _, id := range named {
			if id, ok := id.(string); ok {
				g.Expect(string(text)).To(ContainSubstring(id), "%s %s %s", s.method, s.path, s.body)
			}
		}
	}
}

// judgingRequests counts the requests that cannot belong to a rollback. One moves accounts,
// reads a test before it deletes it, and at the end lists the tests that are left.
func judgingRequests(all []seen) int {
	tests := spec.MustOperation(spec.ListPlacementTests).Path
	deleted := map[string]bool{}
	for _, s := range all {
		if s.method == http.MethodDelete {
			deleted[s.path] = true
		}
	}
	for n := len(all); n > 0 && (deleted[all[n-1].path] || all[n-1].method == http.MethodGet && all[n-1].path == tests); n-- {
		all = all[:n-1]
	}
	n := 0
	for _, s := range all {
		if !deleted[s.path] && s.path != spec.MustOperation(spec.MoveAccounts).Path {
			n++
		}
	}
	return n
}

// A run sends no more requests than its budget. The rest of the checks is not assessed.
func TestBudget_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	const budget = 300
	front, before, after, results := mannered(t, 0, func(p *profile.Profile) { p.Budget = budget })
	g.Expect(after.withoutLasting()).To(Equal(before.withoutLasting()), "cleaning up is not in the budget")
	judging := judgingRequests(front.saw())
	g.Expect(judging).To(And(BeNumerically("<=", budget+1), BeNumerically(">", budget/2)), "and one to see that the target is there")
	missing := 0
	for _, c := range results.Checks {
		if c.Outcome == reports.NotAssessed && strings.Contains(strings.Join(c.Missing, " "), "the budget of 300 is used up") {
			missing++
		}
	}
	g.Expect(missing).To(BeNumerically(">", 500))
}

// No request follows a redirect to another host, with or without a key.
func TestRedirectsAreNotFollowed_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var strayed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" { // the check that the target is reachable
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked.Add(1)
		http.Redirect(w, r, elsewhere.URL+r.URL.RequestURI(), []int{301, 302, 303, 307, 308}[asked.Load()%5])
	}))
	t.Cleanup(server.Close)
	exitsWith(t, 1, nil, runCommand, "--target", server.URL, "--profile", string(spec.ProfileShape))
	toTheEnd(t, command(t, nil, "target", "check", "--target", server.URL))
	toTheEnd(t, command(t, []string{"OUTREACH_KEY_MAIN=x"}, "target", "init", "--target", server.URL))
	g.Expect(asked.Load()).To(BeNumerically(">", 20))
	g.Expect(strayed.Load()).To(BeZero())
}

// A proxy that cannot be used is named by its variable, and its password nowhere.
func TestABrokenProxyIsNamed(t *testing.T) {
	t.Parallel()
	for _, proxy := range []string{"http://user:geheim@127.0.0.1:1", "user:geheim@::bad::"} {
		e := exitsWith(t, exitCannotTell, []string{"HTTP_PROXY=" + proxy, "http_proxy=" + proxy, "NO_PROXY=", "no_proxy="},
			runCommand, "--target", "http://server.example", "--target-profile", "embedded")
		NewWithT(t).Expect(e.stderr).To(And(ContainSubstring("is unreachable: connecting to the proxy of HTTP_PROXY failed: "), Not(ContainSubstring("geheim"))))
		NewWithT(t).Expect(contents(t, filepath.Join(e.dir, defaultOutput, resultsFile))).NotTo(ContainSubstring("geheim"))
	}
}
