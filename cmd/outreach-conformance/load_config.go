package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
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

// refusals are errors in the flags.
type refusals []error

// when adds an error if the flags are wrong.
func (r *refusals) when(wrong bool, format string, args ...any) {
	if wrong {
		*r = append(*r, fmt.Errorf(format, args...))
	}
}

// config returns the configuration without the target.
func (f loadFlags) config(scenarios []scenario.Scenario, stderr io.Writer) (loadtest.Config, error) {
	config := loadtest.Config{
		Scenarios: scenarios, ByName: len(f.scenarios) > 0 || f.file != "", Consent: f.consent, Seed: f.seed, Version: version(), Commit: commit(debug.ReadBuildInfo()),
		Selection: strings.Join(f.selected, " "), Workers: f.workers, Inspect: inspect.Options{Share: f.share}, Calibrator: calibrator, Calibrate: calibrate,
	}
	config.LagLimit = f.lagLimit
	var wrong refusals
	if err := f.runFlags.selection().CheckOperations(); err != nil {
		wrong = append(wrong, err)
	}
	wrong.when(f.printPart && (f.formats.onStdout() != consoleFormat || f.formats.has(format{name: githubFormat})),
		"--print-part: prints nothing but the part (leave out --format, or give each format a file)")
	wrong.when(f.seed > math.MaxInt64, "--seed %d: want at most %d", f.seed, math.MaxInt64)
	wrong.when(f.rowsGiven && !f.isEmbedded(), "--rows %d, or %s: only for the embedded target", f.rows, envvar.OfFlag("rows"))
	wrong.when(f.given["lag-limit"] && f.lagLimit <= 0, "--lag-limit %s: want more than 0", f.lagLimit)
	wrong.when(f.workers < 1 || f.workers > generate.MaxWorkers, "--concurrency %d: want 1 to %d (default %d)", f.workers, generate.MaxWorkers, generate.DefaultWorkers)
	wrong.when(!(f.share > 0 && f.share <= 1), "--inspect-share %v: want a share above 0, at most 1", f.share)
	var err, wrongThreshold error
	config.Thresholds, wrongThreshold = f.mergedThresholds(scenarios, stderr)
	config.Shard, config.Start, err = f.sharing(scenarios, time.Now())
	return config, errors.Join(append(wrong, wrongThreshold, err)...)
}

// known returns the scenarios of the file, or the built-in ones.
func (f loadFlags) known() ([]scenario.Scenario, error) {
	if f.file == "" {
		return scenario.Builtin(), nil
	}
	return scenario.Load(f.file)
}

// chosen returns the scenarios that the flags name, with the settings of the flags.
func (f loadFlags) chosen() ([]scenario.Scenario, error) {
	all, err := f.known()
	if err != nil {
		return nil, err
	}
	picked, err := scenario.Select(all, f.scenarios)
	if err != nil {
		return nil, fmt.Errorf("--scenario %w", err)
	}
	var settings []scenario.Setting
	for _, s := range []scenario.Setting{
		{Name: "rate", Field: "rate", Value: f.rate},
		{Name: "burst", Field: "burst", Value: f.burst},
		{Name: "max-rate", Field: "max_rate", Value: f.maxRate},
		{Name: "duration", Field: "duration", Value: f.duration},
		{Name: "warmup", Field: "warmup", Value: f.warmup},
		{Name: "clients", Field: "clients", Value: f.clients},
		{Name: "page-size", Field: "page_sizes", Value: f.limits},
		{Name: "mix", Field: "mix", Value: f.mix},
		{Name: "probe-budget", Field: "probe_budget", Value: f.budget},
		{Name: "probe", Field: "probe", Value: f.probe},
	} {
		if f.given[s.Name] {
			s.Name = "--" + s.Name
			settings = append(settings, s)
		}
	}
	return scenario.Override(picked, settings...)
}

// mergedThresholds returns the thresholds of the profile and the flags. It lists
// those of the profile that apply to other runs on stderr.
func (f loadFlags) mergedThresholds(chosen []scenario.Scenario, stderr io.Writer) ([]threshold.Threshold, error) {
	given, wrong := threshold.ParseAll(f.thresholds)
	known, err := f.known()
	if err != nil {
		return nil, err
	}
	var ofProfile []string
	if profile, err := f.profile(); err == nil && profile.Load != nil { // starting the target reports an error of the profile
		ofProfile = profile.Load.Thresholds
	}
	merged, skipped, err := verdict.Applicable{Chosen: chosen, Known: known, Baseline: f.baseline != "", Against: f.against != ""}.Merge(ofProfile, given)
	if err = errors.Join(wrong, err); err == nil && len(skipped) > 0 {
		_, _ = fmt.Fprintf(stderr, "skipped thresholds of the profile, which do not apply to this run: %s\n", strings.Join(skipped, ", "))
	}
	return merged, err
}

// compared returns the thresholds, the profile's included, whose baselines are read.
// Errors of thresholds and profile are reported where they are used.
func (f loadFlags) compared() []threshold.Threshold {
	texts := f.thresholds
	if profile, err := f.profile(); err == nil && profile.Load != nil {
		texts = slices.Concat(profile.Load.Thresholds, texts)
	}
	thresholds, _ := threshold.ParseAll(texts)
	return thresholds
}

// fitTo adds the target to the configuration.
func (f loadFlags) fitTo(config *loadtest.Config, t *target.Target) {
	config.Target, config.JournalDir = t, f.journals(t)
	if config.Seed == 0 {
		config.Seed = 1 + rand.Uint64N(1<<31)
	}
}
