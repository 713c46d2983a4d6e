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
	"sync"
	"sync/atomic"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// Config says what to judge and how.
type Config struct {
	Target    *target.Target
	Selection Selection
	Seed      uint64 // order of the specs and content of generated requests
	Version   string // of the harness, for the results
	Commit    string // of the harness; may be empty

	// JournalDir is where the run writes down what it changes before it does so;
	// empty for nowhere.
	JournalDir string

	// StandIn means that the target stands in for the one that the profile describes: its
	// checks of state are assessed, although it keeps nothing.
	StandIn bool

	// OutcomesOnly is for results whose outcomes alone are used (suites.Env).
	OutcomesOnly bool

	// FailFast ends the run at the first failure that no entry of the profile expects.
	FailFast bool

	// Rules are shared by many runs; nil makes new ones.
	Rules *judge.Rules
	// Transport replaces the network; nil is the network.
	Transport http.RoundTripper
	Progress  suites.Progress
	// Interrupted gets the results so far if the run is interrupted, within 2 s, before
	// Run waits for the rollback; may be nil.
	Interrupted func(reports.Results)
	// Begin receives, before the first spec, what the run may cost.
	Begin func(Estimate)
	// Waits receives in words what the run waits for, and for how long at most; 0 is an
	// unknown time. Many goroutines call it.
	Waits func(what string, atMost time.Duration)
	// Observe is called after every exchange, from many goroutines, with the
	// number of requests so far.
	Observe func(requests int)

	maxListRows int // 0 for the default (suites.Env)

	spending *spending // nil if nothing asks where the time goes
}

func (c Config) waits(atMost time.Duration, format string, args ...any) {
	if c.Waits != nil {
		c.Waits(fmt.Sprintf(format, args...), atMost)
	}
}

// NewEnv returns what the specs need to judge the target. Each of the hooks is
// called after every exchange, from many goroutines. The caller closes the env's
// client.
func NewEnv(config Config, hooks ...func(client.Exchange)) (*suites.Env, error) {
	rules := config.Rules
	if rules == nil {
		var err error
		if rules, err = judge.NewRules(); err != nil {
			return nil, err
		}
	}
	env := &suites.Env{Profile: config.Target.Profile, Rules: rules.Omitting(config.Target.Profile.Omits...), Seed: config.Seed, Budget: config.Target.Profile.Budget, OutcomesOnly: config.OutcomesOnly,
		MaxListRows: config.maxListRows, SpecTimeout: config.Target.Profile.Pace.SpecTimeout}
	var err error
	if env.Client, err = newClient(config, append(hooks, env.Observe)...); err != nil {
		return nil, err
	}
	return env, nil
}

// Run judges the target. Its error means that nothing was judged: the caller's
// input is wrong. Whatever goes wrong later is in the results.
func Run(ctx context.Context, config Config) (reports.Results, error) {
	if err := suites.Ready(); err != nil {
		return reports.Results{}, err
	}
	config.Selection = config.Selection.For(config.Target.Profile)
	selected, err := config.Selection.Pairs()
	if err != nil {
		return reports.Results{}, err
	}
	if least := config.minimum(); least.Assessed > len(selected) {
		return reports.Results{}, fmt.Errorf("min_assessed is %d, but the selection has only %d checks: lower it (--min-assessed), or select more", least.Assessed, len(selected))
	}
	c, err := begin(ctx, config, selected)
	if err != nil {
		return reports.Results{}, err
	}
	defer c.end()
	interim := func(judged judgement) {
		if results, err := c.of(judged, true); err == nil && config.Interrupted != nil {
			config.Interrupted(results)
		}
	}
	judged, err := judgeWithKeys(c.running, c.config, c.env, selected, interim)
	if err := c.finish(&judged, err); err != nil {
		return reports.Results{}, err
	}
	return c.of(judged, ctx.Err() != nil)
}

