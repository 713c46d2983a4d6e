package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"outreach.example/conformance/internal/testbed"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/spec"
)

// embedded starts a reference server that lives as long as the test.
func embedded(t *testing.T) *target.Target {
	t.Helper()
	server, err := target.Embedded(t.Context(), dataset.Options{Seed: 1, Rows: 60}, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// strict is a server that refuses moves of accounts with 403, where the reference
// server returns 404. A 403 does not show where an account is.
func strict(t *testing.T) *target.Target {
	t.Helper()
	server := embedded(t)
	base, err := url.Parse(server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(base)
	proxy.ModifyResponse = func(answer *http.Response) error {
		if answer.Request.URL.Path == spec.MustOperation(spec.MoveAccounts).Path && answer.StatusCode == http.StatusNotFound {
			answer.StatusCode = http.StatusForbidden
		}
		return nil
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	forbidding, err := target.URL(server.Profile, front.URL)
	if err != nil {
		t.Fatal(err)
	}
	return forbidding
}

// misplaced makes the profile list an account of the outsider under a sub-workspace, to which
// no key can move it. It returns the account.
func misplaced(server *target.Target) string {
	described := *server.Profile
	described.Workspaces = maps.Clone(described.Workspaces)
	outsider, sub := described.Workspaces[dataset.Outsider], described.Workspaces[dataset.SubA]
	lost := outsider.Accounts[0]
	outsider.Accounts, sub.Accounts = outsider.Accounts[1:], append(slices.Clone(sub.Accounts), lost)
	described.Workspaces[dataset.Outsider], described.Workspaces[dataset.SubA] = outsider, sub
	server.Profile = &described
	return lost
}

// journalled returns a directory with the journal of a killed run.
func journalled(t *testing.T, server *target.Target, entries ...Entry) (dir string) {
	t.Helper()
	dir = t.TempDir()
	j, err := StartJournal(dir, thisRun, server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := j.Open(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Finish(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The journal of a move that a conforming target refuses is removed, although the
// target refuses the way back as well.
func TestCleanupOfMovesThatMustBeRefused(t *testing.T) {
	for _, tc := range []struct {
		name       string
		home, away string
		first      string // to where the account was taken before, if anywhere
		want       string
	}{
		{name: "to another admin's workspace", home: dataset.SubA, away: dataset.Outsider, want: "is in its workspace"},
		{name: "and a cleanup was killed while it looked", home: dataset.SubA, away: dataset.Outsider, first: dataset.SubB, want: "is in its workspace"},
		{name: "out of another admin's workspace", home: dataset.Outsider, away: dataset.SubA, want: "refuses to move it home"},
		{name: "without a paid plan", home: dataset.UnpaidSubA, away: dataset.UnpaidSubB, want: "refuses to move it home"},
		{name: "between siblings", home: dataset.SubA, away: dataset.SubB, want: "is in its workspace"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := strict(t)
			w := server.Profile.Workspaces
			email := w[tc.home].Accounts[0]
			if tc.first != "" {
				g.Expect(moveAccount(t, server, email, w[tc.home].ID, w[tc.first].ID)).To(Equal(http.StatusOK))
			}
			dir := journalled(t, server, Entry{Do: Move, Email: email, Home: w[tc.home].ID, Away: w[tc.away].ID})
			cleaned, err := Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cleaned).To(ConsistOf(And(ContainSubstring(email), ContainSubstring(tc.want))))
			g.Expect(os.ReadDir(dir)).To(BeEmpty())
			if tc.home == dataset.SubA {
				g.Expect(moveAccount(t, server, email, w[dataset.SubA].ID, w[dataset.SubB].ID)).To(Equal(http.StatusOK), "it is at home")
			}
		})
	}
}

// An account is moved home from where the journal says that it was sent, if it is
// there.
func TestCleanupMovesAccountsHome(t *testing.T) {
	for _, tc := range []struct {
		name  string
		away  func(home, other string) string
		moved bool
	}{
		{"moved", func(_, other string) string { return other }, true},
		{"asked for, but not moved", func(_, other string) string { return other }, false},
		{"to a workspace that does not exist", func(home, _ string) string { return home[:35] + "0" }, false},
		{"to a name that is no workspace", func(_, _ string) string { return "nowhere" }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			home, other := server.Profile.Workspaces[dataset.SubA], server.Profile.Workspaces[dataset.SubB]
			email, away := home.Accounts[0], tc.away(home.ID, other.ID)
			if tc.moved {
				g.Expect(moveAccount(t, server, email, home.ID, other.ID)).To(Equal(http.StatusOK))
			}
			dir := journalled(t, server, Entry{Do: Move, Email: email, Home: home.ID, Away: away})

			cleaned, err := Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cleaned).To(ConsistOf(ContainSubstring(email)))
			g.Expect(os.ReadDir(dir)).To(BeEmpty())
			g.Expect(moveAccount(t, server, email, home.ID, other.ID)).To(Equal(http.StatusOK), "it is at home")
		})
	}
}

// The error shows the first few failed rollbacks and counts the rest. The watcher
// gets the number of changes left.
func TestCleanupCountsFailedRollbacks(t *testing.T) {
	for stuck, want := range map[int]string{1: "", 3: "", 4: "\n1 more change was not rolled back\n", 9: "\n6 more changes were not rolled back\n"} {
		g := NewWithT(t)
		server := strict(t)
		lost := misplaced(server)
		w := server.Profile.Workspaces
		var entries []Entry
		for range stuck {
			entries = append(entries, Entry{Do: Move, Email: lost, Home: w[dataset.SubA].ID, Away: w[dataset.Outsider].ID})
		}
		var left []int
		_, err := Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journalled(t, server, entries...), func(n int) { left = append(left, n) })
		g.Expect(err).To(MatchError(ContainSubstring(want)))
		g.Expect(strings.Count(err.Error(), "could not be moved home")).To(Equal(min(stuck, 3)), "%s", err)
		g.Expect(strings.Contains(err.Error(), " more change")).To(Equal(stuck > 3))
		g.Expect(left).To(HaveLen(stuck))
		g.Expect(left[0]).To(Equal(stuck))
		g.Expect(left[stuck-1]).To(Equal(1))
	}
}

// Tests are deleted in the workspace in which they were created. A run creates some
// in the limited workspace to use up a rate limit.
func TestCleanupDeletesInTheWorkspaceOfTheCreation(t *testing.T) {
	{
		g := NewWithT(t)
		server := embedded(t)
		key, ok := server.Profile.FullKey(dataset.Limited)
		g.Expect(ok).To(BeTrue())
		before := testsOf(t, server, key)
		createTest(t, server, key)
		dir := journalled(t, server, Entry{Do: Create, Home: server.Profile.Workspaces[dataset.Limited].ID})
		g.Expect(testsOf(t, server, key)).NotTo(Equal(before))
		g.Expect(Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)).To(ConsistOf(ContainSubstring("is deleted")))
		g.Expect(testsOf(t, server, key)).To(Equal(before))
		g.Expect(os.ReadDir(dir)).To(BeEmpty())
	}
}

// moveAccount asks the server to move an account and returns the status.
func moveAccount(t *testing.T, server *target.Target, email, from, to string) int {
	t.Helper()
	api, err := server.Client(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	c := &cleaner{ctx: t.Context(), api: api, profile: server.Profile, outage: client.Detector{Limit: 1}}
	admin, _ := server.Profile.FullKey(dataset.Admin)
	ex, err := c.move(admin, email, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return ex.Status
}

func createTest(t *testing.T, server *target.Target, key profile.Key) (id, name string) {
	t.Helper()
	return createNamed(t, server, key, Word(thisRun.ID, rand.Uint64()))
}

// createNamed creates a test of that name.
func createNamed(t *testing.T, server *target.Target, key profile.Key, called string) (id, name string) {
	t.Helper()
	body := map[string]any{"name": called, "type": 1, "sending_method": 1, "email_subject": "s", "email_body": "b", "emails": []string{"a@mail.example"}}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	answer := asked(t, server, key, spec.CreatePlacementTest, encoded)
	id, _ = answer["id"].(string)
	name, _ = answer["name"].(string)
	return id, name
}

// testsOf returns the ids of the newest tests that the key sees.
func testsOf(t *testing.T, server *target.Target, key profile.Key) (ids []string) {
	t.Helper()
	items, _ := asked(t, server, key, spec.ListPlacementTests, nil)["items"].([]any)
	for _, item := range items {
		row, _ := item.(map[string]any)
		id, _ := row["id"].(string)
		ids = append(ids, id)
	}
	return ids
}

// asked returns the body of the response, which must be a 200.
func asked(t *testing.T, server *target.Target, key profile.Key, operation string, body []byte) (answer map[string]any) {
	t.Helper()
	op := spec.MustOperation(operation)
	request, err := http.NewRequestWithContext(t.Context(), op.Method, server.BaseURL+op.Path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key.Token)
	request.Header.Set("Content-Type", "application/json")
	if body == nil {
		request.URL.RawQuery = "limit=100&sort_order=desc"
	}
	came, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = came.Body.Close() }()
	if err := json.NewDecoder(came.Body).Decode(&answer); err != nil || came.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %v", came.StatusCode, err, answer)
	}
	return answer
}

// An interruption of the run does not stop the cleanup after it.
func TestCleanupAfterAnInterruptedRun(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	key, _ := server.Profile.FullKey(dataset.Main)
	id, _ := createTest(t, server, key)
	dir := journalled(t, server, Entry{Do: Create, Home: server.Profile.Workspaces[dataset.Main].ID})
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Cleanup(interrupted, testbed.Client(t, server), server.Profile, dir, nil)
	g.Expect(err).To(MatchError(client.ErrCanceled))
	g.Expect(CleanupAfterRun(interrupted, testbed.Client(t, server), server.Profile, dir, nil)).To(ConsistOf(ContainSubstring("is deleted")))
	g.Expect(testsOf(t, server, key)).NotTo(ContainElement(id))
}

// Cleanup sends no more requests to a target that has stopped responding.
func TestCleanupOfADeadTarget(t *testing.T) {
	g := NewWithT(t)
	var requests atomic.Int64
	dead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer dead.Close()
	server, err := target.URL(profile.Embedded(), dead.URL)
	g.Expect(err).NotTo(HaveOccurred())
	var entries []Entry
	for range 9 {
		entries = append(entries, Entry{Do: Move, Email: server.Profile.Workspaces[dataset.SubA].Accounts[0], Away: server.Profile.Workspaces[dataset.SubB].ID})
	}
	_, err = Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journalled(t, server, entries...), nil)
	g.Expect(err).To(MatchError(ContainSubstring("6 more changes were not rolled back")))
	g.Expect(requests.Load()).To(BeEquivalentTo(maxUnanswered))
}

// Cleanup reports a test that exists after its deletion, and keeps the journal.
func TestCleanupChecksDeletions(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	base, err := url.Parse(server.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	proxy := httputil.NewSingleHostReverseProxy(base)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Method = http.MethodGet // so nothing is deleted
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	lying, err := target.URL(server.Profile, front.URL)
	g.Expect(err).NotTo(HaveOccurred())
	key, _ := server.Profile.FullKey(dataset.Main)
	id, _ := createTest(t, server, key)
	dir := journalled(t, lying, Entry{Do: Create, Home: server.Profile.Workspaces[dataset.Main].ID})
	_, err = Cleanup(t.Context(), testbed.Client(t, lying), lying.Profile, dir, nil)
	g.Expect(err).To(MatchError(And(ContainSubstring(id), ContainSubstring("the target lists it after it answered its deletion with 200"))))
	g.Expect(os.ReadDir(dir)).To(HaveLen(1))
}

// What a run could not find out is told with the run. Cleanup says so if nothing was left.
func TestWhatARunCouldNotFindOut(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	dir := journalled(t, server, Entry{Do: Create})
	g.Expect(Unsettled(dir, server.BaseURL, thisRun.ID)).To(Equal([]string{"this run could not find out what became of each test that it asked for"}))
	g.Expect(Unsettled(dir, server.BaseURL, "")).To(Equal([]string{"the earlier run " + thisRun.ID + " could not find out what became of each test that it asked for"}))
	g.Expect(Unsettled(dir, "http://127.0.0.1:1", thisRun.ID)).To(BeEmpty())
	g.Expect(Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)).To(ConsistOf(HaveSuffix("nothing of the run is left on the target; the journal is removed")))
	g.Expect(Unsettled(dir, server.BaseURL, thisRun.ID)).To(BeEmpty())
}
