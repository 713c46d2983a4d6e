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

// Env is the environment of a load run's scenarios.
type Env struct {
	Profile *profile.Profile
	BaseURL string
	Rules   *judge.Rules
	// Client prepares what load needs and inspects what it left. It waits after a
	// 429 and keeps the profile's pace.
	Client *client.Client
	// Bare returns a client without the profile's pace, but no faster than MaxRate.
	// concurrency bounds its requests in flight. from is the local address of its
	// connections; empty means any.
	Bare func(concurrency int, from string) (*client.Client, error)

	Generator   *generate.Generator
	Calibration measure.Calibration
	// Inspect says what share of the responses is judged. Rules and Redact are
	// filled in.
	Inspect inspect.Options

	Thresholds []threshold.Threshold // of the profile and the command line
	// Baselines hold the figures for regression thresholds, by the file that the
	// threshold names. The empty name is the run's own baseline.
	Baselines map[string]*threshold.Baseline

	Journal *journal.Journal // records changes; nil for none
	// LeftBehind are the names of tests that killed runs have left.
	LeftBehind []string
	// LockTimeout is how long to wait for another run that uses the same rows;
	// zero means the default of package lock.
	LockTimeout time.Duration
	Run         string // id of the run, in the names of what is created
	Seed        uint64

	// LagLimit is the tolerated send lag. 0 means measure.Recording.LagLimit.
	LagLimit time.Duration

	MaxRate float64 // requests per second that the profile allows; 0 means no bound
	// Budget bounds the number of requests of the run. Clients ask it before each
	// request.
	Budget *Budget

	// Shard is the part of every phase that this process sends; the zero value is the
	// whole. Start is when the first phase begins; the zero value is now.
	Shard measure.Shard
	Start time.Time

	// Memory returns the memory of the target's process; nil if it cannot be read.
	Memory func(context.Context) (load.MemoryPoint, error)
	// Watch is called when a phase begins. It is also called, with an empty schedule,
	// for each step that does not use the generator.
	Watch func(scenario, phase string, s schedule.Schedule)
	// Say is called with what the run waits for; nil for nobody.
	Say func(string)
	// Live is called about 10 times a second with figures of steps that do not use
	// the generator, which has its own Tick; nil for nobody.
	Live func(generate.Live)

	rows   *rows  // of the run; nil without Ready
	before *int64 // requests sent before Ready, until a scenario counts them
}

// Outcome is a scenario's result with its recordings, from which the shards of a
// scenario can be joined.
type Outcome struct {
	load.Scenario
	Recordings []measure.Recording `json:"recordings"`      // of the phases, in their order
	Traffic    load.Traffic        `json:"traffic"`         // all requests, including warm-ups and repeated phases
	Checks     []reports.Check     `json:"checks"`          // requirements that were checked
	Cut        string              `json:"cut,omitempty"`   // why the last phase did not run to its end; empty if it did
	Unread     inspect.Unread      `json:"unread,omitzero"` // responses that could not be inspected
	Empty      []string            `json:"empty,omitempty"` // list operations whose judged responses had no rows
}

// Run runs one scenario. All errors are in the outcome: a scenario that could not run
// is inconclusive and has a reason.
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

// runner runs one scenario.
type runner struct {
	env      *Env
	scenario Scenario
	ctx      context.Context
	started  time.Time

	readsOnly bool // nothing may be changed
	inBlocks  bool // its phases alternate with those of another target
	subjects  *subjects
	shares    []share // of the scenario's operations, those that can be asked
	mix       *mix
	inspector *inspect.Inspector
	ledger    *judge.Ledger // all findings, the inspector's included
	traffic   load.Traffic
	uses      load.Requests // without the total and other requests
	before    int64         // requests of the run, before the scenario
	lookedAt  atomic.Int64  // responses that were judged without the inspector

	out        load.Scenario
	recordings []measure.Recording
	counted    []counted // phases that thresholds are compared with
	figures    map[threshold.Metric]threshold.Figure
	places     uint64 // of the scenario, used by phases so far

	outageNotes  []string // about outages in the last phase
	foremost     []string // notes that come first, because the others may follow from them
	cut          string   // why the last phase did not run to its end; empty if it did
	unread       inspect.Unread
	empty        []string // list operations whose judged responses had no rows
	doubt        string   // why a search could not confirm its highest rate, if the sample was too small
	fails, voids []reason
}

// newRunner starts the clock of a scenario.
func newRunner(ctx context.Context, env *Env, s Scenario) *runner {
	return &runner{env: env, scenario: s, ctx: ctx, started: time.Now(), before: env.sentBefore(), traffic: load.Traffic{Statuses: map[string]int64{}}}
}

// sentBefore returns the number of requests before the scenario. For the first
// scenario, it is the number before the preparation.
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

// prepare finds out what the scenario can ask.
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

// note adds a note to the scenario's result.
func (r *runner) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}
