package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Env is what a load run hands to its scenarios.
type Env struct {
	Profile *profile.Profile
	BaseURL string
	Rules   *judge.Rules
	// Client prepares what load needs and looks at what it left: it waits 429
	// answers out and keeps the profile's pace.
	Client *client.Client
	// Bare returns a client without the profile's pace, but no faster than MaxRate,
	// that has so many requests in flight at most.
	// Its connections come from the local address; empty for any.
	Bare func(concurrency int, from string) (*client.Client, error)

	Generator   *generate.Generator
	Calibration generate.Calibration
	// Inspect says how much of what comes under load is judged; Rules and Redact
	// are filled in.
	Inspect inspect.Options

	Thresholds []threshold.Threshold // of the profile and the command line
	// Baselines hold the figures that regressions compare with, by the file that
	// the threshold names; the empty name is the run's own.
	Baselines map[string]*threshold.Baseline

	Journal *journal.Journal // remembers what is changed; nil for nothing
	// LeftBehind are the names of tests that killed runs are known to have left.
	LeftBehind []string
	// LockPatience is how long to wait for another run that uses the same rows;
	// zero means the default of package lock.
	LockPatience time.Duration
	Run          string // id of the run, in the names of what is created
	Seed         uint64

	// LagLimit is the send lag that is tolerated where the machine can do no
	// better; 0 is what measure.Recording.LagLimit says.
	LagLimit time.Duration

	MaxRate float64 // requests per second that the profile allows; 0: no bound
	// Budget bounds the requests that are sent in all. The clients ask it before
	// each of theirs.
	Budget *Budget

	// Shard is the part of every phase that this process sends, and Start when
	// the first phase begins; the zero values are the whole, and now.
	Shard measure.Shard
	Start time.Time

	// Memory tells what the target's process uses; nil where it cannot be seen.
	Memory func(context.Context) (load.MemoryPoint, error)
	// Watch is told of each phase that begins, and of each step of what does not
	// go through the generator, with an empty schedule.
	Watch func(scenario, phase string, s schedule.Schedule)
	// Say is told what is waited for before the load or a phase; nil for nobody.
	Say func(string)
	// Live is told, about ten times a second, the figures of what does not go
	// through the generator, which has a Tick of its own; nil for nobody.
	Live func(generate.Live)

	rows   *rows  // of the run; nil without Ready
	before *int64 // requests that were sent before Ready, until a scenario counts them
}

// Outcome is a scenario's result, and what was recorded on the way: with it, the
// shards of a scenario can be joined.
type Outcome struct {
	load.Scenario
	Recordings []measure.Recording `json:"recordings"`      // of the phases, in their order
	Traffic    load.Traffic        `json:"traffic"`         // of all that was sent, warm-ups and repeated phases included
	Checks     []reports.Check     `json:"checks"`          // requirements that were put to the test
	Cut        string              `json:"cut,omitempty"`   // why the last phase did not run to its end; empty if it did
	Unread     inspect.Unread      `json:"unread,omitzero"` // answers of which nothing could be said
	Empty      []string            `json:"empty,omitempty"` // list operations of which no answer that was judged showed a row
}

// Run runs one scenario. Whatever goes wrong is in the outcome: a scenario that
// could not run is VOID and says why.
func Run(ctx context.Context, env *Env, s Scenario) Outcome {
	r := newRunner(ctx, env, s)
	defer r.close()
	if err := r.prepare(); err != nil {
		r.void("%s", err)
		return r.outcome()
	}
	kinds := map[Kind]func() error{
		Steady: r.steady, Spike: r.spike, Soak: r.soak, Sustained: r.sustained,
		Depth: r.depth, Walk: r.walk, RateLimit: r.rateLimit,
	}
	if err := kinds[s.Kind](); err != nil {
		r.void("%s", err)
	}
	r.subjects.rows.use(r.mix, r.places)
	return r.outcome()
}

// runner is one scenario at work.
type runner struct {
	env      *Env
	scenario Scenario
	ctx      context.Context
	started  time.Time

	readsOnly bool // nothing may be changed
	inBlocks  bool // its phases are blocks of one, in turns with another target's
	subjects  *subjects
	shares    []share // of the scenario's operations, those that can be asked
	mix       *mix
	inspector *inspect.Inspector
	ledger    *judge.Ledger // what was found, by the inspector too
	traffic   load.Traffic
	uses      load.Requests // all but the total and what is beside
	before    int64         // requests of the run, before the scenario
	lookedAt  atomic.Int64  // answers that were judged beside the inspector

	out        load.Scenario
	recordings []measure.Recording
	counted    []counted // phases that thresholds are held against
	figures    map[threshold.Metric]threshold.Figure
	places     uint64 // of the scenario that are taken by phases

	silent       []string // when the target answered nothing in the phase that was sent last
	foremost     []string // notes that go before the others: what those say may follow from them
	cut          string   // why the last phase did not run to its end; empty if it did
	unread       inspect.Unread
	empty        []string // list operations of which no answer that was judged showed a row
	doubt        string   // why the highest rate of a search could not be confirmed, if its sample was too small
	fails, voids []reason
}

// newRunner starts the clock of a scenario.
func newRunner(ctx context.Context, env *Env, s Scenario) *runner {
	return &runner{env: env, scenario: s, ctx: ctx, started: time.Now(), before: env.sentBefore(), traffic: load.Traffic{Statuses: map[string]int64{}}}
}

// sentBefore is how many requests the run had sent before the scenario, and
// before the preparation if that is its first.
func (e *Env) sentBefore() int64 {
	if before := e.before; before != nil {
		e.before = nil
		return *before
	}
	return e.Budget.sent()
}

func (r *runner) close() {
	if r.inspector != nil {
		r.inspector.Close()
	}
}

// prepare looks up what the scenario can ask.
func (r *runner) prepare() (err error) {
	r.figures = map[threshold.Metric]threshold.Figure{}
	options := r.env.Inspect
	r.ledger = judge.NewLedger(spec.Pairs())
	options.Rules, options.Redact, options.Ledger = r.env.Rules, r.env.Client.Redact, r.ledger
	if r.inspector, err = inspect.New(options); err != nil {
		return err
	}
	if r.subjects, err = newSubjects(r.env, r.scenario.Name); err != nil {
		return err
	}
	if len(r.scenario.Mix) == 0 {
		return nil
	}
	var left []string
	shares := r.scenario.operations()
	if r.readsOnly {
		shares = slices.DeleteFunc(shares, func(s share) bool {
			if s.op.Unsafe() {
				left = append(left, s.op.ID+" is left out: a comparison changes nothing")
			}
			return s.op.Unsafe()
		})
	}
	if why := r.subjects.rows.denied; why != "" && r.env.Shard.Of > 1 && slices.ContainsFunc(shares, func(s share) bool { return slices.Contains(exclusive, s.op.ID) }) {
		return fmt.Errorf("%s; a shard leaves nothing out that the others may ask", why)
	}
	m, lacking, err := newMix(r.subjects, shares, r.scenario.Limits)
	left = append(left, lacking...)
	if err != nil {
		return nothingReads(left)
	}
	r.mix, r.out.Notes = m, append(r.out.Notes, left...)
	r.shares = slices.DeleteFunc(shares, func(s share) bool { return r.subjects.lacks(s.op) != "" })
	return nil
}

// note is what else is worth knowing.
func (r *runner) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}
