package main

import (
	"context"

	"github.com/spf13/cobra"

	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/certify"
)

func newReportBundle() *cobra.Command {
	f := &struct {
		session
		certify.Settings
	}{at("bundled"), certify.Settings{Level: string(spec.ProfileFull)}}
	return command(&cobra.Command{
		Use:   "bundle DIRECTORY...",
		Short: "Pack recorded runs into one file that others can check",
		Long: `bundle packs the results and the evidence of runs into bundle.zip: with a page, the
target profile without its secrets, and a manifest of digests and settings. Each
DIRECTORY is the output of a run --evidence. report verify checks the bundle.

A bundle is a certificate only if certify made its runs.`,
		Example: `  outreach-conformance run --target-profile server.yaml --evidence
  outreach-conformance report bundle conformance-results -o bundled`,
		Args: cobra.MinimumNArgs(1),
	}, f, "Bundle: level signing-key expires\nOutput: output", func(ctx context.Context, args []string) error {
		o, err := f.Options(version(), commit())
		if err == nil {
			err = f.prepare(nil, certify.BundleFile)
		}
		if err == nil {
			o.Reference, err = certify.Reference(ctx, version())
		}
		if err == nil {
			_, err = f.writeBundle(args, o)
		}
		return err
	})
}
