package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"

	"outreach.example/conformance/spec"
)

// A spec may delete a test only once it is proven to be the run's own.
func TestPermitToDeleteTests(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	ex, _ := f.send(f.creation(testName))
	id, _ := rowIn(ex)["id"].(string)
	remove := func(id string) Change { return f.change(dataset.Main, spec.DeletePlacementTest, id, nil) }
	g.Expect(f.Permit(t.Context(), remove(id))).To(Succeed())
	g.Expect(f.Permit(t.Context(), remove("not-a-uuid"))).To(Succeed())
	g.Expect(f.Permit(t.Context(), remove(f.Profile.Workspaces[dataset.Second].PlacementTests[0]))).To(Succeed(), "which must be refused")

	var denied *Denied
	err := f.Permit(t.Context(), remove("01890000-0000-7000-8000-000000000001"))
	g.Expect(errors.As(err, &denied)).To(BeTrue(), "%v", err)
	listed := f.Profile.Workspaces[dataset.Main].PlacementTests[0]
	again := f.creation(testName)
	begun, err := f.Before(again)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = f.After(again, begun, client.Exchange{Status: http.StatusOK, Sent: time.Now()}, listed)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(errors.As(f.Permit(t.Context(), remove(listed)), &denied)).To(BeTrue())
	g.Expect(denied.Input).To(ContainSubstring("proof that the test"))
}

// A response that names a test which was listed before is held against the target. An id
// that only looks old is not: the target's clock may be behind.
func TestForeignTestsAreNamed(t *testing.T) {
	for id, foreign := range map[string]bool{profile.Embedded().Workspaces[dataset.Main].PlacementTests[0]: true, "017f0000-0000-7000-8000-000000000001": false} {
		g := NewWithT(t)
		f := newFixture(t, nil)
		c := f.creation(testName)
		g.Expect(f.Permit(t.Context(), c)).To(Succeed())
		begun, err := f.Before(c)
		g.Expect(err).NotTo(HaveOccurred())
		named := false
		begun.OnForeign(func(string) { named = true })
		undo, err := f.After(c, begun, client.Exchange{Status: http.StatusOK, Sent: time.Now()}, id)
		g.Expect(err).NotTo(HaveOccurred())
		undo(t.Context())
		g.Expect(named).To(Equal(foreign), id)
	}
}

// The test whose creation had no response is found by its name.
func TestCreationWithoutAResponse(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	f.drop = func(r *http.Request) bool { return r.Method == http.MethodPost }
	ex, undo := f.send(f.creation(testName))
	g.Expect(ex.Err).To(HaveOccurred())
	g.Expect(undo).To(BeNil())
	g.Expect(f.pending()).To(HaveLen(1))
	f.drop = nil
	f.Close(t.Context())
	g.Expect(f.listed(testName)).To(BeEmpty())
	g.Expect(f.pending()).To(BeEmpty())
	g.Expect(f.troubles).To(BeEmpty())
}

// Without a list, the run reports a test that it could not roll back.
func TestLeftWithoutAList(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, func(c *Config) {
		unlisted := *c.Profile
		unlisted.Operations = []string{"!" + spec.ListPlacementTests}
		c.Profile = &unlisted
	})
	_, undo := f.send(f.creation(testName))
	undo(t.Context())
	f.drop = func(r *http.Request) bool { return r.Method == http.MethodPost }
	lost := Word(f.Run, 2)
	f.send(f.creation(lost))
	f.drop = nil
	f.Close(t.Context())
	g.Expect(f.troubles).To(ConsistOf(ContainSubstring("the test " + lost + " may be left on the target")))
	g.Expect(f.pending()).To(HaveLen(1))
}

// A minted key creates tests in its own workspace, and its workspace deletes them.
func TestMintedKeysCreateInTheirWorkspace(t *testing.T) {
	g := NewWithT(t)
	p := profile.Embedded()
	p.Mint = &profile.Mint{}
	p.Keys = slices.DeleteFunc(p.Keys, func(k profile.Key) bool { return k.Workspace == dataset.Second })
	p = p.WithPlaceholders(nil)
	minted, ok := p.FullKey(dataset.Second)
	g.Expect(ok).To(BeTrue())
	s := New(Config{Profile: p})
	g.Expect(s.workspaceOf(minted.ForClient()).Key()).To(Equal(minted.ForClient()))
}

// The profile lists a key under the wrong workspace. What that key shows proves nothing for the key that
// deletes the test, to which the target answers 404.
func TestTestsInAnotherWorkspaceAreReported(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	key, _ := f.Profile.FullKey(dataset.Second)
	i := slices.IndexFunc(f.Profile.Keys, func(k profile.Key) bool { return k.Name == key.Name })
	f.Profile.Keys[i].Workspace, f.Profile.Keys[i].Scopes = dataset.Main, nil
	c := f.creation(testName)
	c.Key = key.ForClient()
	ex, undo := f.send(c)
	row := rowIn(ex)
	f.Read(c, row["id"].(string), row)
	undo(t.Context())
	f.Close(t.Context())
	g.Expect(f.troubles).To(ConsistOf(ContainSubstring("the test " + testName + " may be left on the target")))
	g.Expect(f.pending()).To(HaveLen(1))
}

