package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/tree"
)

// closeTimeout is the maximum time to stop a target.
const closeTimeout = 10 * time.Second

type runFlags struct {
	settingFlags

	target        string
	targetProfile string
	profiles      []string
	operations    []string
	narrows       bool // the operations bound all requests, not only the checks
	requirements  []string
	groups        []string
	seed          uint64
	rows          int
	rowsGiven     bool
	seedGiven     bool
	output        string
	evidence      bool
	verbose       bool
	quiet         bool

	onlyFailed string
	failFast   bool
	watch      bool

	baseline string
	before   *reports.Results // of the baseline; nil without one
	unminted []string         // keys that the mint command failed to make

	expectedFailures string
	writeExpected    string
	reason           string

	formats formats
}

const (
	runCommand    = "run"
	defaultOutput = "conformance-results"
)

// The files of a run in the output directory.
const (
	resultsFile = "results.json"
	junitFile   = "junit.xml"
	reportFile  = "report.html"
)

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.rowsGiven, f.seedGiven = cmd.Flags().Changed("rows"), cmd.Flags().Changed("seed")
			return f.formats.in(cmd.OutOrStdout(), func() error { return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()) })
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() {
		f.registerTarget(flags)
		flags.IntVar(&f.rows, "rows", dataset.DefaultOptions().Rows, rowsUsage)
	})
	group(flags, "Selection", func() {
		f.registerSelection(flags, []string{string(spec.ProfileFull)})
		registerSeed(flags, &f.seed, 0, "order of the specs and content of the requests (default: drawn and printed)")
	})
	group(flags, "Pace and safety", func() {
		f.registerPace(flags)
		f.registerBudget(flags)
		f.registerWrites(flags)
	})
	group(flags, "Gate", func() {
		f.registerMinimum(flags)
		flags.StringVar(&f.baseline, "baseline", "", "results of an earlier run to compare with (results.json): the run fails if a check newly fails or is no longer assessed")
	})
	group(flags, "While you fix a server", func() {
		flags.StringVar(&f.onlyFailed, "only-failed", "", "judge only what failed, or ended in an error, in this results.json of an earlier run")
		flags.BoolVar(&f.failFast, "fail-fast", false, "end the run at the first failure that is not expected")
		flags.BoolVar(&f.watch, "watch", false, "repeat what failed each second until it passes; then a full run decides")
	})
	group(flags, "Expected failures", func() {
		flags.StringVar(&f.expectedFailures, "expected-failures", "", "YAML file of expected failures, in addition to those of the target profile")
		flags.StringVar(&f.reason, "reason", "", "reason of new entries of --write-expected; without it, they cannot be used before a person writes one")
		flags.StringVar(&f.writeExpected, "write-expected", "", fmt.Sprintf("YAML file to write the other failures to, for --expected-failures; new entries expire after %d days", expectedDays))
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, defaultOutput)
		flags.BoolVar(&f.evidence, "evidence", false, "record every exchange without its keys in "+evidenceFile+" (HTTP Archive 1.2), for report verify")
		registerVerbose(flags, &f.verbose, "every violation and observation")
		flags.BoolVarP(&f.quiet, "quiet", "q", false, "show only failures and the last line, and no progress")
		f.formats.register(flags, resultFormats)
	})
	return cmd
}

func (f runFlags) selection() runner.Selection {
	s := runner.Selection{Operations: f.operations, Requirements: f.requirements, Groups: f.groups}
	for _, p := range f.profiles {
		s.Profiles = append(s.Profiles, spec.Profile(p))
	}
	return s
}

