package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
)

// config is what the flags, and the profile's thresholds, say of the run, the
// target aside.
func (f loadFlags) config(scenarios []scenario.Scenario, stderr io.Writer) (loadtest.Config, error) {
	var wrong []error
	config := loadtest.Config{
		Scenarios: scenarios, ByName: len(f.scenarios) > 0 || f.file != "", Consent: f.consent, Seed: f.seed, Version: version(),
		Selection: f.selection(), Workers: f.workers, Inspect: inspect.Options{Share: f.share}, Calibrator: calibrator, Calibrate: calibrate, LagLimit: f.lagLimit,
	}
	if f.seed > math.MaxInt64 {
		wrong = append(wrong, fmt.Errorf("--seed %d: want at most %d", f.seed, math.MaxInt64))
	}
	if f.rowsGiven && !f.isEmbedded() {
		wrong = append(wrong, fmt.Errorf("--rows %d, or %s: only for the embedded target", f.rows, envvar.OfFlag("rows")))
	}
	if f.given["lag-limit"] && f.lagLimit <= 0 {
		wrong = append(wrong, fmt.Errorf("--lag-limit %s: want more than 0", f.lagLimit))
	}
	if f.workers < 1 || f.workers > generate.MaxWorkers {
		wrong = append(wrong, fmt.Errorf("--concurrency %d: want 1 to %d (default %d)", f.workers, generate.MaxWorkers, generate.DefaultWorkers))
	}
	if !(f.share > 0 && f.share <= 1) {
		wrong = append(wrong, fmt.Errorf("--inspect-share %v: want a share above 0, at most 1", f.share))
	}
	var err error
	if config.Thresholds, err = f.checkedThresholds(scenarios, stderr); err != nil {
		wrong = append(wrong, err)
	}
	if config.Shard, err = parseShard(f.shard); err != nil {
		wrong = append(wrong, err)
	}
	if config.Start, err = parseStart(f.startAt, time.Now()); err != nil {
		wrong = append(wrong, err)
	}
	if f.baseline != "" && !slices.ContainsFunc(config.Thresholds, func(t threshold.Threshold) bool { return t.Metric == threshold.Regression && t.Baseline == "" }) {
		wrong = append(wrong, errors.New("--baseline: no threshold uses it (add one, e.g. --threshold 'regression<10%')"))
	}
	wrong = append(wrong, f.contradictions(config))
	return config, errors.Join(wrong...)
}

// leastAhead is the least time before the start of a shard: for the calibration,
// and for a target that is slow to answer.
const leastAhead = 5 * time.Second

// contradictions are flags that cannot be meant together.
func (f loadFlags) contradictions(config loadtest.Config) error {
	var wrong []error
	sharded := config.Shard.Of > 1
	if sharded {
		for _, s := range config.Scenarios {
			if !s.Shardable() {
				wrong = append(wrong, fmt.Errorf("--shard: scenario %s is adaptive and cannot be sharded (choose others with --scenario)", s.Name))
			}
		}
		if f.startAt == "" {
			wrong = append(wrong, errors.New("--shard needs --start-at: the same time for all shards, at least "+leastAhead.String()+" ahead"))
		}
		if strings.HasPrefix(f.startAt, "+") {
			wrong = append(wrong, fmt.Errorf("--start-at %s: relative to the start of each shard (give all shards the same absolute time)", f.startAt))
		} else if ahead := time.Until(config.Start); !config.Start.IsZero() && ahead < leastAhead {
			wrong = append(wrong, fmt.Errorf("--start-at %s: only %s ahead, want at least %s for the calibration", f.startAt, ahead.Round(time.Second), leastAhead))
		}
		if f.isEmbedded() {
			wrong = append(wrong, errors.New("--shard needs a --target that all shards reach: each process has its own embedded server"))
		}
		if f.seed == 0 {
			wrong = append(wrong, errors.New("--shard needs --seed: the same for all shards"))
		}
	}
	if !sharded && f.startAt != "" {
		for _, s := range config.Scenarios {
			if !s.Shardable() {
				wrong = append(wrong, fmt.Errorf("--start-at: scenario %s is adaptive and starts at once (choose others with --scenario)", s.Name))
			}
		}
	}
	if f.against != "" && f.startAt != "" {
		wrong = append(wrong, errors.New("--against and --start-at exclude each other"))
	}
	if f.printPart && !sharded {
		wrong = append(wrong, errors.New("--print-part needs --shard"))
	}
	if f.against == "" && f.given["pairs"] {
		wrong = append(wrong, errors.New("--pairs needs --against"))
	}
	if f.against != "" {
		switch {
		case sharded:
			wrong = append(wrong, errors.New("--against and --shard exclude each other"))
		case len(f.scenarios) != 1:
			wrong = append(wrong, errors.New("--against compares one scenario (choose it with --scenario, e.g. mixed)"))
		case config.Scenarios[0].Kind != scenario.Steady:
			wrong = append(wrong, fmt.Errorf("--against needs a scenario of kind %s, such as mixed; %s is of kind %s", scenario.Steady, config.Scenarios[0].Name, config.Scenarios[0].Kind))
		case f.pairs < verdict.LeastPairs() || f.pairs > 1000:
			wrong = append(wrong, fmt.Errorf("--pairs %d: want %d to 1000 (fewer cannot show a difference)", f.pairs, verdict.LeastPairs()))
		}
	}
	return errors.Join(wrong...)
}

// fitTo completes the configuration by the target.
func (f loadFlags) fitTo(config *loadtest.Config, t *target.Target) {
	config.Target, config.JournalDir = t, f.journals(t)
	if config.Seed == 0 {
		config.Seed = 1 + rand.Uint64N(1<<31)
	}
}

// selection writes the flags that say what is asked.
func (f loadFlags) selection() string {
	var parts []string
	add := func(given bool, flag string, value any) {
		if given {
			parts = append(parts, fmt.Sprintf("--%s %v", flag, value))
		}
	}
	add(len(f.scenarios) > 0, "scenario", strings.Join(f.scenarios, ","))
	add(f.file != "", "scenario-file", f.file)
	add(f.rate != 0, "rate", f.rate)
	add(f.burst != 0, "burst", f.burst)
	add(f.maxRate != 0, "max-rate", f.maxRate)
	add(f.duration != 0, "duration", f.duration)
	add(f.warmup != 0, "warmup", f.warmup)
	add(f.clients != 0, "clients", f.clients)
	for _, limit := range f.limits {
		add(true, "page-size", limit)
	}
	for _, operation := range slices.Sorted(maps.Keys(f.mix)) {
		add(true, "mix", fmt.Sprintf("%s=%d", operation, f.mix[operation]))
	}
	add(f.budget != 0, "probe-budget", f.budget)
	add(f.against != "", "against", f.against)
	add(f.against != "", "pairs", f.pairs)
	add(f.given["writes"], "writes", f.writes)
	add(f.given["max-requests"], "max-requests", f.requests)
	add(f.given["timeout"], "timeout", f.timeout)
	add(f.lagLimit != 0, "lag-limit", f.lagLimit)
	add(f.share != 1, "inspect-share", f.share)
	add(f.given["concurrency"], "concurrency", f.workers)
	for _, t := range f.thresholds {
		add(true, "threshold", strconv.Quote(t))
	}
	return strings.Join(parts, " ")
}
