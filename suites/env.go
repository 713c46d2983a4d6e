package suites

import (
	"sync"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

// Env is what a run hands to its specs.
type Env struct {
	Client  *client.Client
	Profile *profile.Profile
	Rules   *judge.Rules
	Ledger  *judge.Ledger
	Seed    uint64 // of generated names and ids

	// Journal remembers what is changed on the target; nil for none.
	Journal *journal.Journal
	// LeftBehind are the names of tests that killed runs are known to have left
	// on the target.
	LeftBehind []string
	// LeftAway are the accounts that killed runs moved, or may have moved, and
	// nobody has put back.
	LeftAway []string
	// Budget is how many requests the specs may send; zero is no bound.
	Budget int

	// SpecTimeout bounds one spec, MaxPages one walk, ClaimPatience how long to
	// wait for another run that uses the same rows; zero means the defaults.
	SpecTimeout   time.Duration
	MaxPages      int
	ClaimPatience time.Duration

	boxOnce sync.Once
	box     *sandbox.Sandbox

	controlled sync.Map // ids of the operations that control has asked
}

// Defaults of Env.
const (
	DefaultSpecTimeout = 5 * time.Minute
	DefaultMaxPages    = 2000
)

func (e *Env) specTimeout() time.Duration {
	if e.SpecTimeout > 0 {
		return e.SpecTimeout
	}
	return DefaultSpecTimeout
}

// width is how many specs run at the same time.
func (e *Env) width() int { return max(1, e.Profile.Pace.Concurrency) }

func (e *Env) maxPages() int {
	if e.MaxPages > 0 {
		return e.MaxPages
	}
	return DefaultMaxPages
}

// sandbox returns what keeps track of the run's changes.
func (e *Env) sandbox() *sandbox.Sandbox {
	e.boxOnce.Do(func() {
		e.box = sandbox.New(sandbox.Config{Client: e.Client, Profile: e.Profile, Journal: e.Journal,
			LeftBehind: e.LeftBehind, LeftAway: e.LeftAway, Budget: e.Budget, LockPatience: e.ClaimPatience,
			Trouble: func(where, what string) { e.Ledger.Troubled(where, what) }})
	})
	return e.box
}

// Spent counts requests into the budget that went out before the specs.
func (e *Env) Spent(requests int) { e.sandbox().Spend(requests) }

// owner returns the id of the workspace that plays the role, if the profile gives it.
func (e *Env) owner(role string) string { return e.Profile.Workspaces[role].ID }

// authorizedRole is the role whose key may make the operation's request in
// earnest: the admin workspace for moving accounts, else the main one.
func authorizedRole(op spec.Operation) string {
	if op.ID == spec.MoveAccounts {
		return dataset.Admin
	}
	return dataset.Main
}
