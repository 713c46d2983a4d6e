// Package loadtest runs the whole load job: it calibrates the generator, runs
// the scenarios against the target and draws the verdict. The command line, the
// tests and a vendor's own program call it alike.
//
// The packages below it hold the parts: schedule, measure, threshold, compare
// and infer are pure; generate sends, and is the only home of Vegeta; inspect
// judges answers under load; scenario says what is asked. It must not import the
// suites or a test framework.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/loadtest/compare"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// Config says what to load and how. Target and Scenarios are required.
type Config struct {
	Target    *target.Target
	Scenarios []scenario.Scenario
	// ByName says that the scenarios were asked for: one for which an input is
	// missing then makes the run VOID instead of being left out.
	ByName     bool
	Thresholds []threshold.Threshold // in place of the scenarios' own of the same figures
	// Baselines hold the figures that regressions compare with, by the file that a
	// threshold names; the empty name is for those that name none.
	Baselines map[string]*threshold.Baseline

	// Consent repeats the hosts' names where a target is not on this machine.
	Consent []string

	Seed      uint64
	Version   string // of the harness, for the results
	Selection string // scenarios and settings as flags, for the results

	LagLimit time.Duration   // send lag that is tolerated; 0 is what measure says
	Workers  int             // most requests in flight; 0 is generate's default
	Inspect  inspect.Options // how much of what comes is judged
	// Calibrator runs the null server (generate.CalibrationOptions.Child).
	Calibrator []string

	// Shard is the part of every phase that this process sends, and Start when
	// the first begins: the same for all shards. Zero is the whole, and now.
	Shard measure.Shard
	Start time.Time

	// JournalDir is where the run writes down what it changes; empty for nowhere:
	// then the target is taken to be the run's alone.
	JournalDir string
	// ClaimPatience is how long to wait for another run that uses the same rows;
	// zero means the default of package claim.
	ClaimPatience time.Duration
	Raw           io.Writer // takes the results in Vegeta's encoding; nil for nobody

	Live  func(generate.Live)                                     // about ten times a second
	Watch func(scenario, phase string, planned schedule.Schedule) // each phase that begins, and steps without a schedule
	Say   func(string)                                            // what the run waits for before it begins, or a phase of it
}

// Outcome is what a run came to: the results, and the recordings behind them.
type Outcome struct {
	Results load.Results
	Parts   []scenario.Outcome // in the order of Config.Scenarios
}

// Run loads the target. Its error means that nothing was loaded: the caller's
// input is wrong, were it a key that the target refuses; a scenario.ThrottledError
// is of a target that answered nothing but 429, and the context's cause of a run
// that was interrupted before its first request. Whatever goes wrong later is in the results.
//
// What the run has changed on a target of a URL and could not put back stands in
// its journal, in Config.JournalDir: harness.Cleanup puts it back.
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
		part := scenario.Run(ctx, s.env, one)
		o.Parts = append(o.Parts, part)
		o.Results.Scenarios = append(o.Results.Scenarios, part.Scenario)
		if ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil && len(o.Parts) == 1 && unbegun(o.Parts[0]) {
		return Outcome{}, errors.Join(context.Cause(ctx), s.end())
	}
	s.finish(ctx, &o)
	return o, s.end()
}

// unbegun reports whether a scenario ended while its first phase was to start.
func unbegun(o scenario.Outcome) bool { return o.Traffic.Planned > 0 && o.Traffic.Sent == 0 }

// Compare loads the target and a second one in turns, with one scenario of kind
// steady, in so many pairs of blocks of its duration, and tells in which figures
// they differ. The run fails if the second is worse in any.
func Compare(ctx context.Context, config Config, against *target.Target, pairs int) (Outcome, error) {
	if len(config.Scenarios) != 1 || config.Scenarios[0].Kind != scenario.Steady {
		return Outcome{}, fmt.Errorf("loadtest: a comparison takes one scenario of kind %s, e.g. mixed", scenario.Steady)
	}
	if err := Consented(against.BaseURL, config.Consent...); err != nil {
		return Outcome{}, err // before the first target gets anything
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
	order := compare.Plan(config.Seed, pairs)
	parts, figures := scenario.Compare(ctx, a.env, b.env, config.Scenarios[0], order)
	o := Outcome{Results: a.results()}
	for i, part := range parts {
		part.Name += "-" + []string{"a", "b"}[i]
		o.Parts = append(o.Parts, part)
		o.Results.Scenarios = append(o.Results.Scenarios, part.Scenario)
	}
	o.Results.Comparison = &load.Comparison{A: describe(a.config.Target), B: describe(against), Pairs: pairs,
		BlockSeconds: config.Scenarios[0].Duration.Seconds(), Order: order.String(), Figures: scenario.Effects(figures)}
	a.finish(ctx, &o)
	concludeComparison(&o.Results)
	return o, errors.Join(a.end(), b.end())
}

// Name is what the harness calls itself in results.
const Name = "outreach-conformance"
