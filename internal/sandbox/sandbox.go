// Package sandbox knows what a run changes on a target and how to roll it back.
//
// A Sandbox answers three questions about a request: may the run send it, what
// goes into the journal before it is sent, and what rolls its effect back. It
// also hands out the rows that only one spec, or only one run, can use. Cleanup
// rolls back what killed runs left behind: a Journal on disk says what that is, and Tests
// tells the rows that a run created from those of others.
//
// The package sends requests through package client and judges nothing. It must
// not import Ginkgo, the suites or the load generator.
package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"

	"outreach.example/conformance/spec"
)

// Config says what a run may change, and where it records that.
type Config struct {
	Send    paging.Sender // such as Client.Do
	Profile *profile.Profile
	// Journal records each change before it is made; nil for no record.
	Journal *Journal
	// Ended are the ids of killed runs that left a journal here.
	Ended []string
	// LeftAway are the accounts that killed runs moved, or may have moved, and
	// that nobody has moved back.
	LeftAway []string
	// Budget is how many requests the run may send; 0 sets no bound.
	Budget int
	Run    string // id of the run, which ends the names of its tests
	// Trouble receives what could not be rolled back or recorded. where is the By
	// of the change. nil ignores it.
	Trouble func(where, what string)
}

// Sandbox keeps track of what one run changes. It is safe for concurrent use.
type Sandbox struct {
	Config

	spent        atomic.Int64 // requests, for the budget
	own          ids
	deletions    ids // of rows whose deletion was sent, whatever the response
	tests        tests
	accounts     accounts
	stuck        atomic.Pointer[string] // why a created test cannot be deleted; nil for none
	subsequences subsequences
	alone        alone
}

// New returns the sandbox of one run.
func New(c Config) *Sandbox {
	if c.Trouble == nil {
		c.Trouble = func(string, string) {}
	}
	return &Sandbox{Config: c, accounts: accounts{byEmail: map[string]*account{}},
		tests: tests{byRole: map[string]*workspace{}, received: map[string]*creation{}}}
}

// Change is a request that may change the target. A request that only reads is
// one too: it counts into the budget.
type Change struct {
	By        string // who sends it, as Trouble names it
	Operation spec.Operation
	ID        string         // in the path; empty for none
	Body      map[string]any // members of the JSON body that the request means to send; nil for none
	Key       client.Key
	Deletes   bool // the spec judges deletions: it creates tests even if others could not be deleted
	// Owner is the id of the key's workspace. It is empty if the profile does not
	// give it, or if the request carries other credentials than the key.
	Owner string
}

