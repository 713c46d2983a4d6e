package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/suites/runner"
)

// gateOptions decide the verdict of a load run.
type gateOptions struct {
	Thresholds []string `flag:"threshold" whole:"" usage:"condition to meet, e.g. 'p99<250ms@500/s', 'errors<0.1%', 'sustained>=800/s'; replaces the scenarios' thresholds on the same figure; repeatable"`
	Baseline   string   `flag:"baseline" usage:"results of an earlier run to compare with (load.json, for thresholds such as worse<5%)"`
}

// baselines reads the results of earlier runs that the thresholds name. The run must not replace them.
func (g gateOptions) baselines(output string, thresholds []measure.Threshold) (all map[string]*verdict.Baseline, overwrites, unread error) {
	overwrites = verdict.CheckOverwrite(filepath.Join(output, loadFile), g.Baseline, thresholds)
	all, unread = verdict.ReadBaselines(g.Baseline, thresholds)
	return all, overwrites, unread
}

type loadOptions struct {
	loadtest.Config
	session
	gateOptions
	Selection runner.Selection

	List     bool     `flag:"list" usage:"list the scenarios with the other flags applied, and send nothing"`
	Chosen   []string `flag:"scenario,s" usage:"scenarios to run, e.g. mixed,soak (default: all)"`
	File     string   `flag:"scenario-file" usage:"YAML file of scenarios (default: the built-in ones)"`
	Against  string   `flag:"against" usage:"address of a second target; both are loaded in turns and compared"`
	Pairs    int      `flag:"pairs" usage:"pairs of blocks that --against compares"`
	Budget   *int     `flag:"max-requests" usage:"maximum number of requests, 0 is unlimited (overrides load.budget in the target profile)"`
	RawForms []string `flag:"raw" bare:"vegeta" usage:"also write every measured result: into results.bin (--raw=vegeta) or, as JSON lines, results.jsonl (--raw=jsonl)"`
	Listen   string   `flag:"listen" usage:"address to listen on: serves live OpenMetrics at /metrics during the run, e.g. 127.0.0.1:9464; without a host on the loopback interface"`

	// Settings of scenarios.
	Rate        float64        `flag:"rate" usage:"requests per second, overrides the scenarios"`
	Burst       float64        `flag:"burst" usage:"requests per second during a spike, overrides the scenarios"`
	MaxRate     float64        `flag:"max-rate" usage:"highest rate that the search for the sustained rate tries, in requests per second"`
	Duration    time.Duration  `flag:"duration" usage:"how long to send requests: the length of each phase, overrides the scenarios"`
	Warmup      time.Duration  `flag:"warmup" usage:"length of the warm-up before the first phase; it is not measured"`
	Clients     int            `flag:"clients" usage:"clients that walk at the same time, overrides the scenarios"`
	PageSizes   []int          `flag:"page-size" usage:"page sizes to request (limit=…), 1 to 100"`
	Mix         map[string]int `flag:"mix" usage:"share of each operation, e.g. 'subsequences.list=3,leads.move=1', overrides the scenarios"`
	ProbeBudget int            `flag:"probe-budget" usage:"maximum number of requests to infer a rate limit with"`
	Probe       string         `flag:"probe" usage:"list to infer a rate limit with (default: one that the target implements)"`

	ShardOf   string `flag:"shard" usage:"send only this part of every phase, e.g. 3/8; load merge joins the parts"`
	StartAt   string `flag:"start-at" usage:"when the first phase begins, e.g. 2026-01-31T12:00:00Z or +5s; the same for all shards"`
	PrintPart bool   `flag:"print-part" usage:"print the shard's part as one line of JSON instead of the summary"`
}

const (
	loadCommand       = "load"
	defaultLoadOutput = "load-results"
)

