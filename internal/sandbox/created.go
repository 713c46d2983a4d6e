package sandbox

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"

	"outreach.example/conformance/spec"
)

// tests are those that the run creates. The mutex guards all of them.
type tests struct {
	mu       sync.Mutex
	byRole   map[string]*workspace
	received map[string]*creation // the first creation that received the id
}

// workspace is what the run creates in one workspace.
type workspace struct {
	*Tests
	creations []*creation // that may have made a test which is not deleted yet
	used      bool        // a creation may have made a test
}

// creation is one request that creates a test.
type creation struct {
	in   *workspace
	by   string // Change.By
	mark Mark
	at   time.Time
	made time.Time // when the response came
	id   string    // in the response; empty if there is none
	fate fate

	asked   bool // the deletion of the test was sent, whatever the response
	refused bool // and each one was refused

	foreign func(why string) // nil for nobody
}

// name returns the text that shows the test, or its id.
func (cr *creation) name() string { return cmp.Or(cr.mark.Text(), cr.id) }

// fate is what became of a creation.
type fate int

const (
	noTest     fate = iota // refused or not sent
	unknown                // there was no response
	served                 // there should be a test
	rolledBack             // the test is deleted
)

// Begun is a change that is about to be sent.
type Begun struct{ creation *creation }

// OnForeign calls the function, with the reason, if the response to a creation names
// a test that is not the run's own.
func (b Begun) OnForeign(f func(why string)) {
	if b.creation != nil {
		b.creation.foreign = f
	}
}

// role returns the role of the workspace in which the change's key creates tests. A
// key that the profile does not know would create them in the main workspace.
func (s *Sandbox) role(key client.Key) string {
	if role, known := s.Profile.RoleOf(key); known {
		return role
	}
	return dataset.Main
}

// workspaceOf returns the workspace in which the key creates tests.
func (s *Sandbox) workspaceOf(key client.Key) *workspace {
	role := s.role(key)
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	if known, ok := s.tests.byRole[role]; ok {
		return known
	}
	reader := key
	if full, ok := s.Profile.FullKey(role); ok {
		reader = full.ForClient()
	}
	w := &workspace{Tests: NewTests(s.Send, s.Profile, reader)}
	s.tests.byRole[role] = w
	return w
}

// LookBefore finds out which tests exist before the change creates one. Permit does
// so too, but a spec may have to wait longer then.
func (s *Sandbox) LookBefore(ctx context.Context, c Change) error {
	if c.Operation.ID != spec.CreatePlacementTest || s.Profile.Stateless || s.Allows(c) != nil {
		return nil
	}
	return s.workspaceOf(c.Key).LookBefore(ctx, s.Afford)
}

// begin notes a creation and records it in the journal.
func (s *Sandbox) begin(c Change) (Begun, error) {
	cr := &creation{by: c.By, mark: MarkOf(c.Body)}
	if s.Profile.Stateless {
		return Begun{cr}, nil
	}
	cr.in = s.workspaceOf(c.Key)
	_, err := s.Journal.Open(Entry{Do: Create, Home: c.Owner, After: cr.in.NewestBefore()})
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	cr.in.creations = append(cr.in.creations, cr)
	return Begun{cr}, err
}

// created notes the response to a creation, and returns what rolls it back.
func (s *Sandbox) created(cr *creation, ex client.Exchange, id string) Undo {
	if s.Profile.Stateless { // it shows an example and keeps nothing
		s.Adopt(id)
		return nil
	}
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	cr.at, cr.made, cr.id = At(ex), ex.Sent.Add(ex.Took), id
	switch {
	case ex.Err == nil && ex.Status/100 == 2:
		cr.fate = served
	case ex.Sent.IsZero(), ex.Err == nil && ex.Status < 500: // after a 5xx nobody knows
		cr.in.forget(func(other *creation) bool { return other == cr })
		return nil
	default:
		cr.fate = unknown
	}
	cr.in.used = true
	if id == "" {
		return nil // Close looks for the test
	}
	return s.receive(cr)
}

// receive notes the id that a creation received, and returns what deletes the test. The caller
// holds the mutex.
func (s *Sandbox) receive(cr *creation) Undo {
	if key := paging.FoldID(cr.id); s.tests.received[key] == nil {
		s.tests.received[key] = cr
	}
	cr.in.Received(cr.id, Creation{Mark: cr.mark, At: cr.at})
	return func(ctx context.Context) { s.removeTest(ctx, cr) }
}

// Shown notes a test that a list shows although the target refused to create it, and
// returns what deletes it.
func (s *Sandbox) Shown(c Change, row map[string]any) Undo {
	id, _ := row["id"].(string)
	if id == "" {
		return nil
	}
	cr := &creation{in: s.workspaceOf(c.Key), by: c.By, mark: MarkOf(row), id: id, at: time.Now(), fate: served}
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	cr.in.creations, cr.in.used = append(cr.in.creations, cr), true
	return s.receive(cr)
}

