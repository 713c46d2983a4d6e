package sandbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/spec"
)

// tests are those that the run creates, by the role of their workspace.
type tests struct {
	mu     sync.Mutex
	byRole map[string]*workspace
}

// workspace is what the run creates in one workspace.
type workspace struct {
	*owned.Tests
	mu        sync.Mutex
	creations []*creation
	received  map[string]*creation // the first creation that received the id
	deleted   map[string]bool      // ids whose deletion the target confirmed
	asked     map[string]bool      // ids whose deletion was sent
	refused   map[string]bool      // ids of which each deletion was refused
}

// creation is one request that creates a test. The mutex of its workspace guards it.
type creation struct {
	change Change
	mark   owned.Mark
	at     time.Time
	made   time.Time // when the response came
	id     string    // in the response; empty if there is none
	fate   fate

	foreign func(why string) // nil for nobody
}

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
	for _, k := range s.Profile.Keys {
		if k.Name == key.Name && k.Token == key.Token {
			return k.Workspace
		}
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
	w := &workspace{Tests: owned.New(s.Send, s.Profile, reader), received: map[string]*creation{}, deleted: map[string]bool{},
		asked: map[string]bool{}, refused: map[string]bool{}}
	if s.tests.byRole == nil {
		s.tests.byRole = map[string]*workspace{}
	}
	s.tests.byRole[role] = w
	return w
}

// LookBefore finds out which tests exist before the change creates one. Permit does
// so too, but a spec may have to wait longer then.
func (s *Sandbox) LookBefore(ctx context.Context, c Change) error {
	if c.Operation.ID != spec.CreatePlacementTest || s.Profile.Stateless || s.Allows(c) != nil {
		return nil
	}
	return s.workspaceOf(c.Key).LookBefore(ctx, s.spend)
}

// begin notes a creation and records it in the journal.
func (s *Sandbox) begin(c Change) (Begun, error) {
	cr := &creation{change: c, mark: owned.MarkOf(c.Body)}
	if s.Profile.Stateless {
		return Begun{cr}, nil
	}
	w := s.workspaceOf(c.Key)
	_, err := s.Journal.Open(journal.Entry{Do: journal.Create, Key: c.Key.Name, Home: c.Owner, After: w.NewestBefore()})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.creations = append(w.creations, cr)
	return Begun{cr}, err
}

// created notes the response to a creation, and returns what rolls it back.
func (s *Sandbox) created(cr *creation, ex client.Exchange, id string) Undo {
	if s.Profile.Stateless { // it shows an example and keeps nothing
		s.Adopt(id)
		return nil
	}
	w := s.workspaceOf(cr.change.Key)
	w.mu.Lock()
	defer w.mu.Unlock()
	cr.at, cr.id, cr.made = owned.At(ex), id, ex.Sent.Add(ex.Took)
	switch {
	case ex.Err == nil && ex.Status/100 == 2:
		cr.fate = served
	case ex.Sent.IsZero(), ex.Err == nil && ex.Status < 500: // after a 5xx nobody knows
		return nil
	default:
		cr.fate = unknown
	}
	if id == "" {
		return nil // Close looks for the test
	}
	w.noteID(cr)
	w.Received(id, owned.Creation{Mark: cr.mark, At: cr.at})
	return func(ctx context.Context) { s.removeTest(ctx, w, cr) }
}

// removeTest deletes the test of a creation if it is proven to be the run's own.
// Otherwise Close looks for the test by its mark.
func (s *Sandbox) removeTest(ctx context.Context, w *workspace, cr *creation) {
	if w.isDeleted(cr.id) {
		w.rolledBack(cr)
		return
	}
	proof, err := w.Prove(ctx, cr.id)
	switch {
	case err != nil:
		return
	case proof.State == owned.Foreign && proof.Doubtful:
		s.stuck.CompareAndSwap(nil, &proof.Why)
	case proof.State == owned.Foreign && cr.foreign != nil:
		cr.foreign(proof.Why)
	case proof.State == owned.Own:
		if s.delete(ctx, cr.change.By, cr.id, w) == nil {
			w.rolledBack(cr)
		}
	}
}

func (w *workspace) isDeleted(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.deleted[paging.FoldID(id)]
}

// isAsked reports whether the deletion of a test was sent, whatever the response.
func (w *workspace) isAsked(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[paging.FoldID(id)]
}

// rolledBack notes that nothing is left of the creation.
func (w *workspace) rolledBack(cr *creation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cr.fate = rolledBack
}

