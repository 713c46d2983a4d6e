package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/explore"
	"outreach.example/conformance/suites/runner"
)

const (
	exploreCommand = "explore"
	exploreOutput  = "explore-results"
	casesFile      = "cases.json"
)

// Bounds of --duration.
const (
	defaultExploration = 30 * time.Second
	longestExploration = 24 * time.Hour
)

type exploreFlags struct {
	runFlags
	duration  time.Duration
	firstOnly bool
	replay    string
}

func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   exploreCommand,
		Short: "Try random requests and compare the responses with predictions",
		Long: `explore walks each list once with the key that sees everything. The walk predicts
the response to every other query of the list: with other keys, filters, page sizes
and orders. explore sends random queries. Where the target profile allows changes, it
also plays random sequences of create, get, list and delete on tests of its own, and
moves leads and accounts that the profile lists.

A response that differs is a failure under its requirement. explore shrinks the case to
the shortest one that still shows it, prints its requests as curl commands, and writes
it into cases.json. --replay tries the cases of such a file again.

If rows of the target change meanwhile, explore walks the list again. Such rows are
counted and are no failures. explore adds to run and does not replace it.`,
		Example: `  outreach-conformance explore
  outreach-conformance explore --target-profile server.yaml --duration 5m
  outreach-conformance explore --target-profile server.yaml --operation '*.list' --writes none
  outreach-conformance explore --target-profile server.yaml --seed 7
  outreach-conformance explore --target-profile server.yaml --replay explore-results/cases.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.explore(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() {
		f.registerTarget(flags)
		flags.IntVar(&f.rows, "rows", dataset.DefaultOptions().Rows, rowsUsage)
	})
	group(flags, "Exploration", func() {
		flags.DurationVar(&f.duration, "duration", defaultExploration, "how long to send requests: at most 24h")
		f.registerOperations(flags)
		registerSeed(flags, &f.seed, 0, "the requests (default: drawn and printed)")
		flags.BoolVar(&f.firstOnly, "fail-fast", false, "end the run at the first failure that is not expected")
		flags.StringVar(&f.replay, "replay", "", "try the cases of this cases.json again instead of exploring")
	})
	group(flags, "Pace and safety", func() {
		f.registerPace(flags)
		f.registerBudget(flags)
		f.registerWrites(flags)
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, exploreOutput)
		registerVerbose(flags, &f.verbose, "every violation and observation")
		flags.BoolVarP(&f.quiet, "quiet", "q", false, "show only failures and the last line, and no progress")
	})
	return cmd
}

func (f exploreFlags) explore(ctx context.Context, stdout, stderr io.Writer) error {
	cases, err := f.cases() // first: the file may be in the output directory
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := f.check(); err != nil {
		return exitError{exitUsage, err}
	}
	if f.seed == 0 {
		f.seed = 1 + rand.Uint64N(1<<31)
	}
	config := runner.Config{Selection: runner.Selection{Operations: f.operations, Profiles: []spec.Profile{spec.ProfileFull}}, Seed: f.seed, Version: version(), Commit: commit(debug.ReadBuildInfo())}
	if _, err := config.Selection.Pairs(); err != nil {
		return exitError{selectionCode(err), err}
	}
	if err := outputdir.Prepare(f.output, resultsFile, junitFile, reportFile, casesFile, containerLog); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	began := time.Now()
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return f.notStarted(config, began, stdout, err)
	}
	defer stop()
	config.Target, config.JournalDir = t, f.journals(t)
	progress := sayOn(stderr)
	if f.quiet {
		progress = func(string) {}
	}
	config.Waits = longWaits(progress)
	progress(f.announcement(cases))
	results, out, err := runner.Explore(ctx, config, explore.Config{
		Duration: f.duration, FirstOnly: f.firstOnly, Replay: cases,
		Found: func(found explore.Found) {
			progress(fmt.Sprintf("✗ %s on %s: %d requests show it", found.Requirement, found.Operation, len(found.Requests)))
		},
	})
	if err != nil {
		return exitError{unjudgedCode(err), err}
	}
	f.printLeftovers(t, results.Run.ID, stderr)
	return f.report(results, stdout, func(reports.Check) string { return "" }, f.writeCases(out.Found))
}

// announcement says what begins, and with which seed.
func (f exploreFlags) announcement(cases []explore.Found) string {
	if cases != nil {
		return fmt.Sprintf("trying %d cases again", len(cases))
	}
	return fmt.Sprintf("exploring for %s with --seed %d", f.duration, f.seed)
}

// check returns an error for flags that make no sense.
func (f exploreFlags) check() error {
	switch {
	case f.quiet && f.verbose:
		return errors.New("--quiet and --verbose: want one of them")
	case f.duration <= 0 || f.duration > longestExploration:
		return fmt.Errorf("--duration %s: want more than 0 and at most 24h", f.duration)
	case f.seed > math.MaxInt64:
		return fmt.Errorf("--seed %d: want at most %d", f.seed, math.MaxInt64)
	}
	return nil
}

// cases returns the cases that are to be tried again; nil to explore.
func (f exploreFlags) cases() ([]explore.Found, error) {
	if f.replay == "" {
		return nil, nil
	}
	text, err := inputfile.Read(f.replay, explore.MaxCases)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	cases, err := explore.ReadCases(text)
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w (want a cases.json that this version of explore has written)", f.replay, err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("--replay %s: holds no case", f.replay)
	}
	return cases, nil
}

// writeCases writes the shortest cases of what failed.
func (f exploreFlags) writeCases(found []explore.Found) error {
	text, err := explore.EncodeCases(found)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(f.output, casesFile), text)
}
