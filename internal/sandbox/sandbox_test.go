package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"

	"outreach.example/conformance/spec"
)

// thisRun is the run of the tests, and testName a name that it has drawn.
var (
	thisRun  = NewRun()
	testName = Word(thisRun.ID, 1)
)

var data = sync.OnceValues(func() (*dataset.Data, error) { return dataset.New(dataset.Options{Seed: 1, Rows: 60}) })

// fixture is a sandbox on a reference server.
type fixture struct {
	*Sandbox
	t        *testing.T
	dir      string                   // of the journal
	lose     func(*http.Request) bool // the request does not arrive
	drop     func(*http.Request) bool // the response does not arrive; nil for none
	troubles []string
}

// newFixture returns a sandbox with a journal; adapt may change its settings.
func newFixture(t *testing.T, adapt func(*Config)) *fixture {
	t.Helper()
	set, err := data()
	if err != nil {
		t.Fatal(err)
	}
	service, err := refserver.New(set, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	running := httptest.NewServer(service.Handler())
	t.Cleanup(running.Close)
	f := &fixture{t: t, dir: t.TempDir(), lose: func(*http.Request) bool { return false }}
	api, err := client.New(client.Options{BaseURL: running.URL, Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	book, err := StartJournal(f.dir, thisRun, running.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Finish() })
	quick := profile.Embedded()
	quick.VisibleWithin = 1
	config := Config{Send: api.Do, Profile: quick, Journal: book, Run: thisRun.ID,
		Trouble: func(where, what string) { f.troubles = append(f.troubles, where+": "+what) }}
	if adapt != nil {
		adapt(&config)
	}
	f.Sandbox = New(config)
	return f
}

func (f *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.lose(r) {
		return nil, io.ErrUnexpectedEOF
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && f.drop != nil && f.drop(r) {
		_ = answer.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return answer, err
}

// pending returns the open entries of the journal.
func (f *fixture) pending() []Entry {
	f.t.Helper()
	all, err := FindPending(f.dir)
	if err != nil || len(all) != 1 {
		f.t.Fatal(all, err)
	}
	return all[0].Entries
}

// change returns a change by the role.
func (f *fixture) change(role, operation, id string, body map[string]any) Change {
	key, _ := f.Profile.FullKey(role)
	return Change{By: "a spec", Operation: spec.MustOperation(operation), ID: id, Body: body, Key: key.ForClient(), Owner: f.Profile.Workspaces[role].ID}
}

func (f *fixture) creation(name string) Change {
	return f.change(dataset.Main, spec.CreatePlacementTest, "", fixtures.PlacementTest(rand.New(rand.NewPCG(1, 1)), name))
}

func (f *fixture) move(from, to string) Change {
	w := f.Profile.Workspaces
	return f.change(dataset.Admin, spec.MoveAccounts, "", map[string]any{"emails": w[dataset.SubA].Accounts[:1],
		"source_workspace_id": w[from].ID, "destination_workspace_id": w[to].ID})
}

// send sends the change as a spec does.
func (f *fixture) send(c Change) (client.Exchange, Undo) {
	f.t.Helper()
	if err := f.Permit(f.t.Context(), c); err != nil {
		f.t.Fatal(err)
	}
	begun, err := f.Before(c)
	if err != nil {
		f.t.Fatal(err)
	}
	ex := f.Send(f.t.Context(), client.Request{Operation: c.Operation.ID, Method: c.Operation.Method,
		Path: c.Operation.URLPath(c.ID), Body: encode(c.Body), Key: c.Key})
	var row struct{ ID string }
	_ = json.Unmarshal(ex.Body, &row) // a body without an id leaves it empty
	undo, err := f.After(c, begun, ex, row.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return ex, undo
}

// rowIn returns the object in the body of a response.
func rowIn(ex client.Exchange) (row map[string]any) {
	_ = json.Unmarshal(ex.Body, &row) // nil for another body
	return row
}

func TestPermit(t *testing.T) {
	const foreign = "01890000-0000-7000-8000-000000000001"
	writes := func(what string) func(*Config) {
		return func(c *Config) {
			restricted := *c.Profile
			restricted.Writes = what
			c.Profile = &restricted
		}
	}
	for _, tc := range []struct {
		name      string
		adapt     func(*Config)
		operation string
		id        string
		want      string // part of the missing input; empty for permitted
	}{
		{"reads with writes: none", writes(profile.WritesNone), spec.GetPlacementTest, foreign, ""},
		{"creation with writes: none", writes(profile.WritesNone), spec.CreatePlacementTest, "", "writes: none"},
		{"creation with writes: own", writes(profile.WritesOwn), spec.CreatePlacementTest, "", ""},
		{"another's row with writes: own", writes(profile.WritesOwn), spec.DeleteSubsequence, foreign, "writes: own"},
		{"an own row with writes: own", writes(profile.WritesOwn), spec.DeletePlacementTest, "01890000-0000-7000-8000-0000000000aa", ""},
		{"no UUID with writes: own", writes(profile.WritesOwn), spec.DeleteSubsequence, "123", ""},
		{"another's row with writes: listed", writes(profile.WritesListed), spec.DeleteSubsequence, foreign, ""},
		{"last request of the budget", func(c *Config) { c.Budget = 3 }, spec.GetPlacementTest, foreign, ""},
		{"first request beyond the budget", func(c *Config) { c.Budget = 2 }, spec.GetPlacementTest, foreign, "the budget of 2 is used up"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFixture(t, tc.adapt)
			f.Adopt("01890000-0000-7000-8000-0000000000AA")
			f.Spend(2)
			err := f.Permit(t.Context(), f.change(dataset.Main, tc.operation, tc.id, nil))
			var denied *Denied
			switch {
			case tc.want == "":
				g.Expect(err).NotTo(HaveOccurred())
			default:
				g.Expect(errors.As(err, &denied)).To(BeTrue(), "%v", err)
				g.Expect(denied.Input).To(ContainSubstring(tc.want))
			}
		})
	}
}

func TestCreatedTestIsDeleted(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	ex, undo := f.send(f.creation(testName))
	g.Expect(ex.Status).To(Equal(http.StatusOK))
	g.Expect(f.pending()).To(HaveLen(1))
	id, _ := rowIn(ex)["id"].(string)

	undo(t.Context())
	f.Close(t.Context())
	g.Expect(f.pending()).To(BeEmpty())
	gone, _ := f.send(f.change(dataset.Main, spec.GetPlacementTest, id, nil))
	g.Expect(gone.Status).To(Equal(http.StatusNotFound))
	g.Expect(f.troubles).To(BeEmpty())
}

// A long exploration creates many tests: the sandbox forgets those of which nothing is left.
func TestCreationsAreForgotten(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	_, undo := f.send(f.creation(testName))
	undo(t.Context())
	refused := f.creation(testName)
	refused.Body = map[string]any{"name": testName}
	ex, _ := f.send(refused)
	g.Expect(ex.Status).To(Equal(http.StatusBadRequest))
	ex, undo = f.send(f.creation(testName))
	id, _ := rowIn(ex)["id"].(string)
	f.send(f.change(dataset.Main, spec.DeletePlacementTest, id, nil))
	undo(t.Context())
	g.Expect(f.workspaceOf(refused.Key).creations).To(BeEmpty())
}

// Other specs see that a row is gone before the response to its deletion arrives.
func TestDeletionCountsAsSoonAsItIsSent(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	sent := map[string]bool{}
	f.lose = func(r *http.Request) bool {
		if id := path.Base(r.URL.Path); r.Method == http.MethodDelete {
			_, sent[id] = f.Changed(id)
		}
		return false
	}
	ex, undo := f.send(f.creation(testName))
	rolledBack, _ := rowIn(ex)["id"].(string)
	undo(t.Context())
	ex, _ = f.send(f.creation(Word(thisRun.ID, 2)))
	deleted, _ := rowIn(ex)["id"].(string)
	f.send(f.change(dataset.Main, spec.DeletePlacementTest, deleted, nil))
	subsequence := f.Profile.Workspaces[dataset.Main].ExpendableSubsequences[0]
	f.send(f.change(dataset.Main, spec.DeleteSubsequence, subsequence, nil))
	g.Expect(sent).To(Equal(map[string]bool{rolledBack: true, deleted: true, subsequence: true}))
}

// A test that cannot be deleted stays in the journal, and the run says so.
func TestFailedRollbackIsReported(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	_, undo := f.send(f.creation(testName))
	f.lose = func(r *http.Request) bool { return r.Method == http.MethodDelete }
	undo(t.Context())
	f.Close(t.Context())
	g.Expect(f.troubles).To(ConsistOf(And(HavePrefix("rollback: the test "+testName+" may be left"), ContainSubstring("outreach-conformance cleanup"))))
	g.Expect(f.pending()).To(ConsistOf(HaveField("Do", Create)))
	var denied *Denied
	g.Expect(errors.As(f.Permit(t.Context(), f.creation(testName)), &denied)).To(BeTrue(), "no more are created")
	g.Expect(denied.Input).To(HavePrefix("a target that deletes what the run creates: "))
	judges := f.creation(testName)
	judges.Deletes = true
	g.Expect(f.Permit(t.Context(), judges)).To(Succeed())
}

// Another spec still relies on where the accounts are that it moved.
func TestOnlyOwnAccountsReturn(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	_, undo := f.send(f.move(dataset.SubA, dataset.SubB))
	w := f.Profile.Workspaces
	other := f.change(dataset.Limited, spec.MoveAccounts, "", map[string]any{"emails": w[dataset.LimitedSubA].Accounts[:1],
		"source_workspace_id": w[dataset.LimitedSubA].ID, "destination_workspace_id": w[dataset.LimitedSubB].ID})
	_, undoOther := f.send(other)
	undo(t.Context())
	g.Expect(f.pending()).To(ContainElement(And(HaveField("Do", Move), HaveField("Email", other.emails()[0]))))
	undoOther(t.Context())
	g.Expect(f.pending()).NotTo(ContainElement(HaveField("Do", Move)))
}

// An account whose move had no response is not moved again.
func TestLostMoveMakesTheAccountUncertain(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	f.lose = func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/accounts/move") }
	_, undo := f.send(f.move(dataset.SubA, dataset.SubB))
	f.lose = func(*http.Request) bool { return false }
	undo(t.Context()) // the server answers 404: the account never left
	var denied *Denied
	g.Expect(errors.As(f.Permit(t.Context(), f.move(dataset.SubA, dataset.SubB)), &denied)).To(BeTrue())
	g.Expect(denied.Input).To(ContainSubstring("had no response"))
	f.Close(t.Context())
	g.Expect(f.pending()).To(ConsistOf(HaveField("Do", Move)))
}

// The way home that had no response may have been carried out: the target is not blamed
// for the 404 that the next one gets.
func TestLostWayHomeIsNotHeldAgainstTheTarget(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, nil)
	_, undo := f.send(f.move(dataset.SubA, dataset.SubB))
	f.drop = func(*http.Request) bool { return true }
	f.send(f.move(dataset.SubB, dataset.SubA))
	f.drop = nil
	undo(t.Context())
	var denied *Denied
	g.Expect(errors.As(f.Permit(t.Context(), f.move(dataset.SubA, dataset.SubB)), &denied)).To(BeTrue())
	g.Expect(denied.Input).To(ContainSubstring("had no response"))
	g.Expect(f.troubles).To(BeEmpty())
	g.Expect(f.pending()).To(ContainElement(HaveField("Do", Move)))
}

func TestAccountsLeftAwayAreNotMoved(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t, func(c *Config) { c.LeftAway = c.Profile.Workspaces[dataset.SubA].Accounts[:1] })
	var denied *Denied
	g.Expect(errors.As(f.Permit(t.Context(), f.move(dataset.SubA, dataset.SubB)), &denied)).To(BeTrue())
	g.Expect(denied.Input).To(ContainSubstring("an earlier run"))
}

func TestSubsequencesAreHandedOutOnce(t *testing.T) {
	g := NewWithT(t)
	const gone, poor, other = "01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002", "01890000-0000-7000-8000-000000000003"
	const rich, richest = "01890000-0000-7000-8000-000000000004", "01890000-0000-7000-8000-000000000005"
	f := newFixture(t, func(c *Config) {
		listed := *c.Profile
		listed.Workspaces = map[string]profile.Workspace{dataset.Main: {ID: "x", ExpendableSubsequences: []string{gone, poor, other, rich, richest}}}
		c.Profile = &listed
	})
	asked := 0
	list := func() ([]paging.Row, error) {
		asked++
		return []paging.Row{{Key: poor, Value: map[string]any{"id": poor}}, {Key: other, Value: map[string]any{"id": other}},
			{Key: rich, Value: map[string]any{"id": rich, "name": "n"}}, {Key: richest, Value: map[string]any{"id": richest, "steps": []any{"s"}}}}, nil
	}
	take := func(from, to int) string {
		id, err := f.TakeSubsequence(t.Context(), Share{from, to, 3}, list)
		if denied := (*Denied)(nil); errors.As(err, &denied) {
			return ""
		}
		g.Expect(err).NotTo(HaveOccurred())
		return id
	}
	g.Expect([]string{take(2, 3), take(2, 3), take(2, 3)}).To(Equal([]string{other, poor, ""}), "poor belongs to no share")
	g.Expect([]string{take(0, 2), take(0, 2), take(0, 2)}).To(Equal([]string{richest, rich, ""}), "however much others leave")
	f.GiveBack(other)
	g.Expect(take(0, 2)).To(BeEmpty(), "it is given back to its own share")
	g.Expect(take(2, 3)).To(Equal(other))
	g.Expect(asked).To(Equal(1))
}

func TestRollbackOutlivesTheRun(t *testing.T) {
	g := NewWithT(t)
	after, cancel := context.WithCancel(t.Context())
	cancel()
	ctx, stop := ForRollback(after)
	g.Expect(ctx.Err()).NotTo(HaveOccurred())
	stop()
	g.Expect(ctx.Err()).To(HaveOccurred())
}

// What only one run can use is left to the run whose test the target shows, unless its
// journal says that it has ended, or it is a process of the same run.
func TestAnotherRunIsFound(t *testing.T) {
	other, group := NewRun(), RunOf("a proof", "a group")
	for name, c := range map[string]struct {
		run    string
		ended  []string
		denied bool
	}{
		"another run":               {thisRun.ID, nil, true},
		"a run that has ended":      {thisRun.ID, []string{other.ID, group.ID}, false},
		"a process of the same run": {RunOf("another proof", "a group").ID, []string{other.ID}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFixture(t, nil)
			for _, run := range []string{other.ID, group.ID} {
				f.send(f.creation(Word(run, 1)))
			}
			err := New(Config{Send: f.Send, Profile: f.Profile, Run: c.run, Ended: c.ended}).Alone(t.Context())
			if !c.denied {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring("it shows the test conformance")))
			g.Expect(errors.As(err, new(*Denied))).To(BeTrue())
		})
	}
}
