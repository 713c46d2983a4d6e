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
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/client"
	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/journal"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/target"
)

// Config says what to load and how. Target and Scenarios are required.
type Config struct {
	Target    *target.Target
	Scenarios []scenario.Scenario
	// ByName says that the scenarios were asked for: one for which an input is
	// missing then makes the run VOID instead of being left out.
	ByName     bool
	Thresholds []threshold.Threshold // besides the scenarios' own
	// Baselines hold the figures that regressions compare with, by the file that a
	// threshold names; the empty name is for those that name none.
	Baselines map[string]*threshold.Baseline

	// Consent repeats the host's name where the target is not on this machine.
	Consent string

	Seed      uint64
	Version   string // of the harness, for the results
	Selection string // scenarios and settings as flags, for the results

	Workers int             // most requests in flight; 0 is generate's default
	Inspect inspect.Options // how much of what comes is judged
	// Calibrator runs the null server (generate.CalibrationOptions.Child).
	Calibrator []string

	// Shard is the part of every phase that this process sends, and Start when
	// the first begins: the same for all shards. Zero is the whole, and now.
	Shard measure.Shard
	Start time.Time

	// JournalDir is where the run writes down what it changes; empty for nowhere.
	JournalDir string
	Raw        io.Writer // takes the results in Vegeta's encoding; nil for nobody

	Live  func(generate.Live)                                     // about ten times a second
	Watch func(scenario, phase string, planned schedule.Schedule) // each phase that begins
}

// Outcome is what a run came to: the results, and the recordings behind them.
type Outcome struct {
	Results load.Results
	Parts   []scenario.Outcome // in the order of Config.Scenarios
}

// Run loads the target. Its error means that nothing was sent: the caller's
// input is wrong. Whatever goes wrong later is in the results.
func Run(ctx context.Context, config Config) (Outcome, error) {
	if len(config.Scenarios) == 0 {
		return Outcome{}, errors.New("loadtest: no scenario to run")
	}
	if err := Consented(config.Target.BaseURL, config.Consent); err != nil {
		return Outcome{}, err
	}
	started := time.Now()
	id := uuid.NewString()
	env, end, err := environment(ctx, config, id)
	if err != nil {
		return Outcome{}, err
	}

	o := Outcome{Results: load.Results{
		Version: load.ModelVersion,
		Tool:    reports.Tool{Name: Name, Version: config.Version, Go: runtime.Version()},
		Target:  describe(config.Target),
		Run:     load.Run{ID: id, Started: started.UTC().Truncate(time.Millisecond), Seed: int64(config.Seed), Selection: config.Selection, Shard: shardOf(config.Shard)},
	}}
	calibrated := calibration(env.Calibration)
	o.Results.Calibration = &calibrated
	for _, s := range config.Scenarios {
		part := scenario.Run(ctx, env, s)
		o.Parts = append(o.Parts, part)
		o.Results.Scenarios = append(o.Results.Scenarios, part.Scenario)
		if ctx.Err() != nil {
			break
		}
	}
	o.Results.Run.Interrupted = ctx.Err() != nil
	o.Results.Run.Seconds = time.Since(started).Seconds()
	o.Results.Traffic = traffic(o.Parts)
	conclude(&o.Results, config.ByName)
	return o, end()
}

// Name is what the harness calls itself in results.
const Name = "outreach-conformance"

// environment makes what the scenarios work with. end releases it, and says what
// could not be put down.
func environment(ctx context.Context, config Config, id string) (env *scenario.Env, end func() error, err error) {
	t := config.Target
	rules, err := judge.NewRules()
	if err != nil {
		return nil, nil, err
	}
	api, err := client.New(clientOptions(t, config.Seed))
	if err != nil {
		return nil, nil, err
	}
	generator, err := generate.New(generate.Options{BaseURL: t.BaseURL, TLSConfig: t.TLS, Workers: config.Workers,
		Timeout: t.Profile.Pace.Timeout, Raw: config.Raw, Tick: config.Live})
	if err != nil {
		return nil, nil, err
	}
	calibration, err := generate.Calibrate(ctx, calibrationOptions(ctx, t.Profile, api, config))
	if err != nil {
		return nil, nil, err
	}
	env = &scenario.Env{
		Profile: t.Profile, BaseURL: t.BaseURL, Rules: rules, Client: api, Bare: bare(t, config.Seed),
		Generator: generator, Calibration: calibration, Inspect: config.Inspect,
		Thresholds: config.Thresholds, Baselines: config.Baselines,
		Run: id, Seed: config.Seed, Shard: config.Shard, Start: config.Start,
		Memory: memory(t.TruthURL), Watch: config.Watch,
	}
	if l := t.Profile.Load; l != nil {
		env.MaxRate, env.Budget = float64(l.MaxRate), int64(l.Budget)
	}
	if config.JournalDir != "" {
		if env.Journal, err = journal.Start(config.JournalDir, id, t.BaseURL); err != nil {
			return nil, nil, err
		}
	}
	return env, func() error {
		generator.Close()
		api.Close()
		if env.Journal != nil {
			return env.Journal.Finish()
		}
		return nil
	}, nil
}

func clientOptions(t *target.Target, seed uint64) client.Options {
	options := client.Options{
		BaseURL: t.BaseURL, TLSConfig: t.TLS, Seed: seed,
		Concurrency: t.Profile.Pace.Concurrency, RequestsPerSecond: t.Profile.Pace.RequestsPerSecond, Timeout: t.Profile.Pace.Timeout,
	}
	for _, k := range t.Profile.Keys {
		options.Keys = append(options.Keys, client.Key{Name: k.Name, Token: k.Token})
	}
	return options
}

// bare makes clients without pace, from a local address of the caller's choice.
func bare(t *target.Target, seed uint64) func(int, string) (*client.Client, error) {
	return func(concurrency int, from string) (*client.Client, error) {
		options := clientOptions(t, seed)
		options.Concurrency, options.RequestsPerSecond = concurrency, 0
		if from != "" {
			transport, err := fromAddress(from, t.TLS, concurrency)
			if err != nil {
				return nil, err
			}
			options.Transport, options.TLSConfig = transport, nil
		}
		return client.New(options)
	}
}

// calibrationOptions takes an answer of the target for a measure of the bodies
// to come; a target that does not answer is for the scenarios to find.
func calibrationOptions(ctx context.Context, profile *fixtures.Profile, api *client.Client, config Config) generate.CalibrationOptions {
	options := generate.CalibrationOptions{Child: config.Calibrator}
	if request, ok := scenario.Typical(profile); ok {
		if ex := api.Do(ctx, request); ex.Err == nil && ex.Status == http.StatusOK {
			options.Body = ex.Body
		}
	}
	return options
}

func describe(t *target.Target) reports.Target {
	return reports.Target{Name: t.Profile.Name, Version: t.Profile.Version, Vendor: t.Profile.Vendor, BaseURL: t.BaseURL, Kind: t.Kind}
}