// emails returns the accounts that the change names.
func (c Change) emails() []string {
	switch emails := c.Body["emails"].(type) {
	case []string:
		return emails
	case []any: // decoded JSON
		var texts []string
		for _, e := range emails {
			if text, ok := e.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}
	return nil
}

// text returns a string member of the body; empty if there is none.
func (c Change) text(field string) string {
	value, _ := c.Body[field].(string)
	return value
}

// Denied is the error for a change that the run may not make.
type Denied struct {
	Input string // what is missing, in words that follow "without"
}

func (d *Denied) Error() string { return "not permitted: missing " + d.Input }

func denied(format string, args ...any) error { return &Denied{fmt.Sprintf(format, args...)} }

// Undo rolls a change back. What it cannot roll back goes to Config.Trouble.
type Undo func(ctx context.Context)

// Spend counts requests into the budget that were sent without Permit.
func (s *Sandbox) Spend(requests int) { s.spent.Add(int64(requests)) }

// Permit counts the request into the budget and reports whether the run may send
// it. The profile must list its operation and allow it, the rows that it relies on must be where the
// profile says, and no other run may use rows that only one run can use. A *Denied error
// names the missing input. Any other error says that a response is missing.
func (s *Sandbox) Permit(ctx context.Context, c Change) error {
	if !s.Profile.Implements(c.Operation.ID) {
		return denied("the operation %s, which the target profile excludes", c.Operation.ID)
	}
	if err := s.Afford(); err != nil {
		return err
	}
	if c.Operation.ID == spec.DeletePlacementTest {
		if err := s.prove(ctx, c); err != nil {
			return err
		}
	}
	if err := s.Allows(c); err != nil {
		return err
	}
	if c.Operation.ID == spec.CreatePlacementTest {
		if why := s.stuck.Load(); why != nil && !c.Deletes {
			return denied("a target that deletes what the run creates: %s", *why)
		}
		return s.LookBefore(ctx, c)
	}
	if c.Operation.ID != spec.MoveAccounts {
		return nil
	}
	for _, email := range c.emails() {
		if _, ok := homeIn(s.Profile, email); !ok {
			continue
		}
		if err := s.Alone(ctx); err != nil {
			return err
		}
		break
	}
	return s.certain(c.emails())
}

// Afford counts a request that only reads into the budget. It returns a *Denied error if
// the budget is used up.
func (s *Sandbox) Afford() error {
	if s.Budget > 0 && s.spent.Add(1) > int64(s.Budget) {
		return denied("requests: the budget of %d is used up", s.Budget)
	}
	return nil
}

// Allows checks the change against the profile's writes.
func (s *Sandbox) Allows(c Change) error {
	if !c.Operation.Unsafe() {
		return nil
	}
	if c.Operation.ID == spec.CreatePlacementTest && !s.Profile.Implements(spec.DeletePlacementTest) {
		return denied("the operation %s, which removes what a run creates", spec.DeletePlacementTest)
	}
	if c.Operation.ID == spec.CreatePlacementTest && !visible(s.Profile) {
		return denied("an operation that shows whether a test is the run's own (%s or %s)", spec.GetPlacementTest, spec.ListPlacementTests)
	}
	switch s.Profile.Writes {
	case profile.WritesNone:
		return denied("permission to change anything (writes: none)")
	case profile.WritesOwn:
		if id := s.foreign(c); id != "" {
			return denied("permission to change what the run did not create (writes: own; %s names %s)", c.Operation.ID, id)
		}
	}
	if c.Operation.ID == spec.DeletePlacementTest && !s.ours(c.ID) {
		return denied("proof that the test to be deleted is the run's own")
	}
	return nil
}

// foreign returns an id in the change that the run neither made up nor received
// for a row of its own; empty if there is none. Non-UUID values are ignored.
func (s *Sandbox) foreign(c Change) string {
	named := []string{c.ID}
	if c.Operation.ID != spec.CreatePlacementTest { // it refers to other rows but changes none
		named = append(named, c.text("id"), c.text("subsequence_id"), c.text("source_workspace_id"), c.text("destination_workspace_id"))
	}
	for _, id := range named {
		if _, err := uuid.Parse(id); err == nil && !s.own.has(id) {
			return id
		}
	}
	return ""
}

// Adopt marks an id as the run's own: the run made it up, or the target gave it
// to a row that the run created.
func (s *Sandbox) Adopt(id string) { s.own.add(id) }

// Before records the change in the journal. It must be called before the request
// is sent; if it returns an error, the request must not be sent. begun is for After.
func (s *Sandbox) Before(c Change) (begun Begun, err error) {
	switch c.Operation.ID {
	case spec.CreatePlacementTest:
		return s.begin(c)
	case spec.MoveAccounts:
		return Begun{}, s.recordMove(c)
	case spec.DeletePlacementTest, spec.DeleteSubsequence:
		s.deletions.add(c.ID) // it shows before the response comes
	}
	return Begun{}, nil
}

// After records what a response created or moved, and returns what rolls that
// back; nil for nothing. It does not matter whether the target should have
// refused the request. created is the id of the row in the response of a
// creation; empty if it shows none. The error means that the journal cannot be
// written; undo is valid nevertheless.
func (s *Sandbox) After(c Change, begun Begun, ex client.Exchange, created string) (undo Undo, err error) {
	switch c.Operation.ID {
	case spec.CreatePlacementTest:
		return s.created(begun.creation, ex, created), nil
	case spec.DeletePlacementTest:
		if !ex.Sent.IsZero() {
			s.noteDeletion(c.ID, ex.Err == nil && ex.Status == http.StatusOK, ex.Err == nil && ex.Status/100 == 4)
		}
	case spec.MoveAccounts:
		return s.moved(c, ex)
	}
	return nil, nil
}

// reverse sends a request that rolls something back. It returns whether the target answered that
// there is nothing to roll back (404), and why it failed; empty if it did not. The change may take
// a moment to show, so a 404 counts only if it stays.
func reverse(ctx context.Context, send paging.Sender, p *profile.Profile, c Change) (nothing bool, why string) {
	_ = client.Within(ctx, p.Visibility(), func(bool) (settled bool, err error) {
		ex := send(ctx, client.Request{Operation: c.Operation.ID, Method: c.Operation.Method,
			Path: c.Operation.URLPath(c.ID), Body: encode(c.Body), Key: c.Key, Allowed: reversible})
		nothing, why = ex.Err == nil && ex.Status == http.StatusNotFound, ""
		switch {
		case ex.Err != nil:
			why = unanswered(c, ex.Err)
		case ex.Status/100 != 2 && !nothing:
			why = fmt.Sprintf("%s answered %s", c.Operation.ID, redact.Process.Text(judge.DescribeStatus(ex)))
		}
		return !nothing, nil
	})
	return nothing, why
}

// reversible is what the specification allows as the response to a rollback. A test may be
// gone, or the key may not delete it. An account may be elsewhere.
var reversible = client.AnyRefusal(http.StatusOK)

// ids is a set of UUIDs, in either case.
type ids struct {
	mu  sync.Mutex
	set map[string]bool
}

func (i *ids) add(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.set == nil {
		i.set = map[string]bool{}
	}
	i.set[paging.FoldID(id)] = true
}

func (i *ids) has(id string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.set[paging.FoldID(id)]
}