// listed returns the ids of the tests of that name.
func (f *fixture) listed(name string) []string {
	f.t.Helper()
	ex := f.Send(f.t.Context(), client.Request{Path: spec.MustOperation(spec.ListPlacementTests).Path,
		Query: map[string][]string{"limit": {"100"}, "sort_order": {"desc"}}, Key: f.creation("").Key})
	var ids []string
	for part := range strings.SplitSeq(string(ex.Body), `"id":"`) {
		if id, rest, _ := strings.Cut(part, `"`); strings.Contains(rest, `"name":"`+name) {
			ids = append(ids, id)
		}
	}
	return ids
}

// A target may show a new test late. A deletion waits for that, and nothing is left.
func TestTestsThatShowLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		f := newSlowFixture(t, time.Second)
		undo := f.create()
		undo(t.Context()) // the test does not show yet
		g.Expect(f.server.tests).To(HaveLen(1))
		f.create()
		remove := Change{Operation: spec.MustOperation(spec.DeletePlacementTest), ID: f.server.tests[1].id, Key: f.key}
		g.Expect(f.Permit(t.Context(), remove)).To(Succeed(), "after a wait")
		f.Close(t.Context())
		for _, one := range f.server.tests {
			g.Expect(one.deleted).NotTo(BeZero(), one.id)
		}
		g.Expect(f.troubles).To(BeEmpty())
	})
}

// The target says that it creates tests, but no view shows them: they may be left.
func TestTestsThatNeverShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		f := newSlowFixture(t, time.Hour)
		f.create()(t.Context())
		f.Close(t.Context())
		g.Expect(f.troubles).To(ConsistOf(And(ContainSubstring(f.name+" may be left"), ContainSubstring("no list and no get shows them"))))
	})
}

// Listed tests are deleted side by side: fifty take no longer than a few round trips.
func TestListedTestsAreDeletedSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		f := newSlowFixture(t, 0)
		f.server.roundTrip = 700 * time.Millisecond
		for i := range 50 {
			f.name = Word(f.Run, uint64(i))
			f.create()
		}
		began := time.Now()
		f.Close(t.Context())
		g.Expect(time.Since(began)).To(BeNumerically("<", 10*time.Second))
		for _, one := range f.server.tests {
			g.Expect(one.deleted).NotTo(BeZero(), one.id)
		}
		g.Expect(f.troubles).To(BeEmpty())
	})
}

// slowFixture is a sandbox on a server that is slow to show changes.
type slowFixture struct {
	*Sandbox
	server   *slowView
	t        *testing.T
	key      client.Key
	name     string // of the next test
	troubles []string
}

func newSlowFixture(t *testing.T, late time.Duration) *slowFixture {
	t.Helper()
	run := NewRun().ID // by the clock of the test
	f := &slowFixture{t: t, server: &slowView{late: late}, name: Word(run, 0)}
	api, err := client.New(client.Options{BaseURL: "http://target.invalid", Transport: f.server})
	if err != nil {
		t.Fatal(err)
	}
	f.Sandbox = New(Config{Send: api.Do, Profile: profile.Embedded(), Run: run, Trouble: func(_, what string) { f.troubles = append(f.troubles, what) }})
	key, _ := f.Profile.FullKey(dataset.Main)
	f.key = key.ForClient()
	return f
}

// create creates a test, and returns what rolls that back.
func (f *slowFixture) create() Undo {
	f.t.Helper()
	g := NewWithT(f.t)
	c := Change{Operation: spec.MustOperation(spec.CreatePlacementTest), Body: map[string]any{"name": f.name}, Key: f.key}
	g.Expect(f.Permit(f.t.Context(), c)).To(Succeed())
	begun, err := f.Before(c)
	g.Expect(err).NotTo(HaveOccurred())
	ex := f.Send(f.t.Context(), client.Request{Method: c.Operation.Method, Path: c.Operation.URLPath(c.ID), Body: encode(c.Body), Key: c.Key})
	id, _ := rowIn(ex)["id"].(string)
	undo, err := f.After(c, begun, ex, id)
	g.Expect(err).NotTo(HaveOccurred())
	return undo
}

// slowView is a server that shows creations and deletions late.
type slowView struct {
	late      time.Duration
	roundTrip time.Duration

	mu    sync.Mutex
	tests []*lateTest
}

type lateTest struct {
	id, name         string
	created, deleted time.Time
}