// begin prepares a run: the client, the watch over the target, and the journal. The caller
// calls end.
func begin(ctx context.Context, config Config, selected []spec.Pair) (conclusion, error) {
	run := journal.NewRun()
	config.spending = newSpending(config.Target.Profile.RateLimit, time.Now)
	c := conclusion{config: config, id: run.ID, lost: &staleConnections{}, used: &exhaustion{}}
	c.running, c.giveUp = context.WithCancelCause(ctx)
	c.stopped = newWatchdog(timeout(config.Target.Profile), c.giveUp)
	var err error
	if c.env, err = NewEnv(config, c.stopped.observe, c.lost.observe, c.used.observe); err != nil {
		c.giveUp(nil)
		return c, err
	}
	c.env.Selected = among(selected)
	c.env.Waits = func(what string, atMost time.Duration) (over func()) {
		config.waits(atMost, "waiting up to %s: %s", inSeconds(atMost), what)
		config.spending.lock(+1)
		return func() { config.spending.lock(-1) }
	}
	c.env.Run = c.id
	if config.JournalDir != "" {
		c.env.Left = sandbox.FindLeft(config.JournalDir, config.Target.BaseURL)
		if c.env.Journal, err = journal.Start(config.JournalDir, run, config.Target.BaseURL); err != nil {
			c.end()
			return c, err
		}
	}
	c.started = time.Now()
	return c, nil
}

// end gives back what begin has taken.
func (c conclusion) end() {
	c.giveUp(nil)
	c.env.Client.Close() // a server that stops waits for connections that carried no request
}

// finish ends the journal. failed is the error of the run, which finish returns.
func (c conclusion) finish(judged *judgement, failed error) error {
	if c.env.Journal != nil {
		if err := c.env.Journal.Finish(); err != nil && failed == nil {
			judged.ledger.Troubled("journal", err.Error())
		}
	}
	return failed
}

// conclusion draws the results of a run from what it judged.
type conclusion struct {
	config  Config
	id      string
	started time.Time
	env     *suites.Env
	stopped *watchdog
	lost    *staleConnections
	used    *exhaustion

	running context.Context // ends with the run, and when it gives the target up
	giveUp  context.CancelCauseFunc
}

func (c conclusion) of(judged judgement, interrupted bool) (reports.Results, error) {
	stopped := c.stopped.Err()
	if stopped != nil {
		judged.ledger.Troubled("target", stopped.Error())
	}
	tooSlow := c.config.Target.Profile.MintTimeouts()
	for _, what := range tooSlow { // what is not assessed for lack of the key says nothing of the target
		judged.ledger.Troubled("mint", what)
	}
	results := about(c.config, c.id, c.started)
	results.Run.Interrupted, results.Run.Specs = interrupted, judged.ran
	results.Checks = withoutOmitted(judged.ledger.Checks(), c.config.Target.Profile.Omits)
	if c.config.Target.Profile.Stateless && !c.config.StandIn {
		withoutState(results.Checks)
	}
	results.Observations, results.Troubles = judged.ledger.Observations(), judged.ledger.Troubles()
	results.Traffic, results.Requests, results.Run.Time = traffic(c.env), c.env.Requests(), c.config.spending.total()
	if err := suites.AddSpecs(results.Checks, judged.report); err != nil {
		return reports.Results{}, err
	}
	described := c.config.Target.Profile
	judge.Conclude(&results, judge.Waive(&results, waivers(described), c.started)...)
	results.Levels = reports.Levels(results.Checks)
	c.config.minimum().Require(&results)
	if results.Verdict == reports.Inconclusive {
		ended := ""
		if stopped != nil {
			ended = stopped.Error()
		}
		// The first explains those after it.
		if why := cmp.Or(c.used.why(), cmp.Or(tooSlow...), ended, neverServed(c.env.Client.Traffic()), c.lost.why()); why != "" {
			results.Reasons = slices.Insert(results.Reasons, 0, why)
		}
	}
	if judged.doubt != "" && results.Verdict != reports.Passed {
		results.Reasons = slices.Insert(results.Reasons, 0, judged.doubt)
	}
	results.KeepExchanges()
	return reports.Shrink(results, reports.FitsWritten), nil
}

// among reports whether a pair is one of them.
func among(pairs []spec.Pair) func(spec.Pair) bool {
	set := make(map[spec.Pair]bool, len(pairs))
	for _, p := range pairs {
		set[p] = true
	}
	return func(p spec.Pair) bool { return set[p] }
}

// judgement is what a run came to.
type judgement struct {
	ledger *judge.Ledger
	report types.Report // Ginkgo's
	ran    int          // specs
	doubt  string       // what is wrong with the keys or the address; "" for nothing
}

