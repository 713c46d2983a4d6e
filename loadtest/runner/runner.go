// Package runner runs load scenarios: for each kind of scenario, it says what is sent and
// in which order. Package prepare says what the requests ask, generate sends them, and
// verdict judges what was measured.
//
// It must not import the suites, the reference server or a test framework.
package runner

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/compare"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
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
	// Inspect says what share of the responses is judged. Rules and Redact are
	// filled in.
	Inspect inspect.Options
	MaxRate float64 // requests per second that the profile allows; 0 means no bound

	// Memory returns the memory of the target's process; nil if it cannot be read.
	Memory func(context.Context) (load.MemoryPoint, error)
	// Watch is called when a phase begins. It is also called, with an empty schedule,
	// for each step that does not use the generator.
	Watch func(scenario, phase string, s schedule.Schedule)
	// Live is called about 10 times a second with figures of what runs, from one
	// goroutine; may be nil.
	Live func(generate.Live)
}

// Run runs one scenario. All errors are in the outcome: a scenario that could not run
// is inconclusive and has a reason.
func Run(ctx context.Context, env *Env, s scenario.Scenario) verdict.Outcome {
	r := newRunner(ctx, env, s)
	defer r.close()
	if err := r.prepare(); err != nil {
		r.draft.Void("%s", err)
		return r.outcome()
	}
	kinds := map[scenario.Kind]func() error{
		scenario.Steady: r.steady, scenario.Spike: r.spike, scenario.Soak: r.soak, scenario.Sustained: r.sustained,
		scenario.Depth: r.depth, scenario.Walk: r.walk, scenario.RateLimit: r.rateLimit,
	}
	if err := kinds[s.Kind](); err != nil {
		r.draft.Void("%s", err)
	}
	r.mix.UseUp(r.places)
	return r.outcome()
}

// Compare loads two targets in turns, one block each, in the given order, with
// the scenario's requests at its rate, and compares their figures. Each outcome
// holds the blocks of its target.
func Compare(ctx context.Context, a, b *Env, s scenario.Scenario, order compare.Order) (outcomes [2]verdict.Outcome, figures []load.ComparedFigure) {
	sides := map[compare.Side]*runner{}
	for side, env := range map[compare.Side]*Env{compare.A: a, compare.B: b} {
		r := newRunner(ctx, env, s)
		defer r.close()
		r.draft.InBlocks = true
		r.readsOnly = true // both may be the same server, where they would change the same rows
		sides[side] = r
		if err := r.prepare(); err != nil {
			r.draft.Void("%s", err)
			continue
		}
		if err := r.warmUp(s.Rate, prepare.InTurn); err != nil {
			r.draft.Void("%s", err)
		}
	}
	draftA, draftB := sides[compare.A].draft, sides[compare.B].draft
	if !draftA.Voided() && !draftB.Voided() {
		for i, side := range order {
			r := sides[side]
			name := fmt.Sprintf("%c%d", side, i/2+1)
			if _, err := r.count(name, schedule.Constant(s.Rate, s.Duration), r.mix.From(prepare.InTurn)); err != nil {
				r.draft.Void("%s", err)
				break
			}
		}
		figures = verdict.Compare(draftA, draftB)
	}
	return [2]verdict.Outcome{sides[compare.A].outcome(), sides[compare.B].outcome()}, figures
}

// runner runs one scenario.
type runner struct {
	env      *Env
	scenario scenario.Scenario
	ctx      context.Context
	started  time.Time
	draft    *verdict.Draft

	readsOnly   bool // nothing may be changed
	subjects    *prepare.Subjects
	mix         *prepare.Mix // nil if the scenario has none
	inspector   *inspect.Inspector
	ledger      *judge.Ledger // all findings, the inspector's included
	before      int64         // requests of the run, before the scenario
	checkedHere atomic.Int64  // responses that were judged without the inspector
	places      uint64        // of the scenario, used by phases so far

	outageNotes []string // about outages in the last phase
}

// newRunner starts the clock of a scenario.
func newRunner(ctx context.Context, env *Env, s scenario.Scenario) *runner {
	r := &runner{env: env, scenario: s, ctx: ctx, started: time.Now(), before: env.SentBefore(), draft: verdict.NewDraft(s, env.Terms)}
	r.draft.Sharded = env.Shard.Of > 1
	return r
}

func (r *runner) close() {
	if r.inspector != nil {
		r.inspector.Close()
	}
}

// prepare finds out what the scenario can ask.
func (r *runner) prepare() (err error) {
	options := r.env.Inspect
	r.ledger = judge.NewLedger(spec.Pairs())
	options.Rules, options.Ledger = r.env.Rules, r.ledger
	if r.inspector, err = inspect.New(options); err != nil {
		return err
	}
	if r.subjects, err = prepare.NewSubjects(&r.env.Env, r.scenario.Name); err != nil {
		return err
	}
	if len(r.scenario.Mix) == 0 {
		return nil
	}
	m, left, err := r.subjects.Mix(r.scenario, r.readsOnly)
	if err != nil {
		return err
	}
	r.mix = m
	for _, note := range left {
		r.draft.Note("%s", note)
	}
	return nil
}

// outcome ends the inspection and draws the verdict.
func (r *runner) outcome() verdict.Outcome {
	findings := r.findings()
	all := &r.draft.Uses
	all.Beside = r.env.Budget.Sent() - r.before - all.Counted - all.WarmUp - all.Searched
	return r.draft.Conclude(findings)
}

// findings closes the inspector and returns what it and the scenario found.
func (r *runner) findings() inspect.Result {
	if r.inspector == nil { // the scenario could not start
		return inspect.Result{}
	}
	r.inspector.Close()
	result := r.inspector.Result()
	result.Answers += r.checkedHere.Load()
	result.Judged += r.checkedHere.Load()
	return result
}

// check checks an answer at once and records the findings. It is for requests
// outside the generator, all of which are checked.
func (r *runner) check(asked judge.Request, ex client.Exchange) judge.Result {
	return r.checkAs(asked, ex, func(requirement string) string { return judge.Replay(requirement, ex) })
}

// checkAs is check with a custom command that reproduces a violation.
func (r *runner) checkAs(asked judge.Request, ex client.Exchange, replay func(requirement string) string) judge.Result {
	s := r.env.Rules.Check(asked, ex)
	r.checkedHere.Add(1)
	inspect.Enter(r.ledger, s, replay)
	if s.Err != nil {
		r.ledger.Troubled("load: "+asked.Operation.ID, redact.Process.Text("the response could not be checked: "+s.Err.Error()))
	}
	return s
}

// found records a violation.
func (r *runner) found(p spec.Pair, v reports.Violation) {
	r.ledger.Violated(p, v)
}

// redacted returns the header with redacted values.
func redacted(h http.Header) http.Header {
	shown := http.Header{}
	for name, values := range h {
		for _, value := range values {
			shown.Add(name, redact.Process.Text(value))
		}
	}
	return shown
}
