// Package owned tells the inbox placement tests that a run created from those of
// others. A target may answer a creation with the id of a row that existed before:
// creations may be idempotent, or a cache may answer.
//
// An id is the run's own if three conditions hold. A get or the list shows a text that
// only the run has drawn, the row is younger than the run by the target's own clock, and no
// other creation of the run received the id. Nothing else may be deleted.
//
// The package sends requests through package client and judges nothing. It must not
// import the suites or the load generator: both use it.
package owned

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Mark is what a run has drawn for one test: its random name and its random subject. Either
// shows whose the test is; a name may have to be another one.
type Mark struct{ Name, Subject string }

// MarkOf returns the mark in a body or a row; empty if there is none.
func MarkOf(row map[string]any) Mark {
	name, _ := drawnIn(row["name"])
	subject, _ := drawnIn(row["email_subject"])
	return Mark{name, subject}
}

// On reports whether the row shows the mark. A creation without a mark is known by its id
// alone.
func (m Mark) On(row map[string]any) bool {
	shown := MarkOf(row)
	return row != nil && m == Mark{} || m.Name != "" && shown.Name == m.Name || m.Subject != "" && shown.Subject == m.Subject
}

// Text returns the text of the mark.
func (m Mark) Text() string { return cmp.Or(m.Name, m.Subject) }

// Creation is what is known of one creation of the run.
type Creation struct {
	Mark Mark
	At   time.Time // by the target's clock; see At
}

// At returns the time of a response by the target's clock, or else by ours.
func At(ex client.Exchange) time.Time {
	if at, err := http.ParseTime(ex.Header.Get("Date")); err == nil {
		return at
	}
	return ex.Sent.Add(ex.Took)
}

// Tests are the tests of one workspace. It is safe for concurrent use.
type Tests struct {
	send    paging.Sender
	profile *profile.Profile
	key     client.Key

	looking sync.Mutex // one goroutine at a time looks before the first creation

	mu       sync.Mutex
	before   *before
	received map[string]Creation // by id
	disputed map[string]bool     // ids that creations with different marks received
	shown    map[string]bool     // ids under which a get has shown the mark
	youngest *time.Duration      // the least age of an id when a creation received it
}

// New returns the tests of the workspace that the key reads.
func New(send paging.Sender, p *profile.Profile, key client.Key) *Tests {
	return &Tests{send: send, profile: p, key: key, received: map[string]Creation{}, disputed: map[string]bool{}, shown: map[string]bool{}}
}

// Key returns the key that reads and deletes the tests.
func (t *Tests) Key() client.Key { return t.key }

// Visible reports whether the profile serves an operation that shows tests. Without
// one, no test can be proven to be the run's own.
func Visible(p *profile.Profile) bool {
	return p.Implements(spec.GetPlacementTest) || p.Implements(spec.ListPlacementTests)
}

// Received notes that a creation was answered with the id.
func (t *Tests) Received(id string, c Creation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id = paging.FoldID(id)
	if known, again := t.received[id]; again && known.Mark != c.Mark {
		t.disputed[id] = true
		return
	}
	t.received[id] = c
	if made, tells := issued(id); tells && (t.youngest == nil || c.At.Sub(made) < *t.youngest) {
		age := c.At.Sub(made)
		t.youngest = &age
	}
}

// Shown notes what a get has shown of the test with the id. If that is the mark of its
// creation, Prove need not ask again.
func (t *Tests) Shown(id string, row map[string]any) {
	c, known := t.creation(id)
	if !known || !c.Mark.On(row) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown[paging.FoldID(id)] = true
}

func (t *Tests) wasShown(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown[paging.FoldID(id)]
}

// creation returns the creation that received the id.
func (t *Tests) creation(id string) (c Creation, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, known = t.received[paging.FoldID(id)]
	return c, known
}

// Excluded returns why a test that shows the creation's mark under the id cannot be
// the run's own; empty if it can.
func (t *Tests) Excluded(id string, c Creation) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.disputed[paging.FoldID(id)]:
		return "another creation of the run received the same id"
	case !t.before.allows(id, c.At, t.youngest):
		if t.before == nil || t.before.ids[paging.FoldID(id)] || !Sound(id) {
			return older
		}
		made, _ := issued(id)
		return fmt.Sprintf("%s: the time in its id is %s, but the response came at %s (is the target's clock right?)",
			older, made.UTC().Format(time.RFC3339), c.At.UTC().Format(time.RFC3339))
	}
	return ""
}

