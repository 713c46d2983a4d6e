package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/earlier"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/tree"
)

type runOptions struct {
	session
	runner.Config
	Profiles         []string `flag:"profile,p" usage:"sets of requirements: {profiles} (the target is described by --target-profile)"`
	Baseline         string   `flag:"baseline" usage:"results of an earlier run to compare with (results.json): the run fails if a check newly fails or is no longer assessed"`
	OnlyFailed       string   `flag:"only-failed" usage:"judge only what failed, or ended in an error, in this results.json of an earlier run"`
	Watch            bool     `flag:"watch" usage:"repeat what failed each second until it passes; then a full run decides"`
	ExpectedFailures string   `flag:"expected-failures" usage:"YAML file of expected failures, in addition to those of the target profile"`
	Reason           string   `flag:"reason" usage:"reason of new entries of --write-expected; without it, they cannot be used before a person writes one"`
	WriteExpected    string   `flag:"write-expected" usage:"YAML file to write the other failures to, for --expected-failures; new entries expire after {days} days"`
	Evidence         bool     `flag:"evidence" usage:"record every exchange without its keys in {evidence} (HTTP Archive 1.2), for report verify"`
}

const (
	runCommand    = "run"
	defaultOutput = "conformance-results"
)

// The files of a run in the output directory.
const (
	resultsFile    = earlier.RunFile
	junitFile      = "junit.xml"
	reportFile     = "report.html"
	differenceFile = "difference.json"
	evidenceFile   = bundle.EvidenceFile
)

// verdictFiles hold the verdict of a run: one that ends before it has judged must not leave an
// old pass for CI to read.
var verdictFiles = []string{resultsFile, junitFile, reportFile, differenceFile, evidenceFile, publish.SummaryFile}

func newRun() *cobra.Command {
	f := &runOptions{session: at(defaultOutput, publish.OfRun.Names()...), Profiles: []string{string(spec.ProfileFull)}}
	return command(&cobra.Command{
		Use:   runCommand,
		Short: "Judge a target and write the results",
		Long: `run sends requests to a target and checks the responses against the
specification. It writes results.json, report.html and junit.xml into the output
directory.

Filters select checks. They are repeatable, and * matches any text. A filter that
begins with ! excludes. Operations that the target profile excludes stay excluded.

Expected failures are listed in the target profile or in the file of
--expected-failures. They do not fail the run before they expire. An entry whose
failure is fixed does fail it, unless it has flaky: true. --write-expected writes such a file with the
failures of the run. It may name the same file: entries stay while they fail. The
exit code is that of the verdict in any case.`,
		Example: `  outreach-conformance run
  outreach-conformance run --target http://127.0.0.1:8025
  outreach-conformance run --target image:registry.example/server:1.4 --target-profile server.yaml
  outreach-conformance run --target http://127.0.0.1:4010 --target-profile mock --profile shape
  outreach-conformance run --profile shape,read --operation 'inbox-placement-tests.*'
  outreach-conformance run --requirement 'PAGE-*' --seed 7
  outreach-conformance run --target-profile server.yaml --watch
  outreach-conformance run --target-profile server.yaml --only-failed conformance-results/results.json -o again
  outreach-conformance run --target-profile server.yaml --baseline last/results.json
  outreach-conformance run --target-profile server.yaml --format console,sarif=out.sarif,gitlab=quality.json
  outreach-conformance run --target-profile server.yaml --write-expected known.yaml
  outreach-conformance run --target-profile server.yaml --expected-failures known.yaml`,
	}, f, targetFlags+` rows
Selection: profile operation requirement group seed
Pace and safety:`+paceFlags+` max-requests writes
Gate: fail-on min-assessed baseline
While you fix a server: only-failed fail-fast watch
Expected failures: expected-failures reason write-expected
Output: output evidence verbose quiet format`, f.run,
		"{seed}", "order of the specs and content of the requests (default: drawn and printed)",
		"{days}", fmt.Sprint(runner.ExpectedDays), "{evidence}", evidenceFile)
}

// profilesOf returns the sets of requirements with these names.
func profilesOf(names []string) (all []spec.Profile) {
	for _, name := range names {
		all = append(all, spec.Profile(name))
	}
	return all
}

// configure completes the configuration of the runner.
func (s *session) configure(c *runner.Config) (err error) {
	c.Version, c.Commit = version(), commit()
	c.Seed, err = drawn(c.Seed)
	return err
}

