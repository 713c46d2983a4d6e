package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
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
		if f.expectedFailures == "" || expects(ofProfile, c) {
			return "the target's profile"
		}
		return printable.Text(f.expectedFailures)
	}
}

// writeExpectedFailures writes the file of --write-expected.
func (f runFlags) writeExpectedFailures(results reports.Results, ofProfile, ofFile []profile.ExpectedFailure, stderr io.Writer) error {
	if f.writeExpected == "" {
		return nil
	}
	entries, added := expectedAfter(results, ofProfile, ofFile, f.reason)
	heading := fmt.Sprintf("Known failures of %s, for `run --expected-failures`. An entry fails the run\nonce it has expired or its failure is fixed.",
		printable.Text(results.Target.Name))
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

// expectedDays is the number of days after which a new entry expires.
const expectedDays = 90

// expects reports whether one of the entries expects the check to fail.
func expects(entries []profile.ExpectedFailure, c reports.Check) bool {
	return slices.ContainsFunc(entries, func(e profile.ExpectedFailure) bool { return e.Covers(c.Requirement, c.Operation) })
}

// expectedAfter returns the entries for a file of expected failures after a run,
// and the number of new ones. ofProfile are the entries of the profile; ofFile are
// those that the run read from a file.
//
// Entries of the file stay as they are until their failure is fixed. An expired
// entry stays too: a person must renew it. Each failure without an entry gets a
// new one, with the reason. Without a reason it gets a placeholder, which a person must
// replace before the entry is used.
func expectedAfter(results reports.Results, ofProfile, ofFile []profile.ExpectedFailure, reason string) (entries []profile.ExpectedFailure, added int) {
	entries = slices.DeleteFunc(slices.Clone(ofFile), func(e profile.ExpectedFailure) bool { return judge.Outlived(e, results) })
	before := slices.Concat(ofProfile, entries)
	day := results.Run.Started.UTC()
	if reason == "" {
		reason = fmt.Sprintf("failed in run %s on %s; %s", results.Run.ID, day.Format(time.DateOnly), profile.PlaceholderReason)
	}
	expires := profile.Date(day.AddDate(0, 0, expectedDays).Format(time.DateOnly))
	for _, c := range results.Checks {
		if c.Outcome == reports.Fail && !expects(before, c) {
			added++
			entries = append(entries, profile.ExpectedFailure{Requirement: c.Requirement, Operation: c.Operation, Reason: reason, Expires: expires})
		}
	}
	return entries, added
}
