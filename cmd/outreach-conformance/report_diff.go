package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/reports/view"
)

type diffFlags struct {
	formats    formats
	thresholds []string
	verbose    bool
}

func newReportDiff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare the results of two runs",
		Long: `diff compares two results.json, two load.json, or two directories that hold them. It
reports the checks that newly fail, newly pass or are no longer assessed, changed
observations, and the figures of load runs with their intervals. Checks are compared by
requirement and operation, observations without ids: order and seed make no difference.

Exit codes: 0 no difference, or none that counts; 1 newly failing, no longer assessed,
or a threshold such as worse<5% missed; 2 usage error; 3 inconclusive.`,
		Example: `  outreach-conformance report diff results/1.4.0 results/1.5.0
  outreach-conformance report diff old/results.json new/results.json --format console,html=difference.html
  outreach-conformance report diff old/load.json new/load.json --threshold 'worse<5%'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.formats.in(cmd.OutOrStdout(), func() error { return f.diff(args[0], args[1], cmd.OutOrStdout()) })
		},
	}
	flags := cmd.Flags()
	group(flags, "Gate", func() {
		flags.StringArrayVar(&f.thresholds, "threshold", nil, "condition to meet, on the change of the figures of load runs: 'worse<5%', 'mixed: worse<10%'; repeatable")
	})
	group(flags, "Output", func() {
		registerVerbose(flags, &f.verbose, "every change")
		f.formats.register(flags, differenceFormats)
	})
	return cmd
}

func (f diffFlags) diff(oldPath, newPath string, stdout io.Writer) error {
	thresholds, err := threshold.ParseAll(f.thresholds)
	if err := errors.Join(err, verdict.CheckDifference(thresholds)); err != nil {
		return exitError{exitUsage, err}
	}
	before, err := readResults(oldPath)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("OLD: %w", err)}
	}
	after, err := readResults(newPath)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("NEW: %w", err)}
	}
	parts, err := compared(before, after, thresholds)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := f.formats.prepare(before.runFile, before.loadFile, after.runFile, after.loadFile); err != nil {
		return exitError{exitUsage, err}
	}
	d := diff.Join(thisTool(), parts...)
	all, code := viewsOf(d, ofDifference, view.Options{Verbose: f.verbose}), d.Outcome.ExitCode()
	failed := f.formats.write(all, code)
	if f.formats.github() {
		failed = errors.Join(failed, runFlags{formats: f.formats, output: "."}.jobSummary(all, despite(failed, code)))
	}
	return end(code, failed, func(code int) error { return f.formats.show(stdout, all, code) })
}

// stored holds the results that a file or a directory holds.
type stored struct {
	path              string
	runFile, loadFile string // empty without such results
	run               reports.Results
	load              load.Results
}

// readResults reads a results.json, a load.json, or those in a directory.
func readResults(path string) (w stored, err error) {
	w.path = path
	info, err := os.Stat(path)
	if inputfile.IsStdin(path) || err == nil && !info.IsDir() {
		return w, w.read(path)
	}
	if err != nil {
		return w, fmt.Errorf("%w (want a results.json, a load.json or a directory that holds one)", err)
	}
	for _, name := range []string{resultsFile, loadFile} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if err := w.read(file); err != nil {
			return w, err
		}
	}
	if w.runFile == "" && w.loadFile == "" {
		return w, fmt.Errorf("%s: holds neither %s nor %s", path, resultsFile, loadFile)
	}
	return w, nil
}

// read reads a file of either kind.
func (w *stored) read(file string) error {
	text, err := inputfile.Read(file, load.MaxSize)
	if err != nil {
		return err
	}
	switch jsonfile.NameOf(text) {
	case "":
		return fmt.Errorf("%s: not a results file (want a %s of run or a %s of load)", file, resultsFile, loadFile)
	case jsonfile.OfRun:
		w.run, err = jsonfile.Run.Parse(text)
		w.runFile = file
	default:
		w.load, err = load.Parse(text) // refuses other kinds
		w.loadFile = file
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// consistent returns an error if the results of a run contradict the catalogue or themselves.
func (w stored) consistent() error {
	if w.runFile == "" {
		return nil
	}
	if err := summary.Consistent(w.run); err != nil {
		return fmt.Errorf("%s: %w", w.runFile, err)
	}
	return nil
}

// compared compares what both have.
func compared(before, after stored, thresholds []threshold.Threshold) (parts []diff.Part, err error) {
	for _, kind := range []struct{ name, old, new string }{{resultsFile, before.runFile, after.runFile}, {loadFile, before.loadFile, after.loadFile}} {
		if (kind.old == "") != (kind.new == "") {
			return nil, fmt.Errorf("only one of %s and %s has results of the kind of a %s (compare results of the same kinds)", before.path, after.path, kind.name)
		}
	}
	if before.runFile != "" {
		parts = append(parts, diff.Runs(before.runFile, before.run, after.runFile, after.run))
	}
	if before.loadFile == "" {
		if len(thresholds) > 0 {
			return nil, fmt.Errorf("--threshold %q: only load runs have figures, and these are no load runs", thresholds[0].Text)
		}
		return parts, nil
	}
	figures, held := verdict.Difference(before.loadFile, before.load, after.load, thresholds)
	return append(parts, diff.Loads(before.loadFile, before.load, after.loadFile, after.load, figures, held)), nil
}
