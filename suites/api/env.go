package api

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/lookup"

	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Env is all that the body of a spec depends on. One Env serves one run.
type Env struct {
	Client  *client.Client
	Profile *profile.Profile
	Rules   *judge.Rules
	Seed    uint64 // of generated names and ids
	Salt    uint64 // of words: another run with the same seed sends other ones; 0 for a random one

	// Selected reports whether the run judges the pair; nil means all.
	Selected func(spec.Pair) bool

	// Run is the id of the run; empty for a random one.
	Run string
	// Journal records what is changed on the target; nil for no record.
	Journal *sandbox.Journal
	// Left is what killed runs left on the target.
	Left sandbox.Left
	// Budget is how many requests the specs may send; 0 sets no bound.
	Budget int

	// SpecTimeout bounds one spec, MaxListRows a list that specs read whole; 0 means the
	// defaults.
	SpecTimeout time.Duration
	MaxListRows int

	unjudged atomic.Int64 // responses that have no verdict yet

	sent tally // requests by what is right

	vain atomic.Int32 // requests that were repeated on a fresh connection without success

	once    sync.Once
	box     *sandbox.Sandbox
	outside *judge.Ledger // what was found out beside the specs, such as trouble of rolling back
	All     *judge.Ledger // what all specs found out so far

	known    sync.Map // what the run has found out once, by what it is about (Once)
	decided  decided
	examples *judge.Ledger // of violations, which the specs share
	memory   *memory

	Shares func() map[string]sandbox.Share // of the expendable subsequences, by name of a spec; nil without a tree

	TooLong map[string]string // id of a list that no spec reads whole → the input that is missing
	large   bool              // the lists take much memory

	shared *keeper // what shared reads keep

	changing sync.RWMutex // locked while one spec alone changes something

	IDs    map[string]lookup.ID // what the profile names
	finder *lookup.Finder
}

// Defaults of Env.
const defaultSpecTimeout = 5 * time.Minute

// MostPages bounds a walk.
const MostPages = 2000

func (e *Env) Longest() time.Duration {
	if e.SpecTimeout > 0 {
		return e.SpecTimeout
	}
	return defaultSpecTimeout
}

// share is what the spec has of the expendable subsequences. A body that is no spec of the tree
// has what they leave.
func (e *Env) share(s Spec) sandbox.Share {
	if e.Shares == nil {
		return sandbox.Share{To: math.MaxInt}
	}
	all := e.Shares()
	if share, ok := all[s.Name()]; ok {
		return share
	}
	of := 0
	for _, share := range all {
		of = share.Of
	}
	return sandbox.Share{From: of, To: math.MaxInt, Of: of}
}

// Width is how many specs run at the same time.
func (e *Env) Width() int {
	if e.large {
		return max(1, min(e.Profile.Pace.Concurrency, fewSpecs))
	}
	return max(1, e.Profile.Pace.Concurrency)
}

// Begin makes what a run collects.
func (e *Env) Begin() {
	e.once.Do(func() {
		redact.Process.Learn(UnknownToken, client.Key{Name: "unknown"}.Env()) // before a request holds it beside another key
		e.Salt, e.Run = cmp.Or(e.Salt, rand.Uint64()), cmp.Or(e.Run, sandbox.NewRun().ID)
		e.outside, e.All, e.examples, e.memory = judge.NewEvidence(), judge.NewEvidence(), judge.NewEvidence(), newMemory()
		e.shared = &keeper{of: e.memory}
		e.IDs, e.finder = lookup.All(e.Profile), &lookup.Finder{Profile: e.Profile, Serves: e.Profile.Implements, Send: e.sendSpent}
		e.box = sandbox.New(sandbox.Config{Send: e.Send, Profile: e.Profile, Journal: e.Journal, Run: e.Run,
			Ended: e.Left.Runs, LeftAway: e.Left.Accounts, Budget: e.Budget,
			Trouble: func(where, what string) { e.outside.Troubled(where, what) }})
	})
}

// Sandbox returns what keeps track of the run's changes.
func (e *Env) Sandbox() *sandbox.Sandbox {
	e.Begin()
	return e.box
}

// Spent counts requests into the budget that went out before the specs.
func (e *Env) Spent(requests int) { e.Sandbox().Spend(requests) }

// sendSpent is Send within the budget.
func (e *Env) sendSpent(ctx context.Context, request client.Request) client.Exchange {
	e.Spent(1)
	return e.Send(ctx, request)
}

// Owner returns the id of the workspace that plays the role; "" if unknown.
func (e *Env) Owner(role string) string { return e.Profile.Workspaces[role].ID }

// Judges reports whether the run judges the pair.
func (e *Env) Judges(p spec.Pair) bool { return e.Selected == nil || e.Selected(p) }

// AuthorizedRole returns the role whose key may make the operation's request in
// earnest: the admin workspace for moving accounts, otherwise the main one.
func AuthorizedRole(op spec.Operation) string {
	if op.ID == spec.MoveAccounts {
		return dataset.Admin
	}
	return dataset.Main
}

// WhyCut returns the input that is missing when the context has ended a run early.
func WhyCut(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, client.ErrStopped):
		return "responses: " + client.ErrStopped.Error()
	case client.Ended(ctx):
		return "responses other than 429"
	case errors.Is(cause, ErrFailFast):
		return reports.NotReached
	default:
		return reports.NotReachedInterrupted
	}
}

// ErrFailFast is the cause with which a failure ends the bodies (Plan.FailFast).
var ErrFailFast = errors.New("a check failed")
