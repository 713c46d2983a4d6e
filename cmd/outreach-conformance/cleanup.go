package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"outreach.example/conformance/harness"
	"outreach.example/conformance/target"
)

func newCleanup() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Put back what a killed run changed on its target",
		Long: `cleanup reads the journals that runs leave in their output directory when they
are killed, and puts back what they changed: it deletes the tests that they
created and moves accounts home. Journals of other targets and of runs under
way are left alone. Of a target that is started in containers it removes what
killed runs left of them.`,
		Example: `  outreach-conformance cleanup --target http://127.0.0.1:8025`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.cleanup(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.target, "target", "t", "", "the address of the target, in front of /api/v2 (default: the profile's)")
	flags.StringVar(&f.targetProfile, "target-profile", "", "YAML file that describes the target (default: the reference server's)")
	flags.StringVarP(&f.output, "output", "o", "conformance-results", "directory in which the run left its journal")
	return cmd
}

func (f runFlags) cleanup(ctx context.Context, stdout, stderr io.Writer) error {
	if profile, err := f.profile(); err == nil && profile.Container != nil {
		if err := target.Sweep(ctx); err != nil {
			return exitError{exitCannotTell, err}
		}
		_, _ = fmt.Fprintln(stdout, "nothing is left of the containers of killed runs")
		return nil
	}
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	done, err := harness.Cleanup(ctx, t, f.output)
	for _, line := range done {
		_, _ = fmt.Fprintln(stdout, line)
	}
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	if len(done) == 0 {
		_, _ = fmt.Fprintf(stdout, "nothing to put back: %s holds no journal\n", f.output)
	}
	return nil
}
