// Package runner runs the whole job: it points the client and the rules at a
// target, runs the selected specs and draws the verdict. The command line, the
// tests and a vendor's own program call it alike.
package runner

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// Config says what to judge and how.
type Config struct {
	Target    *target.Target
	Selection Selection
	Seed      uint64 `flag:"seed" usage:"random seed: {seed}"` // order of the specs and content of generated requests
	Version   string // of the harness, for the results
	Commit    string // of the harness; may be empty

	// JournalDir is where the run writes down what it changes before it does so;
	// empty for nowhere.
	JournalDir string

	// FailFast ends the run at the first failure that no entry of the profile expects.
	FailFast bool `flag:"fail-fast" usage:"end the run at the first failure that is not expected"`

	// Rules are shared by many runs; nil makes new ones.
	Rules *judge.Rules
	// Transport replaces the network; nil is the network.
	Transport http.RoundTripper
	Progress  tree.Progress
	// Interrupted gets the results so far if the run is interrupted, within 2 s, before
	// Run waits for the rollback; may be nil.
	Interrupted func(reports.Results)
	// Begin receives the description of the run before the first spec.
	Begin func(Description)
	// Waits receives in words what the run waits for, and for how long at most; 0 is an
	// unknown time. Many goroutines call it.
	Waits func(what string, atMost time.Duration)
	// Observe is called after every exchange, from many goroutines.
	Observe func(client.Exchange)

	maxListRows int // 0 for the default (api.Env)

	// Challenge is what the run follows from, the Seed included; nil draws all but the seed.
	Challenge *Challenge

	// Evidence records the exchanges; nil does not. Run ends the recording.
	Evidence *evidence.Recorder

	replay *replay // of a recorded run; nil for a run

	clock *clock // nil if nothing asks where the time goes
}

func (c Config) waits(atMost time.Duration, format string, args ...any) {
	if c.Waits != nil {
		c.Waits(fmt.Sprintf(format, args...), atMost)
	}
}

// NewEnv returns what the specs need to judge the target. The caller closes the env's
// client.
func NewEnv(config Config) (env *api.Env, err error) {
	rules, p := config.Rules, config.Target.Profile
	if rules == nil {
		if rules, err = judge.NewRules(); err != nil {
			return nil, err
		}
	}
	env = &api.Env{Profile: p, Rules: rules.Omitting(p.Omits...), Seed: config.Seed, Budget: p.Budget,
		MaxListRows: config.maxListRows, SpecTimeout: p.Pace.SpecTimeout}
	options := client.Options{Seed: config.Seed, Transport: config.Transport,
		Doing: func(a client.Activity, key string, n int) {
			if a == client.Sending && p.RateLimit != nil && key == p.RateLimit.Key {
				a = probing
			}
			config.clock.enter(a, n)
		},
		Waits: func(w client.Wait) { config.waits(w.For, "%s", w) },
		Observe: func(ex client.Exchange) {
			env.Observe(ex)
			if config.Observe != nil {
				config.Observe(ex)
			}
			if config.Evidence != nil {
				config.Evidence.Observe(ex)
			}
		},
	}
	if c := config.Challenge; c != nil {
		env.Salt = c.Salt()
	}
	if r := config.replay; r != nil {
		env.Salt, options.Replay = r.Salt, r.player.Answer
		options.Concurrency, options.RequestsPerSecond = config.Target.Profile.Pace.Concurrency+replayed, client.Unpaced
	}
	env.Client, err = config.Target.Client(options)
	return env, err
}

// Run judges the target. Its error means that nothing was judged: the caller's
// input is wrong. Whatever goes wrong later is in the results.
func Run(ctx context.Context, config Config) (reports.Results, error) {
	if err := tree.Ready(); err != nil {
		return reports.Results{}, err
	}
	return execute(ctx, config, (*run).runSpecs)
}

// Unjudged says why a run ended before it could judge its target.
type Unjudged struct {
	Reason      string // in words
	Missing     string // the input that each check lacked
	Interrupted bool
}

// NotJudged returns the results of such a run: they are inconclusive, and no check is
// assessed.
func NotJudged(config Config, started time.Time, why Unjudged) reports.Results {
	d, _ := describe(config, uuid.NewString(), started) // nothing may be selected: the reason says so
	results := d.About
	results.Run.Seconds, results.Run.Interrupted = time.Since(started).Seconds(), why.Interrupted
	results.Checks = lacking(d.Pairs, why.Missing).Checks()
	judge.Conclude(&results)
	results.Reasons = slices.Insert(results.Reasons, 0, why.Reason)
	return results
}

