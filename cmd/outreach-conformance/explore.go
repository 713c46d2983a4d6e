package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/disk"

	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/explore"
	"outreach.example/conformance/suites/runner"
)

const casesFile = "cases.json"

// Bounds of --duration.
const (
	defaultExploration = 30 * time.Second
	longestExploration = 24 * time.Hour
)

type exploreOptions struct {
	session
	runner.Config
	Duration time.Duration `flag:"duration" usage:"how long to send requests: at most 24h"`
	Replay   string        `flag:"replay" usage:"try the cases of this cases.json again instead of exploring"`
}

func newExplore() *cobra.Command {
	f := &exploreOptions{session: at("explore-results"), Duration: defaultExploration}
	return command(&cobra.Command{
		Use:   "explore",
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
	}, f, targetFlags+` rows
Exploration: duration operation seed fail-fast replay
Pace and safety:`+paceFlags+` max-requests writes
Output: output verbose quiet`, f.explore, "{seed}", "the requests (default: drawn and printed)")
}

func (f *exploreOptions) explore(ctx context.Context, _ []string) error {
	cases, err := f.cases() // first: the file may be in the output directory
	switch {
	case err != nil:
		return err
	case f.Quiet && f.Verbose:
		return errors.New("--quiet and --verbose: want one of them")
	case f.Duration <= 0 || f.Duration > longestExploration:
		return fmt.Errorf("--duration %s: want more than 0 and at most 24h", f.Duration)
	}
	f.Selection.Profiles = []spec.Profile{spec.ProfileFull}
	if err := f.configure(&f.Config); err != nil {
		return err
	}
	if _, err := f.Selection.Pairs(); err != nil {
		return unjudgedError(err)
	}
	if err := errors.Join(disk.Forget(f.Output, verdictFiles...), f.prepare([]string{f.Replay, f.Source.Profile}, append(verdictFiles, casesFile, containerLog)...)); err != nil {
		return err
	}
	began := time.Now()
	t, stop, err := f.open(ctx)
	if err != nil {
		return f.notStarted(f.Config, began, err)
	}
	defer stop()
	f.Target, f.JournalDir = t, f.journals(t)
	progress := f.say
	if f.Quiet {
		progress = func(string) {}
	}
	f.Waits = longWaits(progress)
	progress(f.announcement(cases))
	results, out, err := runner.Explore(ctx, f.Config, explore.Config{
		Duration: f.Duration, FirstOnly: f.FailFast, Replay: cases,
		Found: func(found explore.Found) {
			progress(fmt.Sprintf("✗ %s on %s: %d requests show it", found.Requirement, found.Operation, len(found.Requests)))
		},
	})
	if err != nil {
		return f.neverBegan(f.Config, began, err)
	}
	f.printLeftovers(t, results.Run.ID)
	text, err := explore.EncodeCases(out.Found)
	if err == nil {
		err = disk.Write(filepath.Join(f.Output, casesFile), text)
	}
	return f.report(results, nowhere, err, nil)
}

// announcement says what begins, and with which seed.
func (f *exploreOptions) announcement(cases []explore.Found) string {
	if cases != nil {
		return fmt.Sprintf("trying %d cases again", len(cases))
	}
	return fmt.Sprintf("exploring for %s with --seed %d", f.Duration, f.Seed)
}

// cases returns the cases that are to be tried again; nil to explore.
func (f *exploreOptions) cases() ([]explore.Found, error) {
	if f.Replay == "" {
		return nil, nil
	}
	text, err := disk.Read(f.Replay, explore.MaxCases)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	cases, err := explore.ReadCases(text)
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w (want a cases.json that this version of explore has written)", f.Replay, err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("--replay %s: holds no case", f.Replay)
	}
	return cases, nil
}
