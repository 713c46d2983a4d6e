package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/suites/runner"
)

// repeated reads the file of --only-failed. The run must not replace it: what was not
// judged again would no longer count as failed.
func (f runFlags) repeated() (*runner.Repeat, error) {
	if f.onlyFailed == "" {
		return nil, nil
	}
	earlier, err := os.Stat(f.onlyFailed)
	if err != nil {
		return nil, fmt.Errorf("--only-failed: %w", err)
	}
	if written, err := os.Stat(filepath.Join(f.output, resultsFile)); err == nil && os.SameFile(earlier, written) {
		return nil, fmt.Errorf("--only-failed %s: this run would replace it (choose another --output)", f.onlyFailed)
	}
	results, err := reports.Read(f.onlyFailed)
	if err != nil {
		return nil, fmt.Errorf("--only-failed: %w", err)
	}
	repeat, err := runner.RepeatFailed(f.onlyFailed, results)
	if err != nil {
		return nil, fmt.Errorf("--only-failed %w", err)
	}
	return repeat, nil
}

// removeEarlier removes the verdict of an earlier run from the directory. A run that
// ends before it has judged must not leave an old pass for CI to read.
func removeEarlier(dir string) error {
	return errors.Join(outputdir.RemoveResults(filepath.Join(dir, resultsFile)), outputdir.RemoveJUnit(filepath.Join(dir, junitFile)),
		outputdir.RemovePage(filepath.Join(dir, reportFile)), outputdir.RemoveResults(filepath.Join(dir, differenceFile)))
}

// removeUnparsed calls remove for a command line with an error, after which nothing
// is judged. It looks for the output directory in the arguments and the environment;
// standard is the default.
func removeUnparsed(args []string, getenv func(string) string, standard string, remove func(dir string) error) error {
	dir := getenv(envvar.OfFlag("output"))
	for i, arg := range args {
		for _, flag := range []string{"--output", "-o"} {
			value, given := strings.CutPrefix(arg, flag)
			switch {
			case !given:
			case value == "" && i+1 < len(args):
				dir = args[i+1]
			case strings.HasPrefix(value, "="):
				dir = value[1:]
			case flag == "-o":
				dir = value
			}
		}
	}
	if dir == "" {
		dir = standard
	}
	named := func(arg string) bool {
		return strings.Contains(arg, filepath.Join(dir, loadFile)) || strings.Contains(arg, filepath.Join(dir, resultsFile))
	}
	if slices.ContainsFunc(args, named) || named(getenv(envvar.OfFlag("baseline"))) || named(getenv(envvar.OfFlag("threshold"))) || named(getenv(envvar.OfFlag("only-failed"))) {
		return nil // it may be the baseline, or what --only-failed repeats
	}
	return remove(dir)
}
