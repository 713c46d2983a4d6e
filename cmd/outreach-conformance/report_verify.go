package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/suites/runner"
)

func newReportVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify DIRECTORY",
		Short: "Judge the recorded evidence of a run again",
		Long: `verify judges a run again that run --evidence has recorded. DIRECTORY holds its
results.json and its evidence.har.gz. The same specs run, and the recording answers
their requests, with its clock. No request leaves this machine.

It prints a line for each thing that it checked. It exits 0 if the evidence leads to the
same verdict and outcomes, 1 if it contradicts the results, 2 if there is no recording
to read, and 3 if it cannot tell: the specs send other requests than the recording has.
Another version, an interrupted run or a budget of requests can be the reason.

A recording shows that the results follow from the evidence. It does not show that the
exchanges took place: a person who can change the results can also invent the evidence.`,
		Example: `  outreach-conformance run --target http://127.0.0.1:8025 --evidence
  outreach-conformance report verify conformance-results`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verify(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	return cmd
}

// verify judges the evidence in the directory again, and says how that compares with its results.
func verify(ctx context.Context, dir string, stdout io.Writer) error {
	claimed, err := reports.Read(filepath.Join(dir, resultsFile))
	if err != nil {
		return exitError{exitUsage, err}
	}
	recording, err := inputfile.Open(filepath.Join(dir, evidenceFile))
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("%w (run --evidence writes it)", err)}
	}
	defer func() { _ = recording.Close() }()
	found, fit, err := runner.JudgeAgain(ctx, recording, version())
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("%s: %w", recording.Name(), err)}
	}
	refuted, fits := false, len(fit.Missing)+len(fit.Left) == 0
	show := func(mark, format string, args ...any) {
		_, _ = fmt.Fprintln(stdout, mark, fmt.Sprintf(format, args...))
	}
	say := func(holds bool, format string, args ...any) {
		if holds {
			show("✓", format, args...)
			return
		}
		refuted = true
		show("✗", format, args...)
	}
	sayRun(say, claimed, found)
	mark := "✓"
	if !fits {
		mark = "?"
	}
	show(mark, "requests: %s sent again, %s that the recording lacks, %s of the recording that nothing asks for",
		printable.Number(found.Traffic.Requests), printable.Number(len(fit.Missing)), printable.Number(len(fit.Left)))
	for _, list := range [][]string{fit.Missing, fit.Left} {
		sayFirst(stdout, list)
	}
	same, unknown, differences := compareOutcomes(claimed, found)
	say(len(differences) == 0, "outcomes: %s of %s follow from the evidence", printable.Number(same), printable.Counted(len(claimed.Checks), "check"))
	sayFirst(stdout, differences)
	if fits && len(claimed.Regressions) == 0 { // these compare with another run
		say(claimed.Verdict == found.Verdict, "verdict: %s, by the evidence %s", claimed.Verdict, found.Verdict)
	}
	if len(unknown) > 0 {
		show("?", "%s cannot be judged again: their specs send requests that the recording lacks", printable.Counted(len(unknown), "check"))
		sayFirst(stdout, unknown)
	}
	switch {
	case !refuted && fits:
		return nil
	case !refuted:
		return exitError{exitCannotTell, fmt.Errorf("%s: the evidence does not fit: the specs send other requests", dir)}
	case claimed.Tool.Version != found.Tool.Version:
		return exitError{exitCannotTell, fmt.Errorf("version %s recorded the run, and this is %s: its specs may send other requests", claimed.Tool.Version, found.Tool.Version)}
	case claimed.Run.Interrupted:
		return exitError{exitCannotTell, fmt.Errorf("%s: the run was interrupted", dir)}
	case fit.Bounded != "":
		return exitError{exitCannotTell, fmt.Errorf("%s: %s", dir, fit.Bounded)}
	}
	return exitError{reports.Failed.ExitCode(), fmt.Errorf("%s: the results do not follow from the evidence", dir)}
}

// sayRun compares what the results say of the run with what the recording says.
func sayRun(say func(fits bool, format string, args ...any), claimed, found reports.Results) {
	for _, fact := range []struct{ what, claimed, recorded string }{
		{"run", claimed.Run.ID, found.Run.ID},
		{"date", claimed.Run.Started.String(), found.Run.Started.String()},
		{"seed", fmt.Sprint(claimed.Run.Seed), fmt.Sprint(found.Run.Seed)},
		{"selection", selectionOf(claimed), selectionOf(found)},
		{"target", targetOf(claimed), targetOf(found)},
	} {
		if fact.claimed == fact.recorded {
			say(true, "%s: %s", fact.what, printable.Text(fact.claimed))
		} else {
			say(false, "%s: the results say %s, the recording says %s", fact.what, printable.Text(fact.claimed), printable.Text(fact.recorded))
		}
	}
}

func selectionOf(r reports.Results) string {
	text := strings.TrimSpace("profile " + r.Run.Profile + " " + r.Run.Selection)
	if len(r.Run.Operations) > 0 {
		text += ", operations " + strings.Join(r.Run.Operations, " ")
	}
	if len(r.Run.Omits) > 0 {
		text += ", without the fields " + strings.Join(r.Run.Omits, " ")
	}
	return text
}

func targetOf(r reports.Results) string {
	return fmt.Sprintf("%s %s by %s at %s", r.Target.Name, r.Target.Version, r.Target.Vendor, r.Target.BaseURL)
}

// compareOutcomes counts the checks with the same outcome, and names the others. unknown are those
// whose specs got no recorded response.
func compareOutcomes(claimed, found reports.Results) (same int, unknown, differences []string) {
	index := map[[2]string]reports.Outcome{}
	for _, c := range found.Checks {
		index[[2]string{c.Requirement, c.Operation}] = c.Outcome
	}
	for _, c := range claimed.Checks {
		at := [2]string{c.Requirement, c.Operation}
		if outcome, judged := index[at]; !judged {
			differences = append(differences, fmt.Sprintf("%s on %s: the results say %s, the recorded run has no such check", c.Requirement, c.Operation, c.Outcome))
		} else if outcome == reports.Error && c.Outcome != reports.Error {
			unknown = append(unknown, c.Requirement+" on "+c.Operation)
		} else if outcome != c.Outcome {
			differences = append(differences, fmt.Sprintf("%s on %s: the results say %s, the evidence shows %s", c.Requirement, c.Operation, c.Outcome, outcome))
		} else {
			same++
		}
		delete(index, at)
	}
	for at, outcome := range index {
		differences = append(differences, fmt.Sprintf("%s on %s: the results leave it out, the evidence shows %s", at[0], at[1], outcome))
	}
	slices.Sort(differences)
	return same, unknown, differences
}

// sayFirst prints the first lines of a list.
func sayFirst(stdout io.Writer, lines []string) {
	const most = 20
	for _, line := range lines[:min(most, len(lines))] {
		_, _ = fmt.Fprintln(stdout, "   ", printable.Text(line))
	}
	if more := len(lines) - most; more > 0 {
		_, _ = fmt.Fprintf(stdout, "    … and %s more\n", printable.Number(more))
	}
}
