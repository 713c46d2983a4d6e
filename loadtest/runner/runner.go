// Package runner runs load scenarios: for each kind of scenario, it says what is sent and
// in which order. Package prepare says what the requests ask, generate sends them, and
// verdict judges what was measured.
//
// It must not import the suites, the reference server or a test framework.
package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Env is the environment of a load run's scenarios.
type Env struct {
	prepare.Env
	verdict.Terms

	// Bare returns a client without the profile's pace, but no faster than MaxRate.
	// concurrency bounds its requests in flight. from is the local address of its
	// connections; empty means any.
	Bare      func(concurrency int, from string) (*client.Client, error)
	Generator *generate.Generator
	// Inspect says what share of the responses is judged. Rules and Ledger are
	// filled in.
	Inspect inspect.Options
	MaxRate float64 // requests per second that the profile allows; 0 means no bound

	// Say is called with what the run waits for.
	Say func(string)
	// Watch is called when a phase, or a step that does not use the generator, begins.
	Watch func(scenario, step string)
	// Live is called about 10 times a second with figures of what runs.
	Live func(generate.Live)
}

// Run runs one scenario. All errors are in the outcome: a scenario that could not run
// is inconclusive and has a reason.
func Run(ctx context.Context, env *Env, s scenario.Scenario) verdict.Outcome {
	r, err := newRunner(ctx, env, s, false)
	if err == nil {
		err = map[scenario.Kind]func() error{
			scenario.Steady: r.steady, scenario.Spike: r.spike, scenario.Soak: r.soak, scenario.Sustained: r.sustained,
			scenario.Depth: r.depth, scenario.Walk: r.walk, scenario.RateLimit: r.rateLimit,
		}[s.Kind]()
		r.mix.UseUp(r.places)
	}
	r.void(err)
	return r.outcome()
}

// Compare loads two targets in turns, one block each, in the given order, with
// the scenario's requests at its rate, and compares their figures. Each outcome
// holds the blocks of its target.
func Compare(ctx context.Context, a, b *Env, s scenario.Scenario, order string) (outcomes [2]verdict.Outcome, figures []load.ComparedFigure) {
	sides := map[rune]*runner{}
	for side, env := range map[rune]*Env{'A': a, 'B': b} {
		r, err := newRunner(ctx, env, s, true) // both may be the same server, where they would change the same rows
		r.draft.InBlocks = true
		if err == nil {
			err = r.warmUp(prepare.InTurn)
		}
		r.void(err)
		sides[side] = r
	}
	draftA, draftB := sides['A'].draft, sides['B'].draft
	if !draftA.Voided() && !draftB.Voided() {
		for i, side := range order {
			r := sides[side]
			name := fmt.Sprintf("%c%d", side, i/2+1)
			if _, err := r.count(name, measure.Constant(s.Rate, s.Duration), r.mix.Requests(prepare.InTurn, r.places)); err != nil {
				r.void(err)
				break
			}
		}
		figures = verdict.Compare(draftA, draftB)
	}
	return [2]verdict.Outcome{sides['A'].outcome(), sides['B'].outcome()}, figures
}

// runner runs one scenario.
type runner struct {
	env      *Env
	scenario scenario.Scenario
	ctx      context.Context
	started  time.Time
	draft    *verdict.Draft

	subjects    *prepare.Subjects
	mix         *prepare.Mix // nil if the scenario has none
	inspector   *inspect.Inspector
	ledger      *judge.Ledger // all findings, the inspector's included
	before      int64         // requests of the run, before the scenario
	checkedHere atomic.Int64  // responses that were judged without the inspector
	places      uint64        // of the scenario, used by phases so far
	stocked     bool          // the next phase is stocked

	outageNotes []string // about outages in the last phase
}

// newRunner starts the clock of a scenario and finds out what it can ask.
func newRunner(ctx context.Context, env *Env, s scenario.Scenario, readsOnly bool) (r *runner, err error) {
	r = &runner{env: env, scenario: s, ctx: ctx, started: time.Now(), before: env.SentBefore(), draft: verdict.NewDraft(s, env.Terms), ledger: judge.NewLedger(spec.Pairs())}
	r.draft.Sharded = env.Shard.Of > 1
	options := env.Inspect
	options.Rules, options.Ledger = env.Rules, r.ledger
	if r.inspector, err = inspect.New(options); err != nil {
		return r, err
	}
	if r.subjects, err = prepare.NewSubjects(&env.Env, s.Name); err != nil || len(s.Mix) == 0 {
		return r, err
	}
	var left []string
	r.mix, left, err = r.subjects.Mix(s, readsOnly)
	r.draft.Result.Notes = left
	return r, err
}

// void makes the scenario inconclusive if there is an error.
func (r *runner) void(err error) {
	if err != nil {
		r.draft.Void("%s", err)
	}
}

// outcome ends the inspection and draws the verdict.
func (r *runner) outcome() verdict.Outcome {
	var findings inspect.Result
	if r.inspector != nil { // otherwise the scenario could not start
		r.inspector.Close()
		findings = r.inspector.Result()
		findings.Answers += r.checkedHere.Load()
		findings.Judged += r.checkedHere.Load()
	}
	all := &r.draft.Uses
	all.Beside = r.env.Budget.Sent() - r.before - all.Counted - all.WarmUp - all.Searched
	return r.draft.Conclude(findings)
}

// check checks an answer at once and records the findings. It is for requests
// outside the generator, all of which are checked.
func (r *runner) check(asked judge.Request, ex client.Exchange) judge.Result {
	return r.checkAs(asked, ex, func(requirement string) string { return judge.Replay(requirement, ex) })
}

// checkAs is check with a custom command that reproduces a violation.
func (r *runner) checkAs(asked judge.Request, ex client.Exchange, replay func(requirement string) string) judge.Result {
	s := r.env.Rules.Check(asked, ex)
	if ex.Err == nil && s.Err == nil {
		r.checkedHere.Add(1)
	}
	inspect.Enter(r.ledger, s, replay)
	if s.Err != nil {
		r.ledger.Troubled("load: "+asked.Operation.ID, redact.Process.Text("the response could not be checked: "+s.Err.Error()))
	}
	return s
}
