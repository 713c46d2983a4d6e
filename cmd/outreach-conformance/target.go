package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/suites/preflight"
	"outreach.example/conformance/suites/runner"
)

func newTarget() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "target",
		Short: "Write and check target profiles",
		Long: `target writes a profile for a server (init) and checks one before a run (check).
Both change nothing on the server. To find out which operations it serves, they
also send requests that cannot change a row: without a key, with an unknown id or
with an invalid body. With writes: none in the profile, check sends only GET and OPTIONS.`,
		Args: cobra.NoArgs,
		RunE: needsSubcommand,
	}
	cmd.AddCommand(newTargetInit(), newTargetCheck())
	return cmd
}

func newTargetCheck() *cobra.Command {
	f := runFlags{rows: dataset.DefaultOptions().Rows}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Show what a run with a profile would assess",
		Long: `check takes seconds and changes nothing. It shows whether the server answers,
which keys match the profile, which operations are not served and which rows
exist. For each group of requirements it shows how much a run would assess and
which inputs are missing. A run may miss more, if the server's data do not show
something.

Exit codes: 0 the profile holds, 2 the profile is wrong or a run would assess
nothing, 3 inconclusive.`,
		Example: `  outreach-conformance target check --target-profile server.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.check(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() { f.registerTarget(flags) })
	group(flags, "Selection", func() { f.registerOperations(flags) })
	group(flags, "Pace and safety", func() {
		f.registerPace(flags)
		f.registerWrites(flags)
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, defaultOutput)
		registerVerbose(flags, &f.verbose, "every key and every missing input")
	})
	return cmd
}

func (f runFlags) check(ctx context.Context, stdout, stderr io.Writer) error {
	selection := runner.Selection{Operations: f.operations}
	if err := selection.CheckOperations(); err != nil {
		return exitError{exitUsage, err}
	}
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	report, err := preflight.Check(ctx, t, selection, sayOn(stderr))
	switch {
	case ctx.Err() != nil:
		return interrupted
	case err != nil:
		return exitError{exitCannotTell, err}
	}
	_, _ = fmt.Fprintf(stdout, "%s at %s\n\n", printable.Text(t.Profile.Name), t.BaseURL)
	f.printFindings(stdout, report)
	if err := f.printCoverage(stdout, report.Coverage); err != nil {
		return exitError{exitCannotTell, err}
	}
	if slices.ContainsFunc(report.Data, func(d preflight.Finding) bool { return d.Spent }) && f.targetProfile != profile.MockName && f.builtinProfile() {
		_, _ = fmt.Fprint(stdout, "\nThe reference server restores its data when it starts, and on POST /reset at the port of `serve --truth-addr`.\n")
	}
	wrong := report.Wrong()
	if len(wrong) > 0 {
		_, _ = fmt.Fprintln(stdout)
	}
	for _, w := range wrong {
		_, _ = fmt.Fprintf(stdout, "✗ %s: %s\n", printable.Text(w.What), printable.Text(w.Says))
	}
	switch nothing := report.Assessable() == 0; {
	case len(wrong) > 0 && nothing:
		return exitError{exitUsage, fmt.Errorf("wrong entries in the profile: %d (correct them, otherwise a run assesses nothing)", len(wrong))}
	case len(wrong) > 0:
		return exitError{exitUsage, fmt.Errorf("wrong entries in the profile: %d", len(wrong))}
	case nothing:
		return exitError{exitUsage, fmt.Errorf("a run would assess nothing: the profile lacks %s (add it)", report.Lacking().Input)}
	}
	return nil
}

// printFindings prints the rows, and the keys if --verbose is set or they are few.
func (f runFlags) printFindings(w io.Writer, r preflight.Report) {
	const few = 10
	if f.verbose || len(r.Keys) <= few {
		for _, k := range r.Keys {
			_, _ = fmt.Fprintf(w, "%-40s %s\n", printable.Text(k.What), printable.Text(k.Says))
		}
	} else {
		_, _ = fmt.Fprintf(w, "%-40s %d tried (--verbose shows each)\n", "keys", len(r.Keys))
	}
	for _, d := range r.Data {
		_, _ = fmt.Fprintf(w, "%-40s %s\n", printable.Text(d.What), printable.Text(d.Says))
	}
	_, _ = fmt.Fprintln(w)
}

// columnsOf returns the number of columns of a line on w.
func columnsOf(w io.Writer) int {
	if file, ok := terminalOf(w); ok {
		return console.Detect(file, os.Getenv).Width
	}
	return console.DefaultWidth
}

// printCoverage prints a table of what a run would assess in each group.
func (f runFlags) printCoverage(w io.Writer, all []preflight.Coverage) error {
	const shown = 4
	const others = 28 // width of the table without its last column
	var rows [][]any
	for _, c := range all {
		missing := c.Missing
		if !f.verbose {
			missing = missing[:min(len(missing), shown)]
		}
		var lines []string
		for _, m := range missing {
			lines = append(lines, fmt.Sprintf("%s (%d)", m.Input, m.Pairs))
		}
		if more := len(c.Missing) - len(missing); more > 0 {
			lines = append(lines, fmt.Sprintf("and %d more (--verbose shows them)", more))
		}
		rows = append(rows, []any{c.Group, c.Assessable, c.Pairs, strings.Join(lines, "\n")})
	}
	return console.Table(w, []string{"group", "assessed", "of", "missing for the rest"}, rows, max(columnsOf(w), console.MinWidth)-others)
}