func (f runFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	repeat, err := f.repeated() // first: the file may be in the output directory
	if err != nil {
		return exitError{exitUsage, err}
	}
	if f.before, err = f.readBaseline(); err != nil { // so may this one
		return exitError{exitUsage, err}
	}
	if err := removeEarlier(f.output); err != nil {
		return exitError{exitUsage, err}
	}
	if err := f.checkCombination(); err != nil {
		return exitError{exitUsage, err}
	}
	selection := f.selection()
	selection.Repeat = repeat
	if _, err := selection.Pairs(); err != nil {
		return exitError{selectionCode(err), err}
	}
	if f.seed > math.MaxInt64 {
		return fmt.Errorf("--seed %d: want at most %d", f.seed, math.MaxInt64)
	}
	if f.rowsGiven && !f.isEmbedded() {
		return fmt.Errorf("--rows %d, or %s: only for the embedded target (set the rows of another server with `serve --rows`)",
			f.rows, envvar.OfFlag("rows"))
	}
	if err := outputdir.Prepare(f.output, resultsFile, junitFile, reportFile, summaryFile, differenceFile, containerLog, evidenceFile); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	if err := f.formats.prepare(f.baseline, f.onlyFailed, f.expectedFailures, f.targetProfile); err != nil {
		return exitError{exitUsage, err}
	}
	expected, err := f.expected()
	if err != nil {
		return exitError{exitUsage, err}
	}
	if f.seed == 0 {
		f.seed = 1 + rand.Uint64N(1<<31)
	}
	config := runner.Config{Selection: selection, Seed: f.seed, Version: version(), Commit: commit(debug.ReadBuildInfo()), FailFast: f.failFast}
	began := time.Now()
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return f.notStarted(config, began, stdout, err)
	}
	defer stop()
	announced := t.Profile.ExpectedFailures
	if err := expected.AddTo(t.Profile); err != nil {
		return exitError{exitUsage, err}
	}

	config.Target, config.JournalDir = t, f.journals(t)
	report := func(results reports.Results) error {
		f.printLeftovers(t, results.Run.ID, stderr)
		f.unminted = t.Profile.MintFailures()
		unwritten := f.writeExpectedFailures(results, announced, expected.Entries, stderr)
		return f.report(results, stdout, f.expectedIn(announced), unwritten)
	}
	if f.watch {
		return f.watchTarget(ctx, config, stdout, stderr, report)
	}
	config.Interrupted = func(results reports.Results) {
		_ = f.writeResults(results) // report writes them again, with what came of the rollback
	}
	results, err := f.recorded(config, func(config runner.Config) (reports.Results, error) { return f.judge(ctx, config, stderr) })
	if err != nil {
		why := runner.Unjudged{Reason: err.Error(), Missing: "a run that could begin"}
		return f.unjudged(runner.NotJudged(config, began, why), stdout, exitError{unjudgedCode(err), err})
	}
	return report(results)
}

// notStarted writes the results of a run whose target could not be used. It returns
// the error with which the command ends.
func (f runFlags) notStarted(config runner.Config, began time.Time, stdout io.Writer, err error) error {
	var exit exitError
	why, ok := unjudged(err)
	if !ok || !errors.As(err, &exit) {
		return err
	}
	var found error
	if config.Target, found = f.source().Find(); found != nil {
		return err // a profile that changed since it was read
	}
	return f.unjudged(runner.NotJudged(config, began, why), stdout, exit)
}

// unjudged writes the results and the formats of a run that ended before it judged
// anything, and returns its error.
func (f runFlags) unjudged(results reports.Results, stdout io.Writer, err exitError) error {
	all := viewsOf(results, ofRun, view.Options{Quiet: true})
	return alsoFailed(err, errors.Join(f.writeResults(results), f.jobSummary(all, err.code), f.formats.unjudged(stdout, all, err.code)))
}

// alsoFailed adds the error of writing the results to the error with which a command ends.
func alsoFailed(err exitError, unwritten error) error {
	if unwritten == nil {
		return err
	}
	return exitError{err.code, errors.Join(err.cause, fmt.Errorf("write the results: %w", unwritten))}
}

// writeResults writes the files of a run.
func (f runFlags) writeResults(results reports.Results) error {
	return errors.Join(jsonfile.Run.Write(filepath.Join(f.output, resultsFile), results), f.writeViews(results))
}

