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
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/junit"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
)

// closeTimeout bounds how long a target that was started may take to stop.
const closeTimeout = 10 * time.Second

type runFlags struct {
	settingFlags

	target        string
	targetProfile string
	profiles      []string
	operations    []string
	requirements  []string
	groups        []string
	seed          uint64
	rows          int
	rowsGiven     bool
	output        string
	verbose       bool

	expectedFailures string
	writeExpected    string
}

// Names that more than one place has to know.
const (
	runCommand    = "run"
	defaultOutput = "conformance-results"
)

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   runCommand,
		Short: "Judge a target and write the results",
		Long: `run sends requests to a target and checks the responses against the
specification. It writes results.json and junit.xml into the output directory.

Filters select checks. They are repeatable, and * matches any text.

Expected failures stand in the target profile or in the file of
--expected-failures. They do not fail the run before they expire. An entry whose
failure is fixed does fail it. --write-expected writes such a file with the
failures of the run. It may name the same file: entries stay while they fail. The
exit code is that of the verdict in any case.`,
		Example: `  outreach-conformance run
  outreach-conformance run --target http://127.0.0.1:8025
  outreach-conformance run --target image:registry.example/server:1.4 --target-profile server.yaml
  outreach-conformance run --target http://127.0.0.1:4010 --target-profile mock --profile shape
  outreach-conformance run --profile shape,read --operation 'inbox-placement-tests.*'
  outreach-conformance run --requirement 'PAGE-*' --seed 7
  outreach-conformance run --target-profile server.yaml --write-expected known.yaml
  outreach-conformance run --target-profile server.yaml --expected-failures known.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.rowsGiven = cmd.Flags().Changed("rows")
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
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
	group(flags, "Expected failures", func() {
		flags.StringVar(&f.expectedFailures, "expected-failures", "", "YAML file of expected failures, in addition to those of the target profile")
		flags.StringVar(&f.writeExpected, "write-expected", "", fmt.Sprintf("YAML file to write the other failures to, for --expected-failures; new entries expire after %d days", expectedDays))
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, defaultOutput)
		registerVerbose(flags, &f.verbose, "every violation and observation")
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
	if err := forget(f.output); err != nil {
		return exitError{exitUsage, err}
	}
	selection := f.selection()
	if _, err := selection.Pairs(); err != nil {
		return exitError{selectionCode(err), err}
	}
	if f.seed > math.MaxInt64 {
		return fmt.Errorf("--seed %d: want at most %d", f.seed, math.MaxInt64)
	}
	if f.rowsGiven && !f.isEmbedded() {
		return fmt.Errorf("--rows %d, or %s: only for the embedded target (set the rows of another server with `serve --rows`)",
			f.rows, variable("rows"))
	}
	if err := makeWritable(f.output, resultsFile, junitFile); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	expected, err := f.expected()
	if err != nil {
		return exitError{exitUsage, err}
	}
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	announced := t.Profile.ExpectedFailures
	if err := expected.AddTo(t.Profile); err != nil {
		return exitError{exitUsage, err}
	}

	if f.seed == 0 {
		f.seed = 1 + rand.Uint64N(1<<31)
	}
	progress, observe := f.progress(stderr)
	results, err := runner.Run(ctx, runner.Config{
		Target: t, Selection: selection, Seed: f.seed, Version: version(), JournalDir: f.journals(t), Observe: observe,
		Progress: suites.Progress{Start: progress.Start, Done: func(s suites.Spec, violations int) { progress.Done(s.Operation, violations) }},
	})
	progress.Stop()
	if err != nil {
		return exitError{exitUsage, err}
	}
	f.tellWhatIsLeft(t, stderr)
	return f.report(results, stdout, f.announcedIn(announced), f.writeDown(results, announced, expected.Entries, stderr))
}

// makeWritable makes the directory if need be, and sure that the files can be
// written there: to find out after a long run would be late.
func makeWritable(dir string, files ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range files {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			return fmt.Errorf("%s: is a directory, but a file must be written there (move it, or choose another --output)", filepath.Join(dir, name))
		}
	}
	file, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// selectionCode: an unknown name is a mistake of the caller; known names that
// leave nothing are a run that could not tell.
func selectionCode(err error) int {
	if errors.Is(err, runner.ErrNothingSelected) {
		return exitCannotTell
	}
	return exitUsage
}

// newProgress draws on the error stream, so that the summary alone is the output.
func newProgress(stderr io.Writer, options console.ProgressOptions) *console.Progress {
	if file, ok := stderr.(*os.File); ok {
		detected := console.Detect(file, os.Getenv)
		options.Color, options.Width, options.Live = detected.Color, detected.Width, console.Live(file, os.Getenv)
	}
	return console.NewProgress(stderr, options)
}

// progress is that of a run, and what is to be told the number of its requests.
func (f runFlags) progress(stderr io.Writer) (*console.Progress, func(int)) {
	var requests atomic.Int64
	p := newProgress(stderr, console.ProgressOptions{Requests: func() int { return int(requests.Load()) }})
	return p, func(n int) {
		requests.Store(int64(n))
		p.Refresh()
	}
}

// report writes the files and the summary, and turns the verdict into the exit
// code; announced says where an expected failure is announced, failed is what
// could not be written before.
func (f runFlags) report(results reports.Results, stdout io.Writer, announced func(reports.Check) string, failed error) error {
	file := filepath.Join(f.output, resultsFile)
	unwritten := reports.Write(file, results)
	failed = errors.Join(failed, unwritten, junit.Write(filepath.Join(f.output, junitFile), results))
	if unwritten != nil {
		file = "" // the summary names what there is
	}
	if failed != nil {
		failed = fmt.Errorf("write the results: %w", failed)
	}
	return end(results.ExitCode(), failed, func(code int) error {
		options := console.Options{}
		if out, ok := stdout.(*os.File); ok {
			options = console.Detect(out, os.Getenv)
		}
		options.Verbose, options.ResultsPath, options.Announced, options.ExitCode = f.verbose, file, announced, code
		return console.Summary(stdout, results, options)
	})
}
