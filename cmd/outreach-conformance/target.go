package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/printable"
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
	f := &struct {
		session
		runner.Selection
	}{session: at(defaultOutput)}
	return command(&cobra.Command{
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
	}, f, targetFlags+`
Selection: operation
Pace and safety:`+paceFlags+` writes
Output: output verbose`, func(ctx context.Context, _ []string) error { return f.check(ctx, f.Selection) },
		"{verbose}", "every key and every missing input")
}

func (s *session) check(ctx context.Context, selection runner.Selection) error {
	if err := selection.CheckOperations(); err != nil {
		return err
	}
	t, stop, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer stop()
	report, err := preflight.Check(ctx, t, selection, s.say)
	if err != nil || ctx.Err() != nil {
		return cannotTell(err)
	}
	s.print("%s at %s\n\n", printable.Text(t.Profile.Name), t.BaseURL)
	if err := report.Print(s.out, s.Verbose); err != nil {
		return cannotTell(err)
	}
	if slices.ContainsFunc(report.Data, func(d preflight.Finding) bool { return d.Spent }) && s.Source.Profile != profile.MockName && s.builtinProfile() {
		s.print("\nThe reference server restores its data when it starts, and on POST /reset at the port of `serve --truth-addr`.\n")
	}
	wrong, nothing := report.Wrong(), report.Assessable() == 0
	if len(wrong) > 0 {
		s.print("\n")
	}
	for _, w := range wrong {
		s.print("✗ %s: %s\n", printable.Text(w.What), printable.Text(w.Says))
	}
	switch {
	case len(wrong) > 0 && nothing:
		return fmt.Errorf("wrong entries in the profile: %d (correct them, otherwise a run assesses nothing)", len(wrong))
	case len(wrong) > 0:
		return fmt.Errorf("wrong entries in the profile: %d", len(wrong))
	case nothing:
		return fmt.Errorf("a run would assess nothing: the profile lacks %s (add it)", report.Lacking().Input)
	}
	return nil
}
