package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newReport returns the command whose subcommands show results that a run has written.
func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Show the results of earlier runs",
		Args:  cobra.NoArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newReportHTML(), newReportDiff(), newReportMerge(), newReportBundle(), newReportVerify())
	return cmd
}

// needsSubcommand is the action of a command that does nothing by itself.
func needsSubcommand(cmd *cobra.Command, _ []string) error {
	return fmt.Errorf("no subcommand given (`%s --help` lists them)", cmd.CommandPath())
}