// writeViews writes the files that show the results.
func (f runFlags) writeViews(results reports.Results) error {
	return errors.Join(view.Formats["junit"].Run.Write(filepath.Join(f.output, junitFile), results), view.Formats["html"].Run.Write(filepath.Join(f.output, reportFile), results))
}

// unjudgedCode returns the exit code for the error of a run that judged nothing:
// inconclusive if this machine lacked something, otherwise that of the selection.
func unjudgedCode(err error) int {
	if busy := (*journal.BusyError)(nil); client.Exhausted(err) != "" || errors.As(err, &busy) {
		return exitCannotTell
	}
	return selectionCode(err)
}

// selectionCode returns the exit code for an error of a selection: usage for an
// unknown name, inconclusive if nothing is selected.
func selectionCode(err error) int {
	if errors.Is(err, runner.ErrNothingSelected) {
		return exitCannotTell
	}
	return exitUsage
}

// newProgress returns a progress line on stderr. Standard output is for the summary.
func newProgress(stderr io.Writer, options console.ProgressOptions) *console.Progress {
	if file, ok := terminalOf(stderr); ok {
		detected := console.Detect(file, os.Getenv)
		options.Color, options.Width, options.Live = detected.Color, detected.Width, console.Live(file, os.Getenv)
	}
	return console.NewProgress(stderr, options)
}

// longWait is the wait that even --quiet announces: a silent run looks stuck.
const longWait = 10 * time.Second

// longWaits returns what announces only long waits.
func longWaits(say func(string)) func(what string, atMost time.Duration) {
	return func(what string, atMost time.Duration) {
		if atMost >= longWait {
			say(what)
		}
	}
}

// judge runs the checks and shows the progress on stderr.
func (f runFlags) judge(ctx context.Context, config runner.Config, stderr io.Writer) (reports.Results, error) {
	var requests atomic.Int64
	say := sayOn(stderr)
	if f.quiet {
		stderr = io.Discard
	}
	p := newProgress(stderr, console.ProgressOptions{Requests: func() int { return int(requests.Load()) }})
	config.Begin = func(d runner.Description) {
		_, _ = fmt.Fprintln(stderr, d)
		p.Start(len(d.Specs))
	}
	config.Waits = p.Wait
	if f.quiet {
		config.Waits = longWaits(say)
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

// everySecond calls the function every second until stop is called.
func everySecond(call func()) (stop func()) {
	ticker, done, ended := time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				call()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// report writes the files and the summary, and returns an error with the verdict's
// exit code. ExpectedIn names the place of an expected failure. Failed is the error of
// what was written before.
func (f runFlags) report(results reports.Results, stdout io.Writer, expectedIn func(reports.Check) string, failed error) error {
	var difference diff.Difference
	if f.before != nil {
		difference = f.compared(&results) // before any file has the verdict
		failed = errors.Join(failed, writeDifference(filepath.Join(f.output, differenceFile), difference))
	}
	file := filepath.Join(f.output, resultsFile)
	unwritten := jsonfile.Run.Write(file, results)
	failed = errors.Join(failed, unwritten, f.writeViews(results))
	if unwritten != nil {
		file = "" // the summary names only files that exist
	}
	if failed != nil {
		failed = fmt.Errorf("write the results: %w", failed)
	}
	options := view.Options{Verbose: f.verbose, Quiet: f.quiet, ResultsPath: file, ExpectedIn: expectedIn}
	all, code := viewsOf(results, ofRun, options), results.ExitCode()
	if f.before != nil {
		if code != 0 {
			options.Failed = results.Word()
		}
		all = all.then(viewsOf(difference, ofDifference, options))
	}
	// Before the summary, which names the exit code.
	failed = errors.Join(failed, f.formats.write(all, despite(failed, code)))
	if err := f.jobSummary(all, despite(failed, code)); err != nil {
		failed = errors.Join(failed, fmt.Errorf("write the job summary: %w", err))
	}
	return end(code, failed, func(code int) error { return f.formats.show(stdout, all, code) })
}
