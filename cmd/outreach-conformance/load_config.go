package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/publish"
)

// refusals are errors in the flags.
type refusals []error

// when adds an error if the flags are wrong.
func (r *refusals) when(wrong bool, format string, args ...any) {
	if wrong {
		*r = append(*r, fmt.Errorf(format, args...))
	}
}

// choose picks the scenarios that the flags name, with the settings of the flags.
func (f *loadOptions) choose(known []scenario.Scenario) error {
	picked, err := scenario.Select(known, f.Chosen)
	if err != nil {
		return fmt.Errorf("--scenario %w", err)
	}
	var settings []scenario.Setting
	for _, name := range []string{"rate", "burst", "max-rate", "duration", "warmup", "clients", "page-size", "mix", "probe-budget", "probe"} {
		if f.Given(name) {
			field := strings.NewReplacer("-", "_", "page-size", "page_sizes").Replace(name)
			settings = append(settings, scenario.Setting{Name: "--" + name, Field: field, Value: f.Value(name)})
		}
	}
	f.Scenarios, err = scenario.Override(picked, settings...)
	return err
}

// configure completes and checks the configuration, except for the target. OfProfile are the
// thresholds of the profile.
func (f *loadOptions) configure(known []scenario.Scenario, ofProfile []string) error {
	f.ByName, f.Version, f.Commit = len(f.Chosen) > 0 || f.File != "", version(), commit()
	f.Config.Selection, f.Calibrator, f.Calibrate, f.Settings.LoadBudget = f.selected(), calibrator, calibrate, f.Budget
	var wrong refusals
	seed, err := drawn(f.Seed)
	wrong = append(wrong, f.Selection.CheckOperations(), err)
	wrong.when(f.PrintPart && (f.OnStdout() != publish.Console || f.Annotates()),
		"--print-part: prints nothing but the part (leave out --format, or give each format a file)")
	wrong.when(f.Given("lag-limit") && f.LagLimit <= 0, "--lag-limit %s: want more than 0", f.LagLimit)
	wrong.when(f.Workers < 1 || f.Workers > generate.MaxWorkers, "--concurrency %d: want 1 to %d (default %d)", f.Workers, generate.MaxWorkers, generate.DefaultWorkers)
	wrong.when(!(f.Inspect.Share > 0 && f.Inspect.Share <= 1), "--inspect-share %v: want a share above 0, at most 1", f.Inspect.Share)
	wrong = append(wrong, f.judgeBy(known, ofProfile), f.share(time.Now()))
	f.Seed = seed
	return errors.Join(wrong...)
}

// judgeBy merges the thresholds of the profile and the flags. It lists those of the profile that
// apply to other runs.
func (f *loadOptions) judgeBy(known []scenario.Scenario, ofProfile []string) error {
	given, wrong := measure.ParseThresholds(f.Thresholds)
	merged, skipped, err := verdict.Applicable{Chosen: f.Scenarios, Known: known, Baseline: f.Baseline != "", Against: f.Against != ""}.Merge(ofProfile, given)
	if err = errors.Join(wrong, err); err == nil && len(skipped) > 0 {
		_, _ = fmt.Fprintf(f.err, "skipped thresholds of the profile, which do not apply to this run: %s\n", strings.Join(skipped, ", "))
	}
	f.Config.Thresholds = merged
	return err
}

// share reads the shard and the start. It returns an error for all flags of shards and of
// comparisons that are invalid or contradict each other.
func (f *loadOptions) share(now time.Time) error {
	var wrongShard, wrongStart error
	f.Shard, wrongShard = loadtest.ParseShard(f.ShardOf)
	f.Start, wrongStart = loadtest.ParseStart(f.StartAt, now)
	wrong := refusals{wrongShard, wrongStart}
	sharded, against, relative, ahead := f.Shard.Of > 1, f.Against != "", strings.HasPrefix(f.StartAt, "+"), f.Start.Sub(now)
	for _, one := range f.Scenarios {
		wrong.when(sharded && !one.Shardable(), "--shard: scenario %s is adaptive and cannot be sharded (choose others with --scenario)", one.Name)
		wrong.when(!sharded && f.StartAt != "" && !one.Shardable(), "--start-at: scenario %s is adaptive and starts at once (choose others with --scenario)", one.Name)
	}
	wrong.when(sharded && f.StartAt == "", "--shard needs --start-at: the same time for all shards, at least %s ahead", loadtest.LeastAhead)
	wrong.when(sharded && relative, "--start-at %s: relative to the start of each shard (give all shards the same absolute time)", f.StartAt)
	wrong.when(sharded && !relative && !f.Start.IsZero() && ahead < loadtest.LeastAhead,
		"--start-at %s: only %s ahead, want at least %s for the calibration", f.StartAt, ahead.Round(time.Second), loadtest.LeastAhead)
	wrong.when(sharded && f.IsEmbedded(), "--shard needs a --target that all shards reach: each process has its own embedded server")
	wrong.when(sharded && f.Seed == 0, "--shard needs --seed: the same for all shards")
	wrong.when(!sharded && f.PrintPart, "--print-part needs --shard")
	wrong.when(against && f.StartAt != "", "--against and --start-at exclude each other")
	wrong.when(against && f.Baseline != "", "--against and --baseline exclude each other: a run is compared with one of them")
	wrong.when(!against && f.Given("pairs"), "--pairs needs --against")
	switch least := verdict.LeastPairs(); {
	case !against:
	case sharded:
		wrong.when(true, "--against and --shard exclude each other")
	case len(f.Chosen) != 1:
		wrong.when(true, "--against compares one scenario (choose it with --scenario, e.g. mixed)")
	case f.Scenarios[0].Kind != scenario.Steady:
		wrong.when(true, "--against needs a scenario of kind %s, such as mixed; %s is of kind %s", scenario.Steady, f.Scenarios[0].Name, f.Scenarios[0].Kind)
	default:
		wrong.when(f.Pairs < least || f.Pairs > verdict.MostPairs, "--pairs %d: want %d to %d (fewer cannot show a difference)", f.Pairs, least, verdict.MostPairs)
	}
	return errors.Join(wrong...)
}
