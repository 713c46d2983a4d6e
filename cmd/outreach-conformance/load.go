package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/reports/view"
)

type loadFlags struct {
	runFlags // the target, the seed, the output directory

	given    map[string]bool // the flags that were set, by name
	selected []string        // those that select, with their values

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
	probe    string
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
	raw       []string // encodings
	listen    string
	lagLimit  time.Duration
}

// loadCommand is the name of the command.
const loadCommand = "load"

func newLoad() *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   loadCommand,
		Short: "Load a target and measure what it does",
		Long: `load runs load scenarios against a target and compares the figures with
thresholds. It writes into the output directory: load.html for people, load.json
and load-junit.xml for programs, metrics.txt (OpenMetrics), latency.hlog (HDR
histogram logs) and, with --raw, results.bin or results.jsonl for
vegeta.

Requests are sent on a schedule, whatever the target does. Latency counts from the
time when a request was due. If the generator missed its rate, the run
is inconclusive, never a pass. Responses are checked against the specification
during the load: a violation fails the run.

Exit codes: 0 pass, 1 fail, 2 usage or profile error, 3 inconclusive, 130
interrupted. A shard exits with 0 once it has written its part: load merge draws
the verdict.`,
		Example: `  outreach-conformance load
  outreach-conformance load --list --duration 10s
  outreach-conformance load --scenario mixed --rate 200 --duration 30s --threshold 'p99<250ms'
  outreach-conformance load --scenario sustained-rate --threshold 'sustained>=800/s'
  outreach-conformance load --target http://127.0.0.1:8025 --scenario soak --duration 1h
  outreach-conformance load --target-profile server.yaml --consent staging.example.com --scenario list-throughput
  outreach-conformance load --scenario list-throughput --baseline last/load.json --threshold 'worse<10%'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.note(cmd.Flags())
			return f.formats.in(cmd.OutOrStdout(), func() error {
				return f.load(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() {
		f.registerTarget(flags)
		flags.IntVar(&f.rows, "rows", dataset.DefaultOptions().Rows, rowsUsage)
		flags.StringSliceVar(&f.consent, "consent", nil, "host name of a target that is not on this machine, repeated as your consent to load it")
		f.registerWrites(flags)
		f.registerBounds(flags)
		f.registerUserAgent(flags)
	})
	group(flags, "Load", func() {
		flags.BoolVar(&f.list, "list", false, "list the scenarios with the other flags applied, and send nothing")
		flags.StringSliceVarP(&f.scenarios, "scenario", "s", nil, "scenarios to run, e.g. mixed,soak (default: all)")
		flags.StringVar(&f.file, "scenario-file", "", "YAML file of scenarios (default: the built-in ones)")
		flags.Float64Var(&f.rate, "rate", 0, "requests per second, overrides the scenarios")
		flags.Float64Var(&f.burst, "burst", 0, "requests per second during a spike, overrides the scenarios")
		flags.Float64Var(&f.maxRate, "max-rate", 0, "highest rate that the search for the sustained rate tries, in requests per second")
		flags.DurationVar(&f.duration, "duration", 0, "how long to send requests: the length of each phase, overrides the scenarios")
		flags.DurationVar(&f.warmup, "warmup", 0, "length of the warm-up before the first phase; it is not measured")
		flags.IntVar(&f.clients, "clients", 0, "clients that walk at the same time, overrides the scenarios")
		flags.IntSliceVar(&f.limits, "page-size", nil, "page sizes to request (limit=…), 1 to 100")
		f.registerOperations(flags)
		flags.StringToIntVar(&f.mix, "mix", nil, "share of each operation, e.g. 'subsequences.list=3,leads.move=1', overrides the scenarios")
		flags.IntVar(&f.workers, "concurrency", generate.DefaultWorkers, concurrencyUsage)
		flags.IntVar(&f.budget, "probe-budget", 0, "maximum number of requests to infer a rate limit with")
		flags.StringVar(&f.probe, "probe", "", "list to infer a rate limit with (default: one that the target implements)")
		f.registerLoadBudget(flags)
		registerSeed(flags, &f.seed, 0, "order and content of the requests (default: drawn and printed)")
	})
	group(flags, "Gate", func() {
		registerGate(flags, &f)
		flags.StringVar(&f.against, "against", "", "address of a second target; both are loaded in turns and compared")
		flags.IntVar(&f.pairs, "pairs", 12, "pairs of blocks that --against compares")
		flags.Float64Var(&f.share, "inspect-share", 1, "share of the responses with status 200 that are checked against the specification, above 0 to 1; all others always are")
		flags.DurationVar(&f.lagLimit, "lag-limit", 0, "send lag (p99) that counts as the target's (default: none; thresholds allow for the lag)")
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, defaultLoadOutput)
		registerRaw(flags, &f.raw)
		flags.StringVar(&f.listen, "listen", "", "address to listen on: serves live OpenMetrics at /metrics during the run, e.g. 127.0.0.1:9464; without a host on the loopback interface")
		registerVerbose(flags, &f.verbose, "every phase and violation")
		f.formats.register(flags, loadFormats)
	})
	group(flags, "Sharing one load among machines", func() {
		flags.StringVar(&f.shard, "shard", "", "send only this part of every phase, e.g. 3/8; load merge joins the parts")
		flags.StringVar(&f.startAt, "start-at", "", "when the first phase begins, e.g. 2026-01-31T12:00:00Z or +5s; the same for all shards")
		flags.BoolVar(&f.printPart, "print-part", false, "print the shard's part as one line of JSON instead of the summary")
	})
	cmd.AddCommand(newLoadMerge())
	return cmd
}

// defaultLoadOutput is where results go.
const defaultLoadOutput = "load-results"

// selecting are the flags that say what is sent and how it is judged, as results show them.
var selecting = []string{"scenario", "scenario-file", "rate", "burst", "max-rate", "duration", "warmup", "clients", "page-size", "mix", "operation",
	"probe-budget", "probe", "against", "pairs", "writes", "max-requests", "timeout", "lag-limit", "inspect-share", "concurrency", "threshold"}

// note remembers which flags were set, here or in the environment.
func (f *loadFlags) note(flags *pflag.FlagSet) {
	f.given = map[string]bool{}
	flags.Visit(func(flag *pflag.Flag) { f.given[flag.Name] = true })
	f.rowsGiven = f.given["rows"]
	for _, name := range selecting {
		if !f.given[name] {
			continue
		}
		value := flags.Lookup(name).Value
		values := []string{value.String()}
		if list, ok := value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if name == "mix" { // a map
			values = strings.Split(strings.Trim(values[0], "[]"), ",")
			slices.Sort(values)
		}
		for _, v := range values {
			if name == "threshold" {
				v = strconv.Quote(v)
			}
			f.selected = append(f.selected, "--"+name+" "+v)
		}
	}
}

func (f loadFlags) load(ctx context.Context, stdout, stderr io.Writer) error {
	compared := f.compared()
	if err := verdict.CheckOverwrite(filepath.Join(f.output, loadFile), f.baseline, compared); err != nil {
		return exitError{exitUsage, err}
	}
	baselines, unread := verdict.ReadBaselines(f.baseline, compared)
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
	config, err := f.config(scenarios, stderr)
	if err := errors.Join(err, unread); err != nil {
		return exitError{exitUsage, err}
	}
	config.Baselines = baselines
	if err := errors.Join(outputdir.Prepare(f.output, append(mergedFiles, partFile, summaryFile, containerLog)...), forgetLoad(f.output)); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	if err := f.formats.prepare(f.baseline, f.file, f.targetProfile); err != nil {
		return exitError{exitUsage, err}
	}
	if err := f.consented(); err != nil {
		return exitError{exitUsage, err}
	}
	if err := checkRaw(f.raw); err != nil {
		return exitError{exitUsage, err}
	}
	metrics, err := listen(ctx, f.listen)
	if err != nil {
		return exitError{exitUsage, err}
	}
	defer func() { _ = metrics.stop() }()
	limitSoak(scenarios)
	began := time.Now()
	f.narrows = true
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		if _, ok := unjudged(err); ok {
			config.Target, _ = f.source().Find()
		}
		return f.unmeasured(config, began, stdout, nothingMeasured(ctx, err, nil))
	}
	defer stop()
	f.fitTo(&config, t)
	raw, err := openRaw(f.output, f.raw)
	if err != nil {
		return exitError{exitUsage, err}
	}
	config.Raw, config.RawLines = raw.writer(rawBinary), raw.writer(rawLines)
	view := newLoadView(stderr, scenario.Names(scenarios))
	if metrics != nil {
		view.metrics = metrics
		view.say("live metrics at " + metrics.address)
	}
	config.Live, config.Watch, config.Say = view.live, view.begin, view.say
	config.Interrupted = func(o loadtest.Outcome) {
		_ = f.writeVerdict(o.Results) // reportLoad writes them again, with what came of the rollback
	}
	outcome, err := f.send(ctx, config)
	view.stop()
	if outcome.Results.Version == "" {
		return f.unmeasured(config, began, stdout, nothingMeasured(ctx, err, errors.Join(f.putBack(ctx, t, view), raw.discard())))
	}
	err = errors.Join(err, raw.close(), f.putBack(ctx, t, view))
	return f.reportLoad(outcome, scenarios, stdout, err)
}

// nothingMeasured returns the error of a run that ended before its first phase. left
// is what could then not be rolled back or removed. An interruption replaces err.
func nothingMeasured(ctx context.Context, err, left error) exitError {
	code, exit := exitUsage, exitError{}
	var throttled *prepare.ThrottledError
	var busy *journal.BusyError
	switch {
	case ctx.Err() != nil:
		code, err = exitInterrupted, errors.New("interrupted before the first measurement")
	case errors.As(err, &throttled), errors.As(err, &busy):
		code, err = exitCannotTell, fmt.Errorf("inconclusive: %w", err)
	case errors.As(err, &exit):
		code, err = exit.code, exit.cause
	}
	return exitError{code, errors.Join(err, left)}
}

// unmeasured writes the results and the formats of a run that ended before its first
// phase, and returns its error. An error in the command line or the profile has no results: config then has
// no target.
func (f loadFlags) unmeasured(config loadtest.Config, began time.Time, stdout io.Writer, err exitError) error {
	if config.Target == nil {
		return err
	}
	results := loadtest.NotMeasured(config, began, err.cause.Error(), err.code == exitInterrupted)
	if f.printPart {
		stdout = io.Discard // it is for the part
	}
	all := viewsOf(results, ofLoad, view.Options{Quiet: true})
	return alsoFailed(err, errors.Join(f.writeVerdict(results), f.jobSummary(all, err.code), f.formats.unjudged(stdout, all, err.code)))
}

// writeVerdict writes the files that hold the verdict.
func (f loadFlags) writeVerdict(results load.Results) error {
	return errors.Join(load.Write(filepath.Join(f.output, loadFile), results), view.Formats["junit"].Load.Write(filepath.Join(f.output, loadJUnitFile), results))
}

// consented returns an error, before anything is sent, if the user has not consented
// to load a target. Targets that the flags start run on this machine.
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
		return nil // starting the target reports a missing address
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
	second, err := secondTarget(config.Target.Profile, f.against)
	if err != nil {
		return loadtest.Outcome{}, fmt.Errorf("--against: %w", err)
	}
	if err := second.Await(ctx, target.Waiting{For: second.Profile.Wait, Say: config.Say}); err != nil {
		return loadtest.Outcome{}, exitError{exitCannotTell, fmt.Errorf("--against: %w", err)}
	}
	return loadtest.Compare(ctx, config, second, f.pairs)
}

// secondTarget returns the target of --against. It has the keys and rows of the profile,
// but not its name and version: those are the first target's, and a comparison of two
// releases would show both as one.
func secondTarget(p *profile.Profile, address string) (*target.Target, error) {
	second, err := target.URL(p, address)
	if err != nil {
		return nil, err
	}
	second.Profile.Name, second.Profile.Version, second.Profile.Vendor = second.BaseURL, "", ""
	return second, nil
}

// putBack rolls back what scenarios changed on the target, and shows it in the view.
func (f loadFlags) putBack(ctx context.Context, t *target.Target, view *loadView) error {
	if f.journals(t) == "" {
		return nil
	}
	began := time.Now()
	api, err := t.Client(client.Options{})
	if err == nil {
		defer api.Close()
		_, err = sandbox.CleanupAfterRun(ctx, api, t.Profile, f.output, view.puttingBack)
	}
	view.putBack(time.Since(began))
	if err != nil {
		return fmt.Errorf("some changes could not be rolled back:\n%w\ntry again with: %s", err, f.cleanupOf(t))
	}
	return nil
}

// listScenarios prints the scenarios with their settings.
func listScenarios(w io.Writer, all []scenario.Scenario) error {
	for _, s := range all {
		lasts := "about " + s.Lasts().Round(100*time.Millisecond).String()
		if s.Kind == scenario.Sustained {
			lasts = fmt.Sprintf("%s per rate tried", s.Duration)
		}
		if _, err := fmt.Fprintf(w, "%s (%s, %s)\n  %s\n  %s\n", s.Name, s.Kind, lasts, s.About, s.Settings()); err != nil {
			return err
		}
	}
	return nil
}
