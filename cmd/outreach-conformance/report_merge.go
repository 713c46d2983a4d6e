package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/merge"
	"outreach.example/conformance/reports/outputdir"
)

// mergedOutput is where merged results go.
const mergedOutput = "merged-results"

type mergeFlags struct {
	runFlags
}

func newReportMerge() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   mergeCommand + " RESULTS...",
		Short: "Join the results of runs of one target",
		Long: `merge joins the results of several runs of one target, such as the jobs of a matrix
that each judge some of the operations. RESULTS is a results.json or a directory that
holds one. It writes what run writes, and draws the verdict by the same rules.

A check that several runs have fails if it fails in any of them. If it passed in
another, that is a contradiction, and a reason of the verdict. Results of different
targets, target profiles or versions of the harness are refused.`,
		Example: `  outreach-conformance report merge job-1/results.json job-2/results.json
  outreach-conformance report merge jobs/* -o merged-results --min-assessed 1500`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.flags = cmd.Flags()
			return f.formats.in(cmd.OutOrStdout(), func() error { return f.merge(args, cmd.OutOrStdout()) })
		},
	}
	flags := cmd.Flags()
	group(flags, "Gate", func() { f.registerMinimum(flags) })
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, mergedOutput)
		registerVerbose(flags, &f.verbose, "every violation and observation")
		f.formats.register(flags, resultFormats)
	})
	return cmd
}

func (f mergeFlags) merge(sources []string, stdout io.Writer) error {
	for _, source := range sources {
		if written := filepath.Join(f.output, resultsFile); isSame(source, written) || isSame(filepath.Join(source, resultsFile), written) {
			return exitError{exitUsage, fmt.Errorf("%s: this command would replace it (choose another --output)", source)}
		}
	}
	if err := removeEarlier(f.output); err != nil {
		return exitError{exitUsage, err}
	}
	merged, files, err := f.joined(sources)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := outputdir.Prepare(f.output, resultsFile, junitFile, reportFile, summaryFile); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	if err := f.formats.prepare(files...); err != nil {
		return exitError{exitUsage, err}
	}
	return f.report(merged, stdout, func(reports.Check) string { return "the target's profile" }, nil)
}

// joined reads the results and joins them.
func (f mergeFlags) joined(sources []string) (merged reports.Results, files []string, err error) {
	given, err := f.settings()
	if err != nil {
		return merged, nil, err
	}
	var parts []merge.Part
	for _, source := range sources {
		w, err := readResults(source)
		if err != nil {
			return merged, nil, err
		}
		if w.runFile == "" {
			return merged, nil, fmt.Errorf("%s: results of a load run (`outreach-conformance load merge` joins the parts of one)", source)
		}
		if err := w.consistent(); err != nil {
			return merged, nil, err
		}
		parts = append(parts, merge.Part{File: w.runFile, Results: w.run})
		files = append(files, w.runFile)
	}
	least := judge.Minimum{Whole: given.FailOn != nil && *given.FailOn == profile.FailOnNotAssessed}
	if given.MinAssessed != nil {
		least.Assessed = *given.MinAssessed
	}
	merged, _, err = merge.Results(parts, least) // the contradictions are among the reasons
	return merged, files, err
}
