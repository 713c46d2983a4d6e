package runner

import (
	"context"
	"fmt"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// watchPause is the time between two rounds.
const watchPause = time.Second

// Watching says how to watch a target. All functions are required.
type Watching struct {
	Full     func(Config) (reports.Results, error) // judges the whole, and shows the progress
	Report   func(reports.Results) error           // writes and shows the results of a full run
	Print    func(format string, args ...any)      // prints a line of a round
	Say      func(what string)                     // says what a round waits for
	SameSeed bool                                  // of all rounds
}

// Watch judges the target. If checks fail, it repeats them until they pass, and then judges the
// whole again. It returns the error of the last report, or the context's if a round was interrupted.
func (w Watching) Watch(ctx context.Context, config Config) error {
	for {
		results, err := w.Full(config)
		if err != nil {
			return err
		}
		ended := w.Report(results)
		repeat, err := RepeatFailed("the last full run", results)
		if err != nil || ctx.Err() != nil {
			return ended // nothing failed that could be repeated
		}
		w.Print("\nwatching %s: a round each second until they pass (Ctrl-C ends)\n", printable.Counted(len(repeat.Pairs), "failed check"))
		if err := w.rounds(ctx, config, repeat, results); err != nil {
			return err
		}
		w.Print("\nnone of them fails: a full run decides\n")
	}
}

// rounds repeats the checks until none of them fails.
func (w Watching) rounds(ctx context.Context, config Config, repeat *Repeat, last reports.Results) error {
	config.Selection.Repeat, config.FailFast = repeat, false
	config.Waits = func(what string, _ time.Duration) { w.Say(what) } // the line of the round says the rest
	before := states(last.Checks)
	for round := 1; ; round++ {
		if !w.SameSeed {
			config.Seed++ // what a server keeps of the last round must not disturb this one
		}
		var results reports.Results
		err := client.Sleep(ctx, watchPause)
		if err == nil {
			err = config.Target.Reachable(ctx)
		}
		if err == nil {
			results, err = Run(ctx, config)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.Print("round %d  %s\n", round, printable.Text(err.Error()))
			continue
		}
		after, open := states(results.Checks), 0
		for _, s := range after {
			if s.failing {
				open++
			}
		}
		w.Print("round %d  still failing: %d of %d\n", round, open, len(repeat.Pairs))
		for _, p := range repeat.Pairs {
			if now, ok := after[p]; ok && now.key != before[p].key {
				w.Print("  %s on %s: %s\n", p.Requirement, p.Operation, now.text)
			}
		}
		if open == 0 {
			return nil
		}
		before = after
	}
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