// lacking returns the evidence of a run in which each check lacked the same input.
func lacking(pairs []spec.Pair, input string) *judge.Ledger {
	ledger := judge.NewLedger(pairs)
	for _, p := range pairs {
		ledger.Missing(p, input)
	}
	return ledger
}

// run is a run or an exploration that is under way.
type run struct {
	Description
	config Config
	env    *api.Env

	ctx  context.Context // ends with the run, and when the watchdog gives the target up
	dog  *watchdog
	keys *keyCheck

	ledger  *judge.Ledger
	outcome tree.Outcome // of the specs; the zero value for an exploration
	doubt   string       // what is wrong with the keys or the address; "" for nothing
}

// execute does the work of a run, unless the target accepts no key at all, and returns its
// results.
func execute(ctx context.Context, config Config, work func(*run) error) (results reports.Results, err error) {
	id, started := sandbox.NewRun(), time.Now()
	if c := config.Challenge; c != nil {
		id, config.Seed = c.begin(), c.Seed()
	}
	switch {
	case config.replay != nil:
		id.ID, started = config.replay.ID, config.replay.Started
		ctx = client.WithSchedulers(ctx, config.replay.player.Scheduler)
	case config.Evidence != nil:
		ctx = client.WithSchedulers(ctx, config.Evidence.Scheduler)
	}
	r := &run{config: config}
	if r.Description, err = describe(config, id.ID, started); err != nil {
		return results, err
	}
	var giveUp context.CancelCauseFunc
	r.ctx, giveUp = context.WithCancelCause(ctx)
	defer giveUp(nil)
	r.dog = newWatchdog(cmp.Or(r.profile.Pace.Timeout, client.DefaultTimeout), giveUp)
	r.config.clock = newClock()
	r.config.Observe = func(ex client.Exchange) {
		r.dog.observe(ex)
		if config.Observe != nil {
			config.Observe(ex)
		}
	}
	if r.env, err = NewEnv(r.config); err != nil {
		return results, err
	}
	defer r.env.Client.Close() // a server that stops waits for connections that carried no request
	r.env.Run, r.env.Selected = id.ID, among(r.Pairs)
	if config.JournalDir != "" {
		r.env.Left = sandbox.FindLeft(config.JournalDir, config.Target.BaseURL)
		if r.env.Journal, err = sandbox.StartJournal(config.JournalDir, id, config.Target.BaseURL, config.Target.Shared()...); err != nil {
			return results, err
		}
	}
	r.keys = &keyCheck{ctx: r.ctx, send: r.env.Send, target: config.Target}
	var all bool
	if r.doubt, all = r.keys.doubt(); all {
		r.ledger = lacking(r.Pairs, "a key that the target accepts")
	} else {
		r.env.Spent(r.keys.asked)
		err = work(r)
	}
	for _, what := range r.env.Contradictions() {
		if err == nil {
			r.ledger.Troubled("evidence", what)
		}
	}
	if config.Evidence != nil {
		if failed := r.endEvidence(); failed != nil && err == nil {
			r.ledger.Troubled("evidence", failed.Error())
		}
	}
	if r.env.Journal != nil {
		if failed := r.env.Journal.Finish(); failed != nil && err == nil {
			r.ledger.Troubled("journal", failed.Error())
		}
	}
	if err != nil {
		return results, err
	}
	return r.results(ctx.Err() != nil)
}

// runSpecs announces the run and has Ginkgo run the specs. All evidence comes from
// Ginkgo's report.
func (r *run) runSpecs() error {
	if least := r.minimum().Assessed; least > len(r.Pairs) {
		return fmt.Errorf("min_assessed is %d, but the selection has only %d checks: lower it (--min-assessed), or select more", least, len(r.Pairs))
	}
	var err error
	if r.Lacks, err = r.selection.Lacks(r.profile); err != nil {
		return err
	}
	plan := r.selection.Plan(r.Pairs)
	r.estimate(suites.Tree.Select(plan), r.keys.roundTrip)
	if r.RoundTrip > 0 { // the target answers
		r.leaveOut(r.env.MeasureLists(r.ctx))
	}
	if r.config.Begin != nil {
		r.config.Begin(r.Description)
	}
	if r.config.FailFast {
		plan.FailFast = r.failsUnexpectedly
	}
	plan.Progress = r.progress()
	plan.Interrupted = func(o tree.Outcome) {
		if r.config.Interrupted == nil || r.take(o) != nil {
			return
		}
		if results, err := r.results(true); err == nil {
			r.config.Interrupted(results)
		}
	}
	outcome, err := suites.Tree.Run(r.ctx, r.env, plan)
	if err != nil {
		return err
	}
	return r.take(outcome)
}