// removeTest deletes the test of a creation if it is proven to be the run's own.
// Otherwise Close looks for the test by its mark.
func (s *Sandbox) removeTest(ctx context.Context, cr *creation) {
	if s.gone(cr.id) {
		s.settle(func(other *creation) bool { return other == cr })
		return
	}
	proof, err := cr.in.prove(ctx, cr.id)
	switch {
	case err != nil:
	case proof.State == Foreign && proof.Doubtful:
		s.stuck.CompareAndSwap(nil, &proof.Why)
	case proof.State == Foreign && cr.foreign != nil:
		cr.foreign(proof.Why)
	case proof.State == Own && s.delete(ctx, cr.in, cr.id) == "":
		s.settle(func(other *creation) bool { return other == cr })
	}
}

// gone reports whether the target confirmed the deletion of the test.
func (s *Sandbox) gone(id string) bool {
	cr := s.creationOf(id)
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	return cr != nil && cr.fate == rolledBack
}

// settle notes that nothing is left of creations.
func (s *Sandbox) settle(which func(*creation) bool) {
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	for _, w := range s.tests.byRole {
		w.forget(func(cr *creation) bool {
			if which(cr) {
				cr.fate = rolledBack
			}
			return cr.fate == rolledBack
		})
	}
}

// forget drops creations: a long exploration makes many. The caller holds the mutex.
func (w *workspace) forget(which func(*creation) bool) {
	w.creations = slices.DeleteFunc(w.creations, which)
}

// delete deletes a test that is the run's own. It returns why the test may exist still; the run
// then creates no more.
func (s *Sandbox) delete(ctx context.Context, w *workspace, id string) (why string) {
	s.deletions.add(id)
	why = deleteTest(ctx, s.Send, s.Profile, w.Key(), id)
	if why != "" {
		s.stuck.CompareAndSwap(nil, &why)
	}
	s.noteDeletion(id, why == "", false)
	return why
}

// noteDeletion notes that the deletion of a test was sent.
func (s *Sandbox) noteDeletion(id string, confirmed, refused bool) {
	cr := s.creationOf(id)
	if cr == nil {
		return
	}
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	cr.asked, cr.refused = true, refused && (cr.refused || !cr.asked)
	if confirmed {
		cr.fate = rolledBack
	}
}

// Changed reports when the run created the row, zero if it did not, and whether it deleted
// it or tried to. Views may show either late.
func (s *Sandbox) Changed(id string) (created time.Time, deleted bool) {
	cr := s.creationOf(id)
	if cr == nil {
		return time.Time{}, s.deletions.has(id)
	}
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	return cr.made, s.deletions.has(id)
}

// BeingCreated reports whether the row is a test whose creation has no response yet.
func (s *Sandbox) BeingCreated(row paging.Row) bool {
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	for _, w := range s.tests.byRole {
		if slices.ContainsFunc(w.creations, func(cr *creation) bool {
			return cr.made.IsZero() && cr.mark != Mark{} && cr.mark.On(row.Value)
		}) {
			return true
		}
	}
	return false
}

// MayShowLate reports whether the run created the test so shortly before that moment that
// views need not show it then, and has not deleted it: at most, the target refused to.
func (s *Sandbox) MayShowLate(id string, at time.Time) bool {
	cr := s.creationOf(id)
	if cr == nil {
		return false
	}
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	return at.Sub(cr.made) < s.Profile.Visibility() && (!cr.asked || cr.refused)
}

// creationOf returns the creation that received the id; nil if there is none.
func (s *Sandbox) creationOf(id string) *creation {
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	return s.tests.received[paging.FoldID(id)]
}

// prove adopts the test that the change deletes if it is the run's own. A new test
// may take a moment to show.
func (s *Sandbox) prove(ctx context.Context, c Change) error {
	cr := s.creationOf(c.ID)
	if cr == nil || s.own.has(c.ID) {
		return nil
	}
	proof, err := cr.in.Await(ctx, c.ID)
	if err != nil || proof.State != Own {
		return err
	}
	s.Adopt(c.ID)
	return nil
}

// ours reports whether a change may delete the test: the run made the id up, has
// proven the test to be its own, or names it because the profile lists it.
func (s *Sandbox) ours(id string) bool {
	if s.creationOf(id) != nil && !s.own.has(id) {
		return false // the profile may list it too
	}
	if _, err := uuid.Parse(id); err != nil || s.Profile.Stateless || s.own.has(id) {
		return true
	}
	for _, w := range s.Profile.Workspaces {
		if slices.ContainsFunc(w.PlacementTests, func(listed string) bool { return strings.EqualFold(listed, id) }) {
			return true
		}
	}
	return false
}

// Read notes what a get with the key of the change has shown of a test. Another key than the one that
// deletes the test may belong to another workspace.
func (s *Sandbox) Read(c Change, id string, row map[string]any) {
	if cr := s.creationOf(id); cr != nil && cr.by == c.By && c.Key == cr.in.Key() {
		cr.in.Tests.shown(id, row)
	}
}
