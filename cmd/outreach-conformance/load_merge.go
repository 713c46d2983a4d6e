package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/outputdir"
)

// mergeCommand is the name of the command below load.
const mergeCommand = "merge"

func newLoadMerge() *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   mergeCommand + " PART...",
		Short: "Join the parts of a sharded load run",
		Long: `merge joins the parts that the shards of a load run wrote, as if one process had
sent everything. It compares the figures with the thresholds and writes what load
writes. A PART is a part.json, a directory that holds one, or - for the standard
input, with one part per line. The result is inconclusive if a shard is missing,
appears twice or belongs to another run.`,
		Example: `  outreach-conformance load merge shards/*/part.json -o load-results
  kubectl logs -l job-name=load --tail=-1 | grep '^{' | outreach-conformance load merge -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.formats.in(cmd.OutOrStdout(), func() error { return f.merge(args, cmd.InOrStdin(), cmd.OutOrStdout()) })
		},
	}
	flags := cmd.Flags()
	group(flags, "Gate", func() { registerGate(flags, &f) })
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, defaultLoadOutput)
		registerVerbose(flags, &f.verbose, "every phase and violation")
		f.formats.register(flags, loadFormats)
	})
	return cmd
}

func (f loadFlags) merge(sources []string, stdin io.Reader, stdout io.Writer) error {
	thresholds, err := threshold.ParseAll(f.thresholds)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := verdict.CheckOverwrite(filepath.Join(f.output, loadFile), f.baseline, thresholds); err != nil {
		return exitError{exitUsage, err}
	}
	baselines, err := verdict.ReadBaselines(f.baseline, thresholds)
	if err != nil {
		return exitError{exitUsage, err}
	}
	var parts []loadtest.Part
	for _, source := range sources {
		read, err := readParts(source, stdin)
		if err != nil {
			return exitError{exitUsage, err}
		}
		parts = append(parts, read...)
	}
	applicable := verdict.Applicable{Chosen: parts[0].Scenarios, Known: scenario.Builtin(), Baseline: f.baseline != ""}
	if err := applicable.Check(thresholds); err != nil {
		return exitError{exitUsage, err}
	}
	if err := errors.Join(outputdir.Prepare(f.output, mergedFiles...), forgetMerged(f.output)); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	if err := f.formats.prepare(append(sources, f.baseline)...); err != nil {
		return exitError{exitUsage, err}
	}
	return f.reportLoad(loadtest.Merge(parts, thresholds, baselines), nil, stdout, nil)
}

// readParts reads a file of parts, the part in a directory, or the standard input.
func readParts(source string, stdin io.Reader) ([]loadtest.Part, error) {
	if inputfile.IsStdin(source) {
		return loadtest.ReadParts("standard input", stdin)
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		source = filepath.Join(source, partFile)
	}
	file, err := inputfile.Open(source)
	if err != nil {
		return nil, fmt.Errorf("%w (want a %s written by load --shard, or its output directory)", err, partFile)
	}
	parts, err := loadtest.ReadParts(source, file)
	return parts, errors.Join(err, file.Close())
}