func (f *runOptions) run(ctx context.Context, _ []string) error {
	written := filepath.Join(f.Output, resultsFile)
	failed, err := earlier.Run("only-failed", f.OnlyFailed, written) // first: the file may be in the output directory
	if err != nil {
		return err
	}
	before, err := earlier.Run("baseline", f.Baseline, written) // so may this one
	if err != nil {
		return err
	}
	if err := disk.Forget(f.Output, verdictFiles...); err != nil {
		return err
	}
	if err := f.checkCombination(); err != nil {
		return err
	}
	f.Selection.Profiles = profilesOf(f.Profiles)
	if failed != nil {
		if f.Selection.Repeat, err = runner.RepeatFailed(f.OnlyFailed, *failed); err != nil {
			return fmt.Errorf("--only-failed %w", err)
		}
	}
	if _, err := f.Selection.Pairs(); err != nil {
		return unjudgedError(err)
	}
	if err := f.configure(&f.Config); err != nil {
		return err
	}
	inputs := []string{f.Baseline, f.OnlyFailed, f.ExpectedFailures, f.Source.Profile}
	if err := f.prepare(inputs, append(verdictFiles, containerLog)...); err != nil {
		return err
	}
	expected, err := runner.ReadExpected(f.ExpectedFailures, f.WriteExpected, f.Reason)
	if err != nil {
		return err
	}
	began := time.Now()
	t, stop, err := f.open(ctx)
	if err != nil {
		return f.notStarted(f.Config, began, err)
	}
	defer stop()
	if err := expected.AddTo(t.Profile); err != nil {
		return err
	}

	f.Target, f.JournalDir = t, f.journals(t)
	report := func(results reports.Results) error {
		f.printLeftovers(t, results.Run.ID)
		wrote, unwritten := expected.Write(results)
		if wrote != "" && unwritten == nil {
			f.say(wrote)
		}
		var difference *diff.Difference
		if before != nil {
			d := diff.Join(thisTool(), runner.CompareWith(*before, f.Baseline, &results, written, f.Selection, t.Profile.MintFailures()))
			difference = &d
		}
		return f.report(results, expected.In, unwritten, difference)
	}
	if f.Watch {
		return f.watch(ctx, report)
	}
	f.Interrupted = func(results reports.Results) {
		_, _ = f.writeResults(results) // report writes them again, with what came of the rollback
	}
	results, err := f.recorded(ctx, f.Config)
	if err != nil {
		return f.neverBegan(f.Config, began, err)
	}
	return report(results)
}

// watch repeats what fails until it passes.
func (f *runOptions) watch(ctx context.Context, report func(reports.Results) error) error {
	err := runner.Watching{Report: report, Print: f.print, Say: f.say, SameSeed: f.Given("seed"),
		Full: func(c runner.Config) (reports.Results, error) {
			results, err := f.judge(ctx, c)
			if err != nil {
				err = unjudgedError(err)
			}
			return results, err
		}}.Watch(ctx, f.Config)
	if errors.Is(err, context.Canceled) {
		return exitError{exitInterrupted, fmt.Errorf("interrupted: the results of the last full run are in %s", f.Output), true}
	}
	return err
}

// checkCombination returns an error for flags that contradict each other.
func (f *runOptions) checkCombination() error {
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{f.Quiet && f.Verbose, "--quiet and --verbose: want one of them"},
		{f.OnlyFailed != "" && f.Given("min-assessed"), "--min-assessed: is about a whole run (leave out --only-failed)"},
		{f.FailFast && f.WriteExpected != "", "--write-expected: needs every failure (leave out --fail-fast)"},
		{f.Watch && f.OnlyFailed != "", "--watch: begins with a full run (leave out --only-failed)"},
		{f.Watch && f.WriteExpected != "", "--watch: lasts until nothing fails (leave out --write-expected)"},
		{f.Watch && f.Baseline != "", "--watch: repeats what fails until it passes (leave out --baseline)"},
		{f.OnlyFailed != "" && f.Baseline != "", "--baseline: needs a whole run (leave out --only-failed)"},
		{f.FailFast && f.Baseline != "", "--baseline: needs a whole run (leave out --fail-fast)"},
		{f.Evidence && (f.Watch || f.FailFast || f.OnlyFailed != ""), "--evidence: records a whole run (leave out --watch, --fail-fast and --only-failed)"},
		{f.Watch && f.Quiet, "--watch: prints a line for each round (leave out --quiet)"},
		{f.Watch && f.Format != nil, "--watch: is for a person at a terminal (leave out --format)"},
		{f.Watch && f.IsEmbedded(), "--watch: only for a server at an address, which somebody can change while it runs"},
	} {
		if rule.broken {
			return errors.New(rule.text)
		}
	}
	if !f.Watch {
		return nil
	}
	if p, err := f.OpenProfile(); err == nil && p.Container != nil { // open reports an error of the profile
		return errors.New("--watch: only for a server at an address (a container does not change while it runs)")
	}
	return nil
}

// notStarted writes the results of a run whose target could not be used. It returns
// the error with which the command ends.
func (s *session) notStarted(config runner.Config, began time.Time, err error) error {
	why, exit, ok := unjudged(err)
	if !ok {
		return err
	}
	var found error
	if config.Target, found = s.Find(); found != nil {
		return err // a profile that changed since it was read
	}
	return s.unjudged(runner.NotJudged(config, began, why), exit)
}

// neverBegan writes the results of a run that could not begin on a target that answers.
func (s *session) neverBegan(config runner.Config, began time.Time, err error) error {
	why := runner.Unjudged{Reason: err.Error(), Missing: "a run that could begin"}
	return s.unjudged(runner.NotJudged(config, began, why), unjudgedError(err))
}

