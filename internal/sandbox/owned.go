package sandbox

// This file tells the inbox placement tests that a run created from those of
// others. A target may answer a creation with the id of a row that existed before:
// creations may be idempotent, or a cache may answer.
//
// An id is the run's own if three conditions hold. A get or the list shows a text that
// only the run has drawn, the row is younger than the run by the target's own clock, and no
// other creation of the run received the id. Nothing else may be deleted.

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
	received map[string]*received // by id
	youngest *time.Duration       // the least age of an id when a creation received it
}

// received is an id that a creation received.
type received struct {
	Creation
	disputed bool // creations with different marks received it
	shown    bool // a get has shown the mark
}

// NewTests returns the tests of the workspace that the key reads.
func NewTests(send paging.Sender, p *profile.Profile, key client.Key) *Tests {
	return &Tests{send: send, profile: p, key: key, received: map[string]*received{}}
}

// Key returns the key that reads and deletes the tests.
func (t *Tests) Key() client.Key { return t.key }

// visible reports whether the profile serves an operation that shows tests. Without
// one, no test can be proven to be the run's own.
func visible(p *profile.Profile) bool {
	return p.Implements(spec.GetPlacementTest) || p.Implements(spec.ListPlacementTests)
}

// Received notes that a creation was answered with the id.
func (t *Tests) Received(id string, c Creation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id = paging.FoldID(id)
	if known := t.received[id]; known != nil && (known.disputed || known.Mark != c.Mark) {
		known.disputed = true
		return
	}
	t.received[id] = &received{Creation: c}
	if made, tells := issued(id); tells && (t.youngest == nil || c.At.Sub(made) < *t.youngest) {
		age := c.At.Sub(made)
		t.youngest = &age
	}
}

// shown notes what a get has shown of the test with the id. If that is the mark of its
// creation, prove need not ask again.
func (t *Tests) shown(id string, row map[string]any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.received[paging.FoldID(id)]; known != nil {
		known.shown = known.shown || known.Mark.On(row)
	}
}

// Excluded returns why a test that shows the creation's mark under the id cannot be
// the run's own; empty if it can.
func (t *Tests) Excluded(id string, c Creation) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.excluded(id, c)
}

func (t *Tests) excluded(id string, c Creation) string {
	known := t.received[paging.FoldID(id)]
	switch {
	case known != nil && known.disputed:
		return disputed
	case t.before.allows(id, c.At, t.youngest):
		return ""
	case t.before == nil || t.before.ids[paging.FoldID(id)] || !sound(id):
		return older
	}
	made, _ := issued(id)
	return fmt.Sprintf("%s: the time in its id is %s, but the response came at %s (is the target's clock right?)",
		older, made.UTC().Format(time.RFC3339), c.At.UTC().Format(time.RFC3339))
}

const (
	older    = "it may have existed before the run created any"
	disputed = "another creation of the run received the same id"
)

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

// known returns what is known of an id without a look: whether it is Own, Foreign or Unproven.
func (t *Tests) known(id string) (Proof, Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.received[paging.FoldID(id)]
	if known == nil {
		return Proof{Why: "no creation received the id"}, Mark{}
	}
	if why := t.excluded(id, known.Creation); why != "" {
		listed := t.before != nil && t.before.ids[paging.FoldID(id)]
		return Proof{State: Foreign, Why: why, Doubtful: !known.disputed && !listed}, known.Mark
	}
	if known.shown {
		return Proof{State: Own}, known.Mark
	}
	return Proof{}, known.Mark
}

// prove finds out whether the test with the id, which a creation received, is the
// run's own. The error means that a response is missing.
func (t *Tests) prove(ctx context.Context, id string) (Proof, error) {
	proof, mark := t.known(id)
	if proof != (Proof{}) {
		return proof, nil
	}
	status, row, err := t.get(ctx, id)
	if err != nil || mark.On(row) {
		return Proof{State: Own}, err
	}
	// The get may be wrong, or late: the list may show the test.
	rows, err := t.Newest(ctx)
	var noPage *paging.NoPageError
	if err != nil && !errors.As(err, &noPage) {
		return Proof{}, err
	}
	for _, listed := range rows {
		if listed.Key == paging.FoldID(id) {
			status, row = http.StatusOK, listed.Value
		}
	}
	switch {
	case mark.On(row):
		return Proof{State: Own}, nil
	case status == http.StatusNotFound:
		return Proof{State: Gone}, nil
	case status == http.StatusOK && row != nil:
		return Proof{State: Foreign, Why: "a get shows another test"}, nil
	}
	return Proof{State: Unproven, Why: fmt.Sprintf("a get answers %d", status)}, nil
}

// Await is prove for a test that may take a moment to show. It looks for as long as the
// profile allows a change to take.
func (t *Tests) Await(ctx context.Context, id string) (proof Proof, err error) {
	err = client.Within(ctx, t.profile.Visibility(), func(bool) (done bool, err error) {
		proof, err = t.prove(ctx, id)
		return err != nil || proof.State == Own || proof.State == Foreign, err
	})
	return proof, err
}

// get reads one test. The status is 0 if the profile excludes the operation.
func (t *Tests) get(ctx context.Context, id string) (status int, row map[string]any, err error) {
	if !t.profile.Implements(spec.GetPlacementTest) {
		return 0, nil, nil
	}
	op := spec.MustOperation(spec.GetPlacementTest)
	ex := t.send(ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: t.key, Allowed: readable})
	if ex.Err == nil && ex.Status == http.StatusOK {
		body, _ := schemas.Decode(ex.Body) // nil for what is no JSON
		row, _ = body.(map[string]any)
	}
	return ex.Status, row, ex.Err
}

// readable is what the specification allows as the response to a request that reads tests.
// The workspace may have no paid plan, the key no permission to read, and the target may
// not serve the operation.
var readable = client.AnyRefusal(http.StatusOK, http.StatusNotImplemented)

// newer reports whether the id was issued after the other one. Only version 7 ids
// can tell.
func newer(id, than string) bool {
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
	seconds, nanoseconds := parsed.Time().UnixTime()
	return time.Unix(seconds, nanoseconds).Truncate(time.Millisecond), true
}