func (s *slowView) shows(one *lateTest) bool {
	now := time.Now()
	return now.Sub(one.created) >= s.late && (one.deleted.IsZero() || now.Sub(one.deleted) < s.late)
}

func (s *slowView) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(s.roundTrip)
	s.mu.Lock()
	defer s.mu.Unlock()
	op, id, _ := spec.MatchOperation(r.Method, r.URL.Path)
	status, body := http.StatusNotFound, "{}"
	switch op.ID {
	case spec.CreatePlacementTest:
		text, _ := io.ReadAll(r.Body)
		var sent struct{ Name string }
		_ = json.Unmarshal(text, &sent)
		made := &lateTest{id: fmt.Sprintf("01890000-0000-7000-8000-%012d", len(s.tests)+1), name: sent.Name, created: time.Now()}
		s.tests = append(s.tests, made)
		status, body = 200, made.row()
	case spec.ListPlacementTests:
		var rows []string
		for _, one := range s.tests {
			if s.shows(one) {
				rows = append(rows, one.row())
			}
		}
		status, body = 200, `{"items":[`+strings.Join(rows, ",")+`]}`
	default:
		for _, one := range s.tests {
			if one.id != id || !s.shows(one) {
				continue
			}
			if status, body = 200, one.row(); r.Method == http.MethodDelete {
				one.deleted = time.Now()
			}
		}
	}
	return &http.Response{StatusCode: status, Request: r, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader([]byte(body)))}, nil
}

func (o *lateTest) row() string { return `{"id":"` + o.id + `","name":"` + o.name + `"}` }

// A journal narrows what cleanup deletes and moves. Nothing that it says makes a row the
// run's own.
func TestForgedJournals(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	w := server.Profile.Workspaces
	key, _ := server.Profile.FullKey(dataset.Main)
	create := func(name string) string { id, _ := createNamed(t, server, key, name); return id }
	live := NewRun() // of another machine
	kept := []string{create("a test of somebody else"), create("conformance"), create(""), create(testName + " (copy)"),
		create(Word(live.ID, 1))}
	newest := create(Word(thisRun.ID, 7))
	gone := []string{create(testName), create(strings.ToUpper(Word(thisRun.ID, 2)) + " ")}
	main, subA, subB := w[dataset.Main].ID, w[dataset.SubA], w[dataset.SubB]
	account := subA.Accounts[0]
	g.Expect(moveAccount(t, server, account, subA.ID, subB.ID)).To(Equal(http.StatusOK))
	before := testsOf(t, server, key)
	moves := []Entry{{Do: Move, Email: account, Home: w[dataset.Outsider].ID, Away: subB.ID}}

	for name, run := range map[string]Run{"of a run that was seen": {ID: live.ID}, "of a run with another's proof": {ID: live.ID, Proof: thisRun.Proof}, "of no run": {ID: "x"}} {
		dir := t.TempDir()
		j, err := StartJournal(dir, run, server.BaseURL)
		g.Expect(err).NotTo(HaveOccurred())
		for _, e := range append(moves, Entry{Do: Create, Home: main}) {
			_, err = j.Open(e)
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(j.Finish()).To(Succeed())
		g.Expect(FindLeft(dir, server.BaseURL)).To(BeZero(), name)
		_, err = Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
		g.Expect(err).To(MatchError(ContainSubstring("does not prove")), name)
		g.Expect(os.ReadDir(dir)).To(HaveLen(1), name)
		g.Expect(testsOf(t, server, key)).To(Equal(before), name)
	}

	// One with lines that somebody added to that of a killed run.
	dir := journalled(t, server, append(moves, Entry{Do: Create, Home: main, After: newest})...)
	file, err := os.OpenFile(filepath.Join(dir, "journal-"+thisRun.ID+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	g.Expect(err).NotTo(HaveOccurred())
	for i, id := range kept {
		_, err = fmt.Fprintf(file, `{"seq":%d,"do":"create","id":%q,"name":"a test of somebody else","subject":"s"}`+"\n", 10+i, id)
		g.Expect(err).NotTo(HaveOccurred())
	}
	_, err = fmt.Fprintf(file, `{"seq":20,"do":"move","email":"somebody@else.example","home":%q,"away":%q}`+"\n", subB.ID, subA.ID)
	g.Expect(errors.Join(err, file.Close())).To(Succeed())
	cleaned, err := Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
	g.Expect(err).To(MatchError(ContainSubstring("somebody@else.example stays: the profile lists it under no workspace")))
	g.Expect(testsOf(t, server, key)).To(And(ContainElements(kept), Not(ContainElements(gone[0])), Not(ContainElement(gone[1]))), "%s", cleaned)
	g.Expect(moveAccount(t, server, account, subA.ID, subB.ID)).To(Equal(http.StatusOK), "it is at the home that the profile gives")
}
