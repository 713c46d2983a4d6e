package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/suites/runner"
)

// expected reads the file of --expected-failures. It also checks, before any
// request, that the file of --write-expected can be written.
func (f runFlags) expected() (*profile.ExpectedFailures, error) {
	if f.reason != "" && f.writeExpected == "" {
		return nil, errors.New("--reason: needs --write-expected, which writes it")
	}
	if f.writeExpected != "" {
		known, err := profile.LoadExpectedFailures(f.writeExpected)
		if known == nil && !errors.Is(err, fs.ErrNotExist) { // such as a profile, which would be lost
			return nil, fmt.Errorf("--write-expected: replaces only a file of expected failures (name a new file): %w", err)
		}
		if err := os.MkdirAll(filepath.Dir(f.writeExpected), 0o755); err != nil {
			return nil, fmt.Errorf("--write-expected: %w", err)
		}
	}
	if f.expectedFailures == "" {
		return &profile.ExpectedFailures{}, nil
	}
	return profile.LoadExpectedFailures(f.expectedFailures)
}

// expectedIn returns a function that names the place of a check's expected failure.
// The entries of the profile override those of the file.
func (f runFlags) expectedIn(ofProfile []profile.ExpectedFailure) func(reports.Check) string {
	return func(c reports.Check) string {
		if f.expectedFailures == "" || runner.Expects(ofProfile, c) {
			return "the target's profile"
		}
		return reports.Printable(f.expectedFailures)
	}
}

// writeExpectedFailures writes the file of --write-expected.
func (f runFlags) writeExpectedFailures(results reports.Results, ofProfile, ofFile []profile.ExpectedFailure, stderr io.Writer) error {
	if f.writeExpected == "" {
		return nil
	}
	entries, added := runner.ExpectedAfter(results, ofProfile, ofFile, f.reason)
	heading := fmt.Sprintf("Known failures of %s, for `run --expected-failures`. An entry fails the run\nonce it has expired or its failure is fixed.",
		reports.Printable(results.Target.Name))
	if err := profile.WriteExpectedFailures(f.writeExpected, heading, entries); err != nil {
		return err
	}
	hint := ""
	if added > 0 && f.reason == "" {
		hint = " (replace the reason of each new entry before you use it)"
	}
	say(stderr, fmt.Sprintf("wrote %s: expected failures: %d, new: %d%s", f.writeExpected, len(entries), added, hint))
	return nil
}