func newLoad() *cobra.Command {
	f := &loadOptions{session: at(defaultLoadOutput, publish.OfLoad.Names()...), Pairs: 12}
	f.Workers, f.Inspect.Share = generate.DefaultWorkers, 1
	cmd := command(&cobra.Command{
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
	}, f, targetFlags+` rows consent writes timeout patience user-agent
Load: list scenario scenario-file rate burst max-rate duration warmup clients page-size operation mix concurrency probe-budget probe max-requests seed
Gate: threshold baseline against pairs inspect-share lag-limit
Output: output raw listen verbose format
Sharing one load among machines: shard start-at print-part`, f.load,
		"{seed}", "order and content of the requests (default: drawn and printed)", "{verbose}", "every phase and violation")
	cmd.AddCommand(newLoadMerge())
	return cmd
}

// selecting are the flags that say what is sent and how it is judged, as results show them.
var selecting = []string{"scenario", "scenario-file", "rate", "burst", "max-rate", "duration", "warmup", "clients", "page-size", "mix", "operation",
	"probe-budget", "probe", "against", "pairs", "writes", "max-requests", "timeout", "lag-limit", "inspect-share", "concurrency", "threshold"}

// selected returns those of them that were given, here or in the environment.
func (f *loadOptions) selected() string {
	var all []string
	for _, name := range selecting {
		if !f.Given(name) {
			continue
		}
		value := f.Flags.Lookup(name).Value
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
			all = append(all, "--"+name+" "+v)
		}
	}
	return strings.Join(all, " ")
}

func (f *loadOptions) load(ctx context.Context, _ []string) error {
	var ofProfile []string
	if p, err := f.OpenProfile(); err == nil && p.Load != nil { // open reports an error of the profile
		ofProfile = p.Load.Thresholds
	}
	all, _ := measure.ParseThresholds(slices.Concat(ofProfile, f.Thresholds)) // configure reports an error
	baselines, overwrites, unread := f.baselines(f.Output, all)
	if overwrites != nil {
		return overwrites
	}
	if !f.List {
		if err := disk.Forget(f.Output, loadFiles...); err != nil {
			return err
		}
	}
	known := scenario.Builtin()
	if f.File != "" {
		var err error
		if known, err = scenario.Load(f.File); err != nil {
			return err
		}
	}
	if err := f.choose(known); err != nil {
		return err
	}
	if f.List {
		return listScenarios(f.out, f.Scenarios)
	}
	if err := errors.Join(f.configure(known, ofProfile), unread); err != nil {
		return err
	}
	f.Baselines = baselines
	inputs := append(slices.Collect(maps.Keys(baselines)), f.Baseline, f.File, f.Source.Profile)
	if err := f.prepare(inputs, append(loadFiles, containerLog)...); err != nil {
		return err
	}
	if err := errors.Join(f.consented(), loadtest.CheckRaw(f.RawForms)); err != nil {
		return err
	}
	metrics, err := view.ServeMetrics(ctx, f.Listen)
	if err != nil {
		return err
	}
	defer metrics.Close()
	limitSoak(f.Scenarios)
	return f.loadTarget(ctx, metrics)
}

// loadTarget runs the scenarios and reports.
func (f *loadOptions) loadTarget(ctx context.Context, metrics *view.MetricsServer) error {
	began := time.Now()
	t, stop, err := f.open(ctx)
	if err != nil {
		if _, _, ok := unjudged(err); ok {
			f.Target, _ = f.Find()
		}
		return f.unmeasured(began, nothingMeasured(ctx, err, nil))
	}
	defer stop()
	if err := t.Profile.Narrow(f.Selection.Operations); err != nil {
		return fmt.Errorf("--operation: %w", err)
	}
	f.Target, f.JournalDir = t, f.journals(t)
	raw, err := f.OpenRaw(f.Output, f.RawForms)
	if err != nil {
		return err
	}
	show := loadtest.NewProgress(f.err, scenario.Names(f.Scenarios), metrics)
	f.Live, f.Watch, f.Config.Say = show.Show, show.Begin, show.Say
	f.Interrupted = func(o loadtest.Outcome) {
		_, _ = f.write(o.Results, loadViews[:2]) // reportLoad writes them again, with what came of the rollback
	}
	outcome, err := f.send(ctx)
	show.Stop()
	if outcome.Results.Version == "" {
		return f.unmeasured(began, nothingMeasured(ctx, err, errors.Join(f.putBack(ctx, show), raw.Discard())))
	}
	return f.reportLoad(outcome, errors.Join(err, raw.Close(), f.putBack(ctx, show)))
}