// delete deletes a test that is the run's own and that a view showed. A deletion may find
// it a little later, so a 404 counts only if it stays. A deletion that fails is tried again.
// The error says why the test may exist still: the run then creates no more.
func (s *Sandbox) delete(ctx context.Context, by, id string, w *workspace) error {
	deletion := Change{By: by, Operation: spec.MustOperation(spec.DeletePlacementTest), ID: id, Key: w.Key()}
	s.deletions.add(id)
	var why string
	for range 2 {
		_ = visible.Within(ctx, s.Profile.Visibility(), func(bool) (done bool, err error) {
			var nothing bool
			nothing, why = s.send(ctx, deletion)
			return !nothing, nil
		})
		if why == "" {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[paging.FoldID(id)] = true
	if why != "" {
		s.stuck.CompareAndSwap(nil, &why)
		return errors.New(why)
	}
	w.deleted[paging.FoldID(id)] = true
	return nil
}

// noteDeletion notes that a spec sent the deletion of a test.
func (s *Sandbox) noteDeletion(c Change, ex client.Exchange) {
	w, _ := s.creationOf(c.ID)
	if w == nil || ex.Sent.IsZero() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := paging.FoldID(c.ID)
	w.refused[id] = (w.refused[id] || !w.asked[id]) && ex.Err == nil && ex.Status/100 == 4
	w.asked[id] = true
	if ex.Err == nil && ex.Status == 200 {
		w.deleted[id] = true
	}
}

// Changed reports when the run created the row, zero if it did not, and whether it deleted
// it or tried to. Views may show either late.
func (s *Sandbox) Changed(id string) (created time.Time, deleted bool) {
	deleted = s.deletions.has(id)
	w, cr := s.creationOf(id)
	if cr == nil {
		return time.Time{}, deleted
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return cr.made, deleted
}

// BeingCreated reports whether the row is a test whose creation has no response yet.
func (s *Sandbox) BeingCreated(row paging.Row) bool {
	s.tests.mu.Lock()
	all := slices.Collect(maps.Values(s.tests.byRole))
	s.tests.mu.Unlock()
	return slices.ContainsFunc(all, func(w *workspace) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		waiting := map[owned.Mark]bool{}
		for _, cr := range w.creations {
			if cr.made.IsZero() {
				waiting[cr.mark] = true
			}
		}
		return len(owned.ByMark([]paging.Row{row}, waiting)) > 0
	})
}

// MayShowLate reports whether the run created the test so shortly before that moment that
// views need not show it then, and has not deleted it: at most, the target refused to.
func (s *Sandbox) MayShowLate(id string, at time.Time) bool {
	w, cr := s.creationOf(id)
	if cr == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id = paging.FoldID(id)
	return at.Sub(cr.made) < s.Profile.Visibility() && (!w.asked[id] || w.refused[id])
}

// creationOf returns the creation that received the id; nil if there is none.
func (s *Sandbox) creationOf(id string) (*workspace, *creation) {
	s.tests.mu.Lock()
	all := slices.Collect(maps.Values(s.tests.byRole))
	s.tests.mu.Unlock()
	for _, w := range all {
		if cr := w.byID(id); cr != nil {
			return w, cr
		}
	}
	return nil, nil
}

func (w *workspace) byID(id string) *creation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received[paging.FoldID(id)]
}

// noteID notes the id that a creation received. The caller holds the mutex.
func (w *workspace) noteID(cr *creation) {
	if key := paging.FoldID(cr.id); w.received[key] == nil {
		w.received[key] = cr
	}
}

// prove adopts the test that the change deletes if it is the run's own. A new test
// may take a moment to show.
func (s *Sandbox) prove(ctx context.Context, c Change) error {
	w, cr := s.creationOf(c.ID)
	if cr == nil || s.own.has(c.ID) {
		return nil
	}
	proof, err := w.Await(ctx, c.ID)
	if err != nil || proof.State != owned.Own {
		return err
	}
	s.Adopt(c.ID)
	return nil
}

// ours reports whether a change may delete the test: the run made the id up, has
// proven the test to be its own, or names it because the profile lists it.
func (s *Sandbox) ours(id string) bool {
	if _, cr := s.creationOf(id); cr != nil && !s.own.has(id) {
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

// Read notes what a get with the key of the change has shown of a test.
func (s *Sandbox) Read(c Change, id string, row map[string]any) {
	if w, cr := s.creationOf(id); cr != nil && cr.change.By == c.By {
		w.Tests.Shown(id, row)
	}
}

// Shown notes a test that a list shows although the target refused to create it, and
// returns what deletes it.
func (s *Sandbox) Shown(c Change, row map[string]any) Undo {
	id, _ := row["id"].(string)
	cr := &creation{change: c, mark: owned.MarkOf(row), id: id, at: time.Now(), fate: served}
	if id == "" {
		return nil
	}
	w := s.workspaceOf(c.Key)
	w.Received(id, owned.Creation{Mark: cr.mark, At: cr.at})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.creations = append(w.creations, cr)
	w.noteID(cr)
	return func(ctx context.Context) { s.removeTest(ctx, w, cr) }
}
