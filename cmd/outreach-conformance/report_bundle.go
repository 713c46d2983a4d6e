package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/reports/outputdir"
)

func newReportBundle() *cobra.Command {
	var b bundleFlags
	var output string
	cmd := &cobra.Command{
		Use:   "bundle DIRECTORY...",
		Short: "Pack recorded runs into one file that others can check",
		Long: `bundle packs the results and the evidence of runs into bundle.zip: with a page, the
target profile without its secrets, and a manifest of digests and settings. Each
DIRECTORY is the output of a run --evidence. report verify checks the bundle.

A bundle is a certificate only if certify made its runs.`,
		Example: `  outreach-conformance run --target-profile server.yaml --evidence
  outreach-conformance report bundle conformance-results -o bundled`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := b.options()
			if err == nil {
				err = outputdir.Prepare(output, bundleFile)
			}
			if err == nil {
				options.Reference, err = referenceObservations(cmd.Context())
			}
			if err != nil {
				return exitError{exitUsage, err}
			}
			_, err = writeBundle(filepath.Join(output, bundleFile), args, options, cmd.OutOrStdout())
			return err
		},
	}
	flags := cmd.Flags()
	group(flags, "Bundle", func() { b.register(flags) })
	group(flags, "Output", func() { registerOutput(flags, &output, certifiedOutput) })
	return cmd
}