// nothingMeasured returns the error of a run that ended before its first phase. left
// is what could then not be rolled back or removed. An interruption replaces err.
func nothingMeasured(ctx context.Context, err, left error) exitError {
	code, exit := exitUsage, exitError{}
	var throttled *prepare.ThrottledError
	var busy *sandbox.BusyError
	switch {
	case ctx.Err() != nil:
		code, err = exitInterrupted, errors.New("interrupted before the first measurement")
	case errors.As(err, &throttled), errors.As(err, &busy), errors.Is(err, loadtest.ErrCalibration), client.Exhausted(err) != "":
		code, err = exitCannotTell, fmt.Errorf("inconclusive: %w", err)
	case errors.As(err, &exit):
		code, err = exit.code, exit.cause
	}
	return exitError{code, errors.Join(err, left), true}
}

// unmeasured writes the results and the formats of a run that ended before its first
// phase, and returns its error. After an error before the target was open, there are no
// results.
func (f *loadOptions) unmeasured(began time.Time, err exitError) error {
	if f.Target == nil {
		return err
	}
	results := loadtest.NotMeasured(f.Config, began, err.cause.Error(), err.code == exitInterrupted)
	all := publish.OfLoad.Views(results, view.Options{Quiet: true})
	if f.PrintPart { // nothing but the part is printed
		all[publish.Console] = func(io.Writer, int) error { return nil }
	}
	_, unwritten := f.write(results, loadViews[:2])
	return f.alsoFailed(err, unwritten, all)
}

// consented returns an error, before anything is sent, if the user has not consented
// to load a target. Targets that the flags start run on this machine.
func (f *loadOptions) consented() error {
	if f.Against != "" {
		if err := loadtest.Consented(f.Against, f.Consent...); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	if f.IsEmbedded() {
		return nil
	}
	p, err := f.OpenProfile()
	if err != nil {
		return err
	}
	address := cmp.Or(f.Source.Target, p.BaseURL)
	if p.Container != nil || address == "" {
		return nil // starting the target reports a missing address
	}
	if err := loadtest.Consented(address, f.Consent...); err != nil {
		return fmt.Errorf("--target, or base_url in the profile: %w", err)
	}
	return nil
}

// send runs the scenarios, or the comparison with a second target.
func (f *loadOptions) send(ctx context.Context) (loadtest.Outcome, error) {
	if f.Against == "" {
		return loadtest.Run(ctx, f.Config)
	}
	second, err := secondTarget(f.Target.Profile, f.Against)
	if err != nil {
		return loadtest.Outcome{}, fmt.Errorf("--against: %w", err)
	}
	if err := second.Await(ctx, target.Waiting{For: second.Profile.Wait, Say: f.Config.Say}); err != nil {
		return loadtest.Outcome{}, cannotTell(fmt.Errorf("--against: %w", err))
	}
	return loadtest.Compare(ctx, f.Config, second, f.Pairs)
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

// putBack rolls back what scenarios changed on the target, and shows it.
func (f *loadOptions) putBack(ctx context.Context, show *loadtest.Progress) error {
	if f.JournalDir == "" {
		return nil
	}
	began := time.Now()
	api, err := f.Target.Client(client.Options{})
	if err == nil {
		defer api.Close()
		_, err = sandbox.CleanupAfterRun(ctx, api, f.Target.Profile, f.Output, show.PuttingBack)
	}
	show.PutBack(time.Since(began))
	if err != nil {
		return fmt.Errorf("some changes could not be rolled back:\n%w\ntry again with: %s", err, f.cleanupOf(f.Target))
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
