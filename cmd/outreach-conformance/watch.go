package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// watchPause is the time between two rounds.
const watchPause = time.Second

// checkCombination returns an error for flags that contradict each other.
func (f runFlags) checkCombination() error {
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{f.quiet && f.verbose, "--quiet and --verbose: want one of them"},
		{f.onlyFailed != "" && f.flags.Changed("min-assessed"), "--min-assessed: is about a whole run (leave out --only-failed)"},
		{f.failFast && f.writeExpected != "", "--write-expected: needs every failure (leave out --fail-fast)"},
		{f.watch && f.onlyFailed != "", "--watch: begins with a full run (leave out --only-failed)"},
		{f.watch && f.writeExpected != "", "--watch: lasts until nothing fails (leave out --write-expected)"},
		{f.watch && f.baseline != "", "--watch: repeats what fails until it passes (leave out --baseline)"},
		{f.onlyFailed != "" && f.baseline != "", "--baseline: needs a whole run (leave out --only-failed)"},
		{f.failFast && f.baseline != "", "--baseline: needs a whole run (leave out --fail-fast)"},
		{f.evidence && (f.watch || f.failFast || f.onlyFailed != ""), "--evidence: records a whole run (leave out --watch, --fail-fast and --only-failed)"},
		{f.watch && f.quiet, "--watch: prints a line for each round (leave out --quiet)"},
		{f.watch && len(f.formats.given) > 0, "--watch: is for a person at a terminal (leave out --format)"},
		{f.watch && f.isEmbedded(), "--watch: only for a server at an address, which somebody can change while it runs"},
	} {
		if rule.broken {
			return errors.New(rule.text)
		}
	}
	if !f.watch {
		return nil
	}
	if p, err := f.profile(); err == nil && p.Container != nil { // start reports an error of the profile
		return errors.New("--watch: only for a server at an address (a container does not change while it runs)")
	}
	return nil
}

// watchTarget judges the target. If checks fail, it repeats them until they pass, and
// then judges the whole again. report writes and shows the results of such a full run;
// its error ends the command.
func (f runFlags) watchTarget(ctx context.Context, config runner.Config, stdout, stderr io.Writer, report func(reports.Results) error) error {
	for {
		results, interrupted, err := f.once(ctx, config, stderr, false)
		if err != nil {
			return exitError{selectionCode(err), err}
		}
		ended := report(results)
		repeat, err := runner.RepeatFailed("the last full run", results)
		if err != nil || interrupted {
			return ended // nothing failed that could be repeated
		}
		fmt.Fprintf(stdout, "\nwatching %s: a round each second until they pass (Ctrl-C ends)\n", failedChecks(len(repeat.Pairs)))
		if err := f.rounds(ctx, config, repeat, results, stdout, stderr); err != nil {
			return err
		}
		fmt.Fprintln(stdout, "\nnone of them fails: a full run decides")
	}
}

// rounds repeats the checks until none of them fails.
func (f runFlags) rounds(ctx context.Context, config runner.Config, repeat *runner.Repeat, last reports.Results, stdout, stderr io.Writer) error {
	config.Selection.Repeat, config.FailFast = repeat, false
	before := states(last.Checks)
	for round := 1; ; round++ {
		if !f.seedGiven {
			config.Seed++ // what a server keeps of the last round must not disturb this one
		}
		results, interrupted, err := f.once(ctx, config, stderr, true)
		switch {
		case interrupted:
			return exitError{exitInterrupted, fmt.Errorf("interrupted: the results of the last full run are in %s", f.output)}
		case err != nil:
			fmt.Fprintf(stdout, "round %d  %s\n", round, printable.Text(err.Error()))
			continue
		}
		after := states(results.Checks)
		open := 0
		for _, s := range after {
			if s.failing {
				open++
			}
		}
		fmt.Fprintf(stdout, "round %d  still failing: %d of %d\n", round, open, len(repeat.Pairs))
		for _, p := range repeat.Pairs {
			if now, ok := after[p]; ok && now.key != before[p].key {
				fmt.Fprintf(stdout, "  %s on %s: %s\n", p.Requirement, p.Operation, now.text)
			}
		}
		if open == 0 {
			return nil
		}
		before = after
	}
}

// once runs the checks once and reports whether it was interrupted. A round waits
// first, and returns an error if the target does not answer.
func (f runFlags) once(ctx context.Context, config runner.Config, stderr io.Writer, round bool) (results reports.Results, interrupted bool, err error) {
	if !round {
		results, err = f.judge(ctx, config, stderr)
		return results, ctx.Err() != nil, err
	}
	if client.Sleep(ctx, watchPause) == nil {
		err = config.Target.Reachable(ctx)
	}
	if err != nil || ctx.Err() != nil {
		return results, ctx.Err() != nil, err
	}
	say := sayOn(stderr)
	config.Waits = func(what string, _ time.Duration) { say(what) } // the line of the round says the rest
	results, err = runner.Run(ctx, config)
	return results, ctx.Err() != nil, err
}

// checkState is what a round shows of a check.
type checkState struct {
	failing bool
	key     string // equal if nothing changed that a person wants to know
	text    string
}

func states(checks []reports.Check) map[spec.Pair]checkState {
	all := map[spec.Pair]checkState{}
	for _, c := range checks {
		s := checkState{failing: c.Outcome == reports.Fail || c.Outcome == reports.Error, key: string(c.Outcome), text: string(c.Outcome)}
		switch {
		case len(c.Violations) > 0:
			v := c.Violations[0]
			s.key += v.Pointer + v.Expected // what the server sent may differ each time
			s.text = fmt.Sprintf("fail: expected %s, got %s at %s", printable.Text(v.Expected), printable.Text(v.Actual), v.Place())
		case len(c.Missing) > 0:
			s.text += ", missing: " + printable.Text(c.Missing[0])
		}
		all[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = s
	}
	return all
}

func failedChecks(n int) string {
	if n == 1 {
		return "1 failed check"
	}
	return printable.Number(n) + " failed checks"
}