// judgeWithKeys has Ginkgo run the specs, unless the target accepts no key at
// all. Everything that it returns comes from Ginkgo's report. interim gets what came of
// an interrupted run, before it is rolled back.
func judgeWithKeys(ctx context.Context, config Config, env *suites.Env, selected []spec.Pair, interim func(judgement)) (judgement, error) {
	keys := &keyCheck{ctx: ctx, send: env.Send, profile: env.Profile, base: config.Target.BaseURL}
	doubt, all := keys.doubt()
	if all {
		ledger := judge.NewLedger(selected)
		for _, p := range selected {
			ledger.Missing(p, "a key that the target accepts")
		}
		return judgement{ledger: ledger, doubt: doubt}, nil
	}
	env.Spent(keys.asked)
	plan := suites.Plan{Selects: config.Selection.Selects(), FailFast: config.failFast(env.Selected)}
	expected := estimate(env.Profile, plan.Specs(), keys.roundTrip)
	if keys.roundTrip > 0 { // the target answers
		expected.LeftOut = leftOut(env.MeasureLists(ctx), env.Selected)
	}
	if config.Target.Kind == target.KindEmbedded {
		expected.Limited = 0 // its other keys have no limit
	}
	if config.Begin != nil {
		config.Begin(expected)
	}
	plan.Progress = config.progress(expected)
	judged := func(o suites.Outcome) (judgement, error) {
		ledger, err := o.Ledger(selected)
		return judgement{ledger, o.Report, o.Ran, doubt}, err
	}
	plan.Interrupted = func(o suites.Outcome) {
		if so, err := judged(o); err == nil {
			interim(so)
		}
	}
	outcome, err := suites.Run(ctx, env, plan)
	if err != nil {
		return judgement{}, err
	}
	return judged(outcome)
}

// progress returns the caller's progress, which also enters where the time goes and
// announces the checks of the rate limit.
func (c Config) progress(expected Estimate) suites.Progress {
	told, announce := c.Progress, sync.OnceFunc(func() {
		c.waits(0, "exceeding the rate limit of the key %s, up to %s", expected.Key, counted(expected.Probes, "request"))
	})
	told.Begin = func(s suites.Spec) {
		c.spending.body(s, +1)
		if exceedsRateLimit(s) && expected.Probes > 0 {
			announce()
		}
		if c.Progress.Begin != nil {
			c.Progress.Begin(s)
		}
	}
	told.End = func(s suites.Spec) {
		c.spending.body(s, -1)
		if c.Progress.End != nil {
			c.Progress.End(s)
		}
	}
	return told
}

// failFast returns which outcome of a check ends the run, or nil if none does.
func (c Config) failFast(selected func(spec.Pair) bool) func(reports.Check) bool {
	if !c.FailFast {
		return nil
	}
	expected := waivers(c.Target.Profile)
	return func(check reports.Check) bool {
		if check.Outcome != reports.Fail || !selected(spec.Pair{Requirement: check.Requirement, Operation: check.Operation}) {
			return false
		}
		waived := reports.Results{Checks: []reports.Check{check}}
		judge.Waive(&waived, expected, time.Now())
		return waived.Checks[0].Outcome == reports.Fail
	}
}

// minimum is the coverage that the profile requires. A number of checks is about a
// whole run, so it does not count for one that repeats some of it.
func (c Config) minimum() judge.Minimum {
	p := c.Target.Profile
	least := judge.Minimum{Whole: p.FailOn == profile.FailOnNotAssessed, Assessed: p.MinAssessed}
	if c.Selection.Repeat != nil {
		least.Assessed = 0
	}
	return least
}

// waivers are the failures that the profile expects.
func waivers(p *profile.Profile) []judge.Waiver {
	var all []judge.Waiver
	for _, e := range p.ExpectedFailures {
		all = append(all, waiver(e))
	}
	return all
}

// timeout is how long one request may take.
func timeout(p *profile.Profile) time.Duration { return cmp.Or(p.Pace.Timeout, client.DefaultTimeout) }

// newClient returns a client of the target. Each of the hooks is called after
// every exchange, from many goroutines.
func newClient(config Config, hooks ...func(client.Exchange)) (*client.Client, error) {
	var requests atomic.Int64
	var doing func(client.Activity, string, int)
	if config.spending != nil {
		doing = config.spending.request
	}
	return config.Target.Client(client.Options{
		Seed:      config.Seed,
		Transport: config.Transport,
		Doing:     doing,
		Waits:     func(w client.Wait) { config.waits(w.For, "%s", w) },
		Observe: func(ex client.Exchange) {
			for _, hook := range hooks {
				hook(ex)
			}
			if n := requests.Add(1); config.Observe != nil {
				config.Observe(int(n))
			}
		},
	})
}
