// Package loadtest runs a whole load test: it calibrates the generator, runs
// the scenarios against the target and determines the verdict. The command
// line, the tests and a vendor's own program use the same functions.
//
// The packages below it hold the parts, in the order of the data. scenario is the
// format of what is to run. prepare prepares the target and decides what each request
// asks. runner runs a scenario: generate sends its phases and is the only user of
// Vegeta, inspect checks responses under load, and infer finds the limits of a rate
// limiter. verdict judges what was measured. measure only
// computes. loadtest must not import the suites or a test framework.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"outreach.example/conformance/fixtures/target"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/runner"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/load"
)

// Config says what to load and how. Target and Scenarios are required.
type Config struct {
	Target    *target.Target
	Scenarios []scenario.Scenario
	// ByName means that the user named the scenarios: a missing input then
	// makes the run inconclusive instead of skipping the scenario.
	ByName bool
	// Terms are what the scenarios are judged by. The calibration is filled in.
	verdict.Terms

	// Consent lists the hosts that may be loaded besides this machine.
	Consent []string `flag:"consent" usage:"host name of a target that is not on this machine, repeated as your consent to load it"`

	Seed      uint64 `flag:"seed" usage:"random seed: {seed}"`
	Version   string // of the harness, for the results
	Commit    string // of the harness; may be empty
	Selection string // scenarios and settings as flags, for the results

	Workers int             `flag:"concurrency" usage:"maximum number of requests in flight"` // maximum requests in flight; 0 means generate's default
	Inspect inspect.Options // how many answers are checked
	// Calibrator is the command of the null server
	// (generate.CalibrationOptions.Child).
	Calibrator []string
	// Calibrate measures the generator. The default is generate.Calibrate.
	Calibrate func(context.Context, generate.CalibrationOptions) (measure.Calibration, error)

	// Shard is this process's part of every phase. Start is when the first
	// phase begins, the same for all shards. The zero values mean the whole,
	// and now.
	Shard measure.Shard
	Start time.Time

	// JournalDir is where the run records its changes. If empty, nothing is
	// recorded, because the target belongs to the run alone.
	JournalDir string
	Raw        io.Writer // receives the results in Vegeta's encoding; may be nil
	RawLines   io.Writer // receives the results as JSON lines; may be nil

	// All of these may be nil.
	Interrupted func(Outcome)               // gets the outcome of an interrupted run, before changes are rolled back
	Live        func(generate.Live)         // called about ten times a second
	Watch       func(scenario, step string) // called when a phase, or a step that does not use the generator, begins
	Say         func(string)                // called with what the run is waiting for
}

// Outcome is the result of a run with the recordings behind it.
type Outcome struct {
	Results load.Results
	Parts   []verdict.Outcome // in the order of Config.Scenarios
}

func (o *Outcome) add(part verdict.Outcome) {
	o.Parts = append(o.Parts, part)
	o.Results.Scenarios = append(o.Results.Scenarios, part.Scenario)
}

// conclude determines the verdict.
func (o *Outcome) conclude(byName bool, thresholds []measure.Threshold) {
	o.Results.Traffic = verdict.Traffic(o.Parts)
	verdict.ConcludeRun(&o.Results, byName)
	verdict.RequireEvaluated(&o.Results, thresholds)
}

// Run loads the target. It returns an error only if no load was sent: an
// invalid config, a refused key, a *prepare.ThrottledError if the target
// answered only 429, or the context's cause if the run was interrupted before
// its first request. Later problems are in the results.
//
// Changes that could not be rolled back stay in the journal in
// Config.JournalDir, where the cleanup command finds them.
func Run(ctx context.Context, config Config) (Outcome, error) {
	if len(config.Scenarios) == 0 {
		return Outcome{}, errors.New("loadtest: no scenario to run")
	}
	s, err := begin(ctx, config, budgetOf(config), false)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Results: s.results()}
	for _, one := range config.Scenarios {
		o.add(runner.Run(ctx, s.env, one))
		if ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil && len(o.Parts) == 1 && unbegun(o.Parts[0]) {
		return Outcome{}, errors.Join(context.Cause(ctx), s.end())
	}
	s.finish(ctx, &o)
	config.interrupted(ctx, o)
	return o, s.end()
}

func (c Config) interrupted(ctx context.Context, o Outcome) {
	if ctx.Err() != nil && c.Interrupted != nil {
		c.Interrupted(o)
	}
}

// unbegun reports whether a scenario ended before its first phase started.
func unbegun(o verdict.Outcome) bool { return o.Traffic.Planned > 0 && o.Traffic.Sent == 0 }

// Compare loads the target and a second one in turns, with one scenario of kind
// steady, in this many pairs of blocks, and reports the figures that differ.
// The run fails if the second target is worse in any.
func Compare(ctx context.Context, config Config, against *target.Target, pairs int) (Outcome, error) {
	if len(config.Scenarios) != 1 || config.Scenarios[0].Kind != scenario.Steady {
		return Outcome{}, fmt.Errorf("loadtest: a comparison takes one scenario of kind %s, e.g. mixed", scenario.Steady)
	}
	if err := Consented(against.BaseURL, config.Consent...); err != nil {
		return Outcome{}, err // before the first target gets any request
	}
	budget := budgetOf(config)
	a, err := begin(ctx, config, budget, true)
	if err != nil {
		return Outcome{}, err
	}
	config.Target = against
	b, err := begin(ctx, config, budget, true)
	if err != nil {
		return Outcome{}, errors.Join(err, a.end())
	}
	order := verdict.PlanOrder(config.Seed, pairs)
	parts, figures := runner.Compare(ctx, a.env, b.env, config.Scenarios[0], order)
	o := Outcome{Results: a.results()}
	for i, part := range parts {
		part.Name += "-" + []string{"a", "b"}[i]
		o.add(part)
	}
	o.Results.Comparison = &load.Comparison{A: describe(a.config.Target), B: describe(against), Pairs: pairs,
		Level: verdict.ComparisonLevel, BlockSeconds: config.Scenarios[0].Duration.Seconds(), Order: order, Figures: figures}
	a.finish(ctx, &o)
	verdict.ConcludeComparison(&o.Results)
	config.interrupted(ctx, o)
	return o, errors.Join(a.end(), b.end())
}
