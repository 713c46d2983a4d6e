package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newReport returns the command whose subcommands show results that a run has written.
func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Show the results of earlier runs",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no subcommand given (`outreach-conformance report --help` lists them)")
		},
	}
	cmd.AddCommand(newReportHTML(), newReportDiff(), newReportMerge())
	return cmd
}