const older = "it may have existed before the run created any"

// existed reports whether the id cannot be that of the creation that received it: the test
// was listed before, or another creation received the id, too. Else only the target's clock
// may be behind.
func (t *Tests) existed(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	id = paging.FoldID(id)
	return t.disputed[id] || t.before != nil && t.before.ids[id]
}

// State is what is known of an id that a creation received.
type State int

// The states of an id.
const (
	Unproven State = iota // nothing shows whose test it is
	Own                   // it is the run's
	Gone                  // a get answers 404, and no list shows it
	Foreign               // it is not the run's
)

// Proof is a state, and in words what led to it unless it is Own or Gone.
type Proof struct {
	State State
	Why   string
	// Doubtful tells of a Foreign test that only the time in its id speaks against it: the
	// target's clock may be behind.
	Doubtful bool
}

// Describe returns in words what led to the proof.
func (p Proof) Describe() string {
	if p.State == Gone {
		return "a get answers 404"
	}
	return p.Why
}

// Prove finds out whether the test with the id, which a creation received, is the
// run's own. The error means that a response is missing.
func (t *Tests) Prove(ctx context.Context, id string) (Proof, error) {
	c, known := t.creation(id)
	if !known {
		return Proof{State: Unproven, Why: "no creation received the id"}, nil
	}
	if why := t.Excluded(id, c); why != "" {
		return Proof{State: Foreign, Why: why, Doubtful: !t.existed(id)}, nil
	}
	if t.wasShown(id) {
		return Proof{State: Own}, nil
	}
	shown, err := t.get(ctx, id)
	if err != nil || c.Mark.On(shown.row) {
		return Proof{State: Own}, err
	}
	// The get may be wrong, or late: the list may show the test.
	rows, err := t.Newest(ctx)
	var noPage *paging.NoPageError
	if err != nil && !errors.As(err, &noPage) {
		return Proof{}, err
	}
	for _, row := range rows {
		if row.Key == paging.FoldID(id) {
			shown = view{status: http.StatusOK, row: row.Value}
		}
	}
	switch {
	case c.Mark.On(shown.row):
		return Proof{State: Own}, nil
	case shown.status == http.StatusNotFound:
		return Proof{State: Gone}, nil
	case shown.status == http.StatusOK && shown.row != nil:
		return Proof{State: Foreign, Why: "a get shows another test"}, nil
	}
	return Proof{State: Unproven, Why: fmt.Sprintf("a get answers %d", shown.status)}, nil
}

// Await is Prove for a test that may take a moment to show. It looks for as long as the
// profile allows a change to take.
func (t *Tests) Await(ctx context.Context, id string) (proof Proof, err error) {
	err = visible.Within(ctx, t.profile.Visibility(), func(bool) (done bool, err error) {
		proof, err = t.Prove(ctx, id)
		return err != nil || proof.State == Own || proof.State == Foreign, err
	})
	return proof, err
}

// view is a test as one operation shows it.
type view struct {
	status int
	row    map[string]any // nil if there is none
}

// get reads one test. Its status is 0 if the profile excludes the operation.
func (t *Tests) get(ctx context.Context, id string) (view, error) {
	if !t.profile.Implements(spec.GetPlacementTest) {
		return view{}, nil
	}
	op := spec.MustOperation(spec.GetPlacementTest)
	ex := t.send(ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: t.key, Allowed: readable})
	if ex.Err != nil {
		return view{}, ex.Err
	}
	return view{ex.Status, Row(ex)}, nil
}

// readable is what the specification allows as the response to a request that reads tests.
// The workspace may have no paid plan, the key no permission to read, and the target may
// not serve the operation.
var readable = client.AnyRefusal(http.StatusOK, http.StatusNotImplemented)

// Row returns the object in the response; nil if it is not a 200 with an object.
func Row(ex client.Exchange) map[string]any {
	if ex.Status != http.StatusOK {
		return nil
	}
	body, err := schemas.Decode(ex.Body)
	row, _ := body.(map[string]any)
	if err != nil {
		return nil
	}
	return row
}

// Newer reports whether the id was issued after the other one. Only version 7 ids
// can tell.
func Newer(id, than string) bool {
	_, ok := issued(id)
	_, also := issued(than)
	return ok && also && paging.FoldID(id) > paging.FoldID(than)
}

// issued returns the time in a version 7 id.
func issued(id string) (time.Time, bool) {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range parsed[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms), true
}
