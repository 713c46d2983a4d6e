package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/harness"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/target"
)

type loadFlags struct {
	runFlags // the target, the seed, the output directory

	given map[string]bool // the flags that were set, by name

	list      bool
	scenarios []string
	file      string

	rate     float64
	maxRate  float64
	burst    float64
	duration time.Duration
	warmup   time.Duration
	clients  int
	limits   []int
	mix      map[string]int
	budget   int
	workers  int
	share    float64

	thresholds []string
	baseline   string
	against    string
	pairs      int
	consent    []string

	shard     string
	startAt   string
	printPart bool
	raw       bool
	lagLimit  time.Duration
}

// loadCommand is the name of the command.
const loadCommand = "load"

func newLoad() *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   loadCommand,
		Short: "Load a target and measure what it does",
		Long: `load runs load scenarios against a target, holds the figures against thresholds,
and writes into the output directory: load.html to look at, load.json and
load-junit.xml for programs, metrics.txt (OpenMetrics), latency.hlog (HDR
histogram logs) and, with --raw, results.bin for vegeta.

Requests go out on a schedule, whatever the target does, and latency counts from
the moment at which a request was due. A run that missed its rate is VOID, never
a pass. While the load is on, answers are held against the specification: what
breaks a requirement fails the run.

Exit codes: 0 PASS, 1 FAIL, 2 usage or profile wrong, 3 VOID, 130 interrupted. A
shard exits with 0 once it has left its part: the verdict is that of the whole.`,
		Example: `  outreach-conformance load
  outreach-conformance load --list --duration 10s
  outreach-conformance load --scenario mixed --rate 200 --duration 30s --threshold 'p99<250ms'
  outreach-conformance load --scenario sustained-rate --threshold 'sustained>=800/s'
  outreach-conformance load --target http://127.0.0.1:8025 --scenario soak --duration 1h
  outreach-conformance load --target-profile server.yaml --consent staging.example.com --scenario list-throughput
  outreach-conformance load --scenario list-throughput --baseline last/load.json --threshold 'regression<10%'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.note(cmd.Flags())
			return f.load(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.list, "list", false, "list the scenarios, as the other flags make them, and send nothing")
	flags.StringSliceVarP(&f.scenarios, "scenario", "s", nil, "run these scenarios only, e.g. mixed,soak (default: all)")
	flags.StringVar(&f.file, "scenarios", "", "YAML file of scenarios in place of those that come with the program")
	flags.StringVarP(&f.target, "target", "t", embeddedTarget, targetUsage)
	flags.StringVar(&f.targetProfile, "target-profile", "", profileUsage)
	flags.IntVar(&f.rows, "rows", dataset.DefaultOptions().Rows, "rows in each list of the embedded target")
	flags.Float64Var(&f.rate, "rate", 0, "requests per second, in place of the scenarios' own")
	flags.Float64Var(&f.burst, "burst", 0, "requests per second of a spike")
	flags.Float64Var(&f.maxRate, "max-rate", 0, "requests per second at which the search for the sustained rate ends")
	flags.DurationVar(&f.duration, "duration", 0, "how long each phase lasts, in place of the scenarios' own")
	flags.DurationVar(&f.warmup, "warmup", 0, "how long to warm up before the first phase, uncounted")
	flags.IntVar(&f.clients, "clients", 0, "how many clients walk at the same time")
	flags.IntSliceVar(&f.limits, "limit", nil, "page sizes to ask for")
	flags.StringToIntVar(&f.mix, "mix", nil, "shares of operations, e.g. 'subsequences.list=3,leads.move=1', in place of the scenarios' own")
	flags.IntVar(&f.budget, "budget", 0, "requests that the inference of a rate limit may take")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "what must hold, e.g. 'p99<250ms@500/s', 'errors<0.1%', 'sustained>=800/s'; may be repeated")
	flags.StringVar(&f.baseline, "baseline", "", "load.json of an earlier run that regression thresholds compare with")
	flags.StringVar(&f.against, "against", "", "address of a second target to compare with, in turns; it is used as the profile says")
	flags.IntVar(&f.pairs, "pairs", 12, "pairs of blocks of a comparison")
	flags.StringSliceVar(&f.consent, "consent", nil, "the host's name, repeated, where the target is not on this machine")
	flags.IntVar(&f.workers, "workers", 0, "most requests in flight (default 2048)")
	flags.Float64Var(&f.share, "inspect", 1, "share of the answers that are held against the specification, above 0 to 1")
	flags.StringVar(&f.shard, "shard", "", "send only this part of every phase, e.g. 3/8; load merge joins the parts of a run")
	flags.StringVar(&f.startAt, "start-at", "", "when the first phase begins, e.g. 2026-01-31T12:00:00Z or +5s; the same for all shards")
	flags.BoolVar(&f.printPart, "print-part", false, "print the shard's part as one line of JSON in place of the summary")
	flags.DurationVar(&f.lagLimit, "lag-limit", 0, "send lag (p99) to tolerate where the machine can do no better (default 1ms, or 5 % of the median answer)")
	flags.BoolVar(&f.raw, "raw", false, "write every result into results.bin, in the encoding that vegeta reads")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of what is asked and in which order (default: drawn, and printed)")
	flags.StringVarP(&f.output, "output", "o", defaultLoadOutput, "directory for the results")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show every phase and violation")
	cmd.AddCommand(newLoadMerge())
	return cmd
}

// defaultLoadOutput is where results go.
const defaultLoadOutput = "load-results"

// note remembers which flags were set, here or in the environment.
func (f *loadFlags) note(flags *pflag.FlagSet) {
	f.given = map[string]bool{}
	flags.Visit(func(flag *pflag.Flag) { f.given[flag.Name] = true })
	f.rowsGiven = f.given["rows"]
}

func (f loadFlags) load(ctx context.Context, stdout, stderr io.Writer) error {
	if !f.list {
		if err := forgetLoad(f.output); err != nil {
			return exitError{exitUsage, err}
		}
	}
	scenarios, err := f.chosen()
	if err != nil {
		return exitError{exitUsage, err}
	}
	if f.list {
		return listScenarios(stdout, scenarios)
	}
	config, err := f.config(scenarios)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := errors.Join(os.MkdirAll(f.output, 0o755), forgetLoad(f.output)); err != nil {
		return exitError{exitUsage, fmt.Errorf("the output directory: %w", err)}
	}
	if err := f.consented(); err != nil {
		return exitError{exitUsage, err}
	}
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	if err := f.fitTo(&config, t); err != nil {
		return exitError{exitUsage, err}
	}
	raw, err := openRaw(f.output, f.raw)
	if err != nil {
		return exitError{exitUsage, err}
	}
	config.Raw = raw.writer()
	view := newLoadView(stderr, scenario.Names(scenarios))
	config.Live, config.Watch = view.live, view.begin
	outcome, err := f.send(ctx, config)
	view.stop()
	if outcome.Results.Version == "" {
		if ctx.Err() != nil {
			return exitError{exitInterrupted, err}
		}
		code := exitUsage
		if exit := (exitError{}); errors.As(err, &exit) {
			code, err = exit.code, exit.cause
		}
		return exitError{code, errors.Join(err, raw.close())}
	}
	err = errors.Join(err, raw.close(), f.putBack(ctx, t))
	return f.reportLoad(outcome, scenarios, stdout, err)
}

// consented makes sure, before anything is sent, that whoever runs the targets
// agrees to load. What the flags themselves start runs on this machine.
func (f loadFlags) consented() error {
	if f.against != "" {
		if err := loadtest.Consented(f.against, f.consent...); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	if f.isEmbedded() {
		return nil
	}
	profile, err := f.profile()
	if err != nil {
		return err
	}
	address := profile.BaseURL
	if f.target != embeddedTarget {
		address = f.target
	}
	if profile.Container != nil || address == "" {
		return nil // an address that is missing is for the target to complain of
	}
	if err := loadtest.Consented(address, f.consent...); err != nil {
		return fmt.Errorf("--target, or base_url in the profile: %w", err)
	}
	return nil
}

// send runs the scenarios, or the comparison with a second target.
func (f loadFlags) send(ctx context.Context, config loadtest.Config) (loadtest.Outcome, error) {
	if f.against == "" {
		return loadtest.Run(ctx, config)
	}
	second, err := target.URL(config.Target.Profile, f.against)
	if err != nil {
		return loadtest.Outcome{}, fmt.Errorf("--against: %w", err)
	}
	if err := second.Reachable(ctx); err != nil {
		return loadtest.Outcome{}, exitError{exitCannotTell, fmt.Errorf("--against: %w", err)}
	}
	return loadtest.Compare(ctx, config, second, f.pairs)
}

// config is what the flags say of the run, the target aside.
func (f loadFlags) config(scenarios []scenario.Scenario) (loadtest.Config, error) {
	var wrong []error
	config := loadtest.Config{
		Scenarios: scenarios, ByName: len(f.scenarios) > 0 || f.file != "", Consent: f.consent, Seed: f.seed, Version: version(),
		Selection: f.selection(), Workers: f.workers, Inspect: inspect.Options{Share: f.share}, Calibrator: calibrator, LagLimit: f.lagLimit,
	}
	if f.seed > math.MaxInt64 {
		wrong = append(wrong, fmt.Errorf("--seed %d is above %d, the greatest that results can name", f.seed, math.MaxInt64))
	}
	if f.rowsGiven && !f.isEmbedded() {
		wrong = append(wrong, fmt.Errorf("--rows %d, or %s, is for the embedded target alone: leave it out", f.rows, variable("rows")))
	}
	if f.lagLimit < 0 {
		wrong = append(wrong, fmt.Errorf("--lag-limit %s: want more than 0", f.lagLimit))
	}
	if f.workers < 0 || f.workers > generate.MaxWorkers {
		wrong = append(wrong, fmt.Errorf("--workers %d: want 1 to %d, or 0 for the default of %d", f.workers, generate.MaxWorkers, generate.DefaultWorkers))
	}
	if !(f.share > 0 && f.share <= 1) {
		wrong = append(wrong, fmt.Errorf("--inspect %v: want a share above 0 and at most 1", f.share))
	}
	var err error
	if config.Thresholds, err = parseThresholds(f.thresholds); err != nil {
		wrong = append(wrong, err)
	}
	for _, t := range config.Thresholds {
		if t.Metric != "" && !has(scenarios, t) {
			wrong = append(wrong, fmt.Errorf("--threshold %q: none of the scenarios %s has that figure%s", t.Text, strings.Join(scenario.Names(scenarios), ", "),
				harness.Near(t.Scenario, scenario.Names(scenarios))))
		}
	}
	if config.Shard, err = parseShard(f.shard); err != nil {
		wrong = append(wrong, err)
	}
	if config.Start, err = parseStart(f.startAt, time.Now()); err != nil {
		wrong = append(wrong, err)
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
				wrong = append(wrong, fmt.Errorf("--shard: the scenario %s finds its way as it goes, so that processes cannot share it: name others with --scenario", s.Name))
			}
		}
		if f.startAt == "" {
			wrong = append(wrong, errors.New("--shard needs --start-at: all shards count from the same instant, at least "+leastAhead.String()+" ahead"))
		}
		if strings.HasPrefix(f.startAt, "+") {
			wrong = append(wrong, fmt.Errorf("--start-at %s: each shard would count from its own start: give all of them the same instant", f.startAt))
		} else if ahead := time.Until(config.Start); f.startAt != "" && ahead < leastAhead {
			wrong = append(wrong, fmt.Errorf("--start-at %s is %s ahead: the generator is calibrated before, so give at least %s", f.startAt, ahead.Round(time.Second), leastAhead))
		}
		if f.isEmbedded() {
			wrong = append(wrong, errors.New("--shard needs a --target that all shards can reach: the embedded server is each process's own"))
		}
		if f.seed == 0 {
			wrong = append(wrong, errors.New("--shard needs --seed: all shards must draw the same"))
		}
	}
	if f.printPart && !sharded {
		wrong = append(wrong, errors.New("--print-part goes with --shard"))
	}
	if f.against == "" && f.given["pairs"] {
		wrong = append(wrong, errors.New("--pairs goes with --against"))
	}
	if f.against != "" {
		switch {
		case sharded:
			wrong = append(wrong, errors.New("--against and --shard do not go together"))
		case len(f.scenarios) != 1:
			wrong = append(wrong, errors.New("--against compares in one scenario: name it with --scenario, e.g. mixed"))
		case config.Scenarios[0].Kind != scenario.Steady:
			wrong = append(wrong, fmt.Errorf("--against compares in a scenario of kind %s, e.g. mixed; %s is of kind %s", scenario.Steady, config.Scenarios[0].Name, config.Scenarios[0].Kind))
		case f.pairs < 1 || f.pairs > 1000:
			wrong = append(wrong, fmt.Errorf("--pairs %d: want 1 to 1000", f.pairs))
		}
	}
	return errors.Join(wrong...)
}

// fitTo completes the configuration by what the target's profile says.
func (f loadFlags) fitTo(config *loadtest.Config, t *target.Target) error {
	config.Target, config.JournalDir = t, f.journals(t)
	if config.Seed == 0 {
		config.Seed = 1 + rand.Uint64N(1<<31)
	}
	if t.Profile.Load != nil {
		own, err := parseThresholds(t.Profile.Load.Thresholds)
		if err != nil {
			return fmt.Errorf("load.thresholds in the profile: %w", err)
		}
		// The profile's are for every load run: some are for scenarios that this one leaves out.
		own = slices.DeleteFunc(own, func(t threshold.Threshold) bool { return !has(config.Scenarios, t) })
		config.Thresholds = append(own, config.Thresholds...)
	}
	if f.baseline != "" && !slices.ContainsFunc(config.Thresholds, func(t threshold.Threshold) bool { return t.Metric == threshold.Regression && t.Baseline == "" }) {
		return errors.New("--baseline: no threshold compares with it: say what is allowed, e.g. --threshold 'regression<10%'")
	}
	var err error
	config.Baselines, err = loadtest.ReadBaselines(f.baseline, config.Thresholds)
	return err
}

// putBack undoes on the target what scenarios changed.
func (f loadFlags) putBack(ctx context.Context, t *target.Target) error {
	if f.journals(t) == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTimeout)
	defer cancel()
	if _, err := harness.Cleanup(ctx, t, f.output); err != nil {
		return fmt.Errorf("not all could be put back; `outreach-conformance cleanup` tries again: %w", err)
	}
	return nil
}

// putBackTimeout bounds the putting back, which goes on after an interruption.
const putBackTimeout = time.Minute

// has reports whether one of the scenarios yields the figure of the threshold.
func has(scenarios []scenario.Scenario, t threshold.Threshold) bool {
	return slices.ContainsFunc(scenarios, func(s scenario.Scenario) bool { return s.Has(t) })
}

func parseThresholds(texts []string) ([]threshold.Threshold, error) {
	var parsed []threshold.Threshold
	var wrong []error
	for _, text := range texts {
		t, err := threshold.Parse(text)
		if err != nil {
			wrong = append(wrong, err)
		}
		parsed = append(parsed, t)
	}
	return parsed, errors.Join(wrong...)
}

// countsFromZero begins a shard of an engine whose indices do.
const countsFromZero = "index:"

// parseShard reads 3/8, the third of eight, or index:2/8, which is the same.
func parseShard(text string) (measure.Shard, error) {
	if text == "" {
		return measure.Shard{}, nil
	}
	number, first := strings.TrimPrefix(text, countsFromZero), 1
	if number != text {
		first = 0
	}
	index, of, _ := strings.Cut(number, "/")
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(of)
	if errI != nil || errN != nil || n < 1 || n > 10_000 || i < first || i >= n+first {
		return measure.Shard{}, fmt.Errorf("--shard %s: write it like 3/8, the third of eight, or index:2/8 to count from 0", text)
	}
	return measure.Shard{Index: i - first, Of: n}, nil
}

// parseStart reads an instant, or a time from now such as +5s.
func parseStart(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ahead, ok := strings.CutPrefix(text, "+"); ok {
		if d, err := time.ParseDuration(ahead); err == nil && d > 0 {
			return now.Add(d), nil
		}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--start-at %s: write an instant like 2026-01-31T12:00:00Z, or a time from now like +5s", text)
	}
	if at.Before(now) {
		return time.Time{}, fmt.Errorf("--start-at %s is over: give an instant that lies ahead", text)
	}
	return at, nil
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
	add(f.file != "", "scenarios", f.file)
	add(f.rate != 0, "rate", f.rate)
	add(f.burst != 0, "burst", f.burst)
	add(f.maxRate != 0, "max-rate", f.maxRate)
	add(f.duration != 0, "duration", f.duration)
	add(f.warmup != 0, "warmup", f.warmup)
	add(f.clients != 0, "clients", f.clients)
	for _, limit := range f.limits {
		add(true, "limit", limit)
	}
	for _, operation := range slices.Sorted(maps.Keys(f.mix)) {
		add(true, "mix", fmt.Sprintf("%s=%d", operation, f.mix[operation]))
	}
	add(f.budget != 0, "budget", f.budget)
	add(f.share != 1, "inspect", f.share)
	add(f.workers != 0, "workers", f.workers)
	for _, t := range f.thresholds {
		add(true, "threshold", strconv.Quote(t))
	}
	return strings.Join(parts, " ")
}