// unjudged writes the results and the formats of a run that ended before it judged
// anything, and returns its error.
func (s *session) unjudged(results reports.Results, err exitError) error {
	_, unwritten := s.writeResults(results)
	return s.alsoFailed(err, unwritten, publish.OfRun.Views(results, view.Options{Quiet: true}))
}

// alsoFailed publishes results that judge nothing, and returns the error with which a command ends.
func (s *session) alsoFailed(err exitError, unwritten error, all publish.Views) error {
	if failed := errors.Join(unwritten, s.Unjudged(s.out, s.Output, all, err.code)); failed != nil {
		err.cause = errors.Join(err.cause, fmt.Errorf("write the results: %w", failed))
	}
	return err
}

// writeResults writes the files of a run. It returns the one with the results, if that was written.
func (s *session) writeResults(results reports.Results) (file string, err error) {
	file = filepath.Join(s.Output, resultsFile)
	if err = jsonfile.Run.Write(file, results); err != nil {
		file = "" // a summary names only files that exist
	}
	return file, errors.Join(err, view.Formats["junit"].Run.Write(filepath.Join(s.Output, junitFile), results),
		view.Formats["html"].Run.Write(filepath.Join(s.Output, reportFile), results))
}

// unjudgedError returns the error of a run that judged nothing: it is inconclusive if this machine
// lacked something, or if nothing is selected.
func unjudgedError(err error) exitError {
	if busy := (*sandbox.BusyError)(nil); client.Exhausted(err) != "" || errors.As(err, &busy) || errors.Is(err, runner.ErrNothingSelected) {
		return exitError{code: exitCannotTell, cause: err}
	}
	return exitError{code: exitUsage, cause: err}
}

// longWaits returns what announces only the waits that even --quiet announces: a silent run
// looks stuck.
func longWaits(say func(string)) func(what string, atMost time.Duration) {
	const long = 10 * time.Second
	return func(what string, atMost time.Duration) {
		if atMost >= long {
			say(what)
		}
	}
}

// recorded judges the target, with a recording of the exchanges if the user wants one.
func (f *runOptions) recorded(ctx context.Context, config runner.Config) (reports.Results, error) {
	if !f.Evidence {
		return f.judge(ctx, config)
	}
	file, err := os.Create(filepath.Join(f.Output, evidenceFile))
	if err != nil {
		return reports.Results{}, err
	}
	config.Evidence = evidence.NewRecorder(file, reports.ToolName, config.Version, profile.Shape)
	results, err := f.judge(ctx, config)
	return results, errors.Join(err, file.Close())
}

// judge runs the checks and shows the progress.
func (s *session) judge(ctx context.Context, config runner.Config) (reports.Results, error) {
	var requests atomic.Int64
	stderr := s.err
	if s.Quiet {
		stderr = io.Discard
	}
	o := view.On(stderr)
	o.Requests = func() int { return int(requests.Load()) }
	p := view.NewProgress(stderr, o)
	config.Begin = func(d runner.Description) {
		_, _ = fmt.Fprintln(stderr, d)
		p.Start(len(d.Specs))
	}
	config.Waits = p.Wait
	if s.Quiet {
		config.Waits = longWaits(s.say)
	}
	config.Observe = func(client.Exchange) {
		requests.Add(1)
		p.Refresh()
	}
	config.Progress = tree.Progress{
		Begin: func(s api.Spec, _ int) { p.Begin(s.Name()) },
		End: func(s api.Spec, violations int) {
			p.End(s.Name())
			p.Done(s.Operation, violations)
		},
	}
	stop := everySecond(p.Tick)
	defer func() {
		stop()
		p.Stop()
	}()
	return runner.Run(ctx, config)
}

// report writes the files and the summary of results, and returns an error with the verdict's
// exit code. ExpectedIn names the place of an expected failure. Failed is the error of
// what was written before. The difference from a baseline follows; nil without one.
func (s *session) report(results reports.Results, expectedIn func(reports.Check) string, failed error, difference *diff.Difference) error {
	if difference != nil {
		failed = errors.Join(failed, view.Formats["json"].Difference.Write(filepath.Join(s.Output, differenceFile), *difference))
	}
	file, unwritten := s.writeResults(results)
	if failed = errors.Join(failed, unwritten); failed != nil {
		failed = fmt.Errorf("write the results: %w", failed)
		if results.Verdict == reports.Passed { // no file may pass where the exit code does not
			results.Verdict, results.Reasons = reports.Inconclusive, append(slices.Clone(results.Reasons), inBrief(failed))
			file, _ = s.writeResults(results)
		}
	}
	code := results.ExitCode()
	o := view.Options{Verbose: s.Verbose, Quiet: s.Quiet, ResultsPath: file, ExpectedIn: expectedIn}
	all := publish.OfRun.Views(results, o)
	if difference != nil {
		if code != 0 {
			o.Failed = results.Word()
		}
		all = all.Then(publish.OfDifference.Views(*difference, o))
	}
	return s.conclude(all, code, failed)
}

// nowhere is for results without expected failures.
func nowhere(reports.Check) string { return "" }
