package suites

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/claim"
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

	spares   spares
	accounts accountPlaces
	doubts   doubts
	claim    ownClaim
	mine     ownIDs
	sent     atomic.Int64 // requests, for the budget

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

func (e *Env) claimPatience() time.Duration {
	return cmp.Or(e.ClaimPatience, claim.DefaultPatience)
}

// owner returns the id of the workspace that plays the role, if the profile gives it.
func (e *Env) owner(role string) string { return e.Profile.Workspaces[role].ID }

// spares are the subsequences that the profile lets the run delete. Each is
// handed out once; one that was not deleted after all is given back.
type spares struct {
	mu     sync.Mutex
	filled bool
	free   []string
}

// ownClaim is the run's claim on what only one run can use.
type ownClaim struct {
	mu      sync.Mutex
	own     *claim.Claim // nil before it is laid
	decided bool
	denied  string // what is missing when another run has the claim
}

// forget makes the next who asks look again which spares still exist.
func (s *spares) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filled, s.free = false, nil
}

// accountPlaces remembers to which workspace the run has moved an account, so
// that every spec can leave the accounts where they were.
type accountPlaces struct {
	mu sync.Mutex
	at map[string]string // email → workspace id; absent: where the profile says
	// seq is the journal's entry on an account that is away from home.
	seq map[string]int
}

// ownIDs are the ids that the run made up or that its own creations were given.
type ownIDs struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (o *ownIDs) add(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids == nil {
		o.ids = map[string]bool{}
	}
	o.ids[foldID(id)] = true
}

func (o *ownIDs) has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ids[foldID(id)]
}

// authorizedRole is the role whose key may make the operation's request in
// earnest: the admin workspace for moving accounts, else the main one.
func authorizedRole(op spec.Operation) string {
	if op.ID == spec.MoveAccounts {
		return dataset.Admin
	}
	return dataset.Main
}