// take enters what came of the specs.
func (r *run) take(o tree.Outcome) (err error) {
	r.outcome = o
	r.ledger, err = o.Ledger(r.Pairs)
	return err
}

// progress returns the caller's progress, which also enters where the time goes and
// announces the checks of the rate limit.
func (r *run) progress() tree.Progress {
	told, announce := r.config.Progress, sync.OnceFunc(func() {
		r.config.waits(0, "exceeding the rate limit of the key %s, up to %s", r.limit.Key, printable.Counted(r.Probes, "request"))
	})
	bodies := func(n int, tell func(api.Spec, int)) func(api.Spec, int) {
		return func(s api.Spec, violations int) {
			body := judging
			if exceedsRateLimit(s) {
				body = exceeding
			}
			r.config.clock.enter(body, n)
			if body == exceeding && r.Probes > 0 {
				announce()
			}
			if tell != nil {
				tell(s, violations)
			}
		}
	}
	told.Begin, told.End = bodies(+1, told.Begin), bodies(-1, told.End)
	return told
}

// failsUnexpectedly reports whether a selected check failed and no entry of the profile
// expects that.
func (r *run) failsUnexpectedly(check reports.Check) bool {
	one := reports.Results{Checks: []reports.Check{check}}
	judge.Waive(&one, r.profile.ExpectedFailures, time.Now())
	return one.Checks[0].Outcome == reports.Fail && r.env.Selected(spec.Pair{Requirement: check.Requirement, Operation: check.Operation})
}

// results draws the results from what the run found out so far.
func (r *run) results(interrupted bool) (reports.Results, error) {
	if why := ended(r.ctx); why != "" {
		r.ledger.Troubled("target", why)
	}
	tooSlow := r.profile.MintTimeouts()
	for _, what := range tooSlow { // what is not assessed for lack of the key says nothing of the target
		r.ledger.Troubled("mint", what)
	}
	results := r.About
	results.Run.Seconds, results.Run.Interrupted, results.Run.Specs = time.Since(results.Run.Started).Seconds(), interrupted, r.outcome.Ran
	results.Checks = withoutOmitted(r.ledger.Checks(), r.profile.Omits)
	if r.profile.Stateless {
		withoutState(results.Checks)
	}
	results.Observations, results.Troubles = r.ledger.Observations(), r.ledger.Troubles()
	results.Traffic, results.Requests, results.Run.Time = traffic(r.env), r.env.Requests(), r.config.clock.total()
	if err := tree.AddSpecs(results.Checks, r.outcome.Report); err != nil {
		return reports.Results{}, err
	}
	judge.Conclude(&results, judge.Waive(&results, r.profile.ExpectedFailures, results.Run.Started)...)
	results.Levels = summary.Levels(results.Checks)
	r.minimum().Require(&results)
	if why := r.dog.why(r.ctx, tooSlow, r.env.Client.Traffic()); why != "" && results.Verdict == reports.Inconclusive {
		results.Reasons = slices.Insert(results.Reasons, 0, why)
	}
	if r.doubt != "" && results.Verdict != reports.Passed {
		results.Reasons = slices.Insert(results.Reasons, 0, r.doubt)
	}
	if r.config.Evidence == nil {
		for i := range results.Checks {
			results.Checks[i].Exchanges = nil
		}
	}
	results = summary.KeepExchanges(results)
	return reports.Shrink(results, jsonfile.Fits), nil
}

func traffic(env *api.Env) reports.Traffic {
	t := env.Client.Traffic()
	statuses := map[string]int{}
	for status, n := range t.Statuses {
		statuses[strconv.Itoa(status)] = n
	}
	if t.NoAnswer > 0 {
		statuses["none"] = t.NoAnswer
	}
	return reports.Traffic{Requests: t.Requests, Statuses: statuses, BytesReceived: t.BytesReceived, Throttled: t.Throttled, Unjudged: env.Unjudged()}
}

// minimum is the coverage that the profile requires. A number of checks is about a
// whole run, so it does not count for one that repeats some of it.
func (d Description) minimum() judge.Minimum {
	least := judge.Minimum{Whole: d.profile.FailOn == profile.FailOnNotAssessed, Assessed: d.profile.MinAssessed}
	if d.selection.Repeat != nil {
		least.Assessed = 0
	}
	return least
}
