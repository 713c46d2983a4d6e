package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/reports/jsonfile"
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
	if err != nil && !inputfile.IsStdin(f.onlyFailed) {
		return nil, fmt.Errorf("--only-failed: %w", err)
	}
	if written, err := os.Stat(filepath.Join(f.output, resultsFile)); err == nil && os.SameFile(earlier, written) {
		return nil, fmt.Errorf("--only-failed %s: this run would replace it (choose another --output)", f.onlyFailed)
	}
	results, err := jsonfile.Run.Read(f.onlyFailed)
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
// standard is the default. It removes nothing if another value leads to the directory or to
// results in it: that may be the baseline, or what --only-failed repeats.
func removeUnparsed(args []string, getenv func(string) string, standard string, remove func(dir string) error) error {
	dir := getenv(envvar.OfFlag("output"))
	values := []string{getenv(envvar.OfFlag("baseline")), getenv(envvar.OfFlag("threshold")), getenv(envvar.OfFlag("only-failed"))}
	for i, arg := range args {
		flag, value, joined := strings.Cut(arg, "=")
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		switch {
		case before == "--output" || before == "-o":
			dir = arg
		case joined && (flag == "--output" || flag == "-o"):
			dir = value
		case strings.HasPrefix(arg, "-o") && arg != "-o":
			dir = strings.TrimPrefix(arg, "-o")
		case strings.HasPrefix(before, "-"):
			values = append(values, arg)
		case joined:
			values = append(values, value)
		}
	}
	dir = cmp.Or(dir, standard)
	kept := []string{dir, filepath.Join(dir, loadFile), filepath.Join(dir, resultsFile)}
	for _, value := range values {
		for _, one := range strings.Split(value, ",") { // a variable holds a list of thresholds
			_, compared, _ := strings.Cut(one, " vs ")
			for _, path := range []string{value, compared} {
				if slices.ContainsFunc(kept, func(file string) bool { return isSame(path, file) }) {
					return nil
				}
			}
		}
	}
	return remove(dir)
}

// isSame reports whether both paths lead to the same file or directory.
func isSame(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
