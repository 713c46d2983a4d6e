package runner

import (
	"errors"
	"fmt"
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

// ExpectedDays is the number of days after which a new entry expires.
const ExpectedDays = 90

// Expected are the expected failures of a run: those of the target profile, and those of a file.
type Expected struct {
	file, to, reason string
	ofFile           *profile.ExpectedFailures
	ofProfile        []profile.ExpectedFailure
}

// ReadExpected reads the file of --expected-failures. It also checks, before any request, that
// the file of --write-expected can be written. Reason is that of its new entries. Each may be empty.
func ReadExpected(file, to, reason string) (*Expected, error) {
	e := &Expected{file: file, to: to, reason: reason, ofFile: &profile.ExpectedFailures{}}
	if reason != "" && to == "" {
		return nil, errors.New("--reason: needs --write-expected, which writes it")
	}
	if to != "" {
		known, err := profile.LoadExpectedFailures(to)
		if known == nil && !errors.Is(err, fs.ErrNotExist) { // such as a profile, which would be lost
			return nil, fmt.Errorf("--write-expected: replaces only a file of expected failures (name a new file): %w", err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, fmt.Errorf("--write-expected: %w", err)
		}
	}
	if file == "" {
		return e, nil
	}
	var err error
	e.ofFile, err = profile.LoadExpectedFailures(file)
	return e, err
}

// AddTo adds the entries of the file to the profile.
func (e *Expected) AddTo(p *profile.Profile) error {
	e.ofProfile = p.ExpectedFailures
	return e.ofFile.AddTo(p)
}

// In names the place of a check's expected failure. The entries of the profile override
// those of the file.
func (e *Expected) In(c reports.Check) string {
	if e.file == "" || expects(e.ofProfile, c) {
		return "the target's profile"
	}
	return printable.Text(e.file)
}

// expects reports whether one of the entries expects the check to fail.
func expects(entries []profile.ExpectedFailure, c reports.Check) bool {
	return slices.ContainsFunc(entries, func(e profile.ExpectedFailure) bool { return e.Covers(c.Requirement, c.Operation) })
}

// Write writes the file of --write-expected, and says so; without one it does nothing.
//
// Entries of the file that was read stay as they are until their failure is fixed. An expired
// entry stays too: a person must renew it. Each failure without an entry gets a
// new one, with the reason. Without a reason it gets a placeholder, which a person must
// replace before the entry is used.
func (e *Expected) Write(results reports.Results) (said string, err error) {
	if e.to == "" {
		return "", nil
	}
	entries := slices.DeleteFunc(slices.Clone(e.ofFile.Entries), func(e profile.ExpectedFailure) bool { return judge.Outlived(e, results) })
	before, added := slices.Concat(e.ofProfile, entries), 0
	day, reason, hint := results.Run.Started.UTC(), e.reason, ""
	if reason == "" {
		reason = fmt.Sprintf("failed in run %s on %s; %s", results.Run.ID, day.Format(time.DateOnly), profile.PlaceholderReason)
	}
	expires := profile.Date(day.AddDate(0, 0, ExpectedDays).Format(time.DateOnly))
	for _, c := range results.Checks {
		if c.Outcome == reports.Fail && !expects(before, c) {
			added++
			entries = append(entries, profile.ExpectedFailure{Requirement: c.Requirement, Operation: c.Operation, Reason: reason, Expires: expires})
		}
	}
	heading := fmt.Sprintf("Known failures of %s, for `run --expected-failures`. An entry fails the run\nonce it has expired or its failure is fixed.",
		printable.Text(results.Target.Name))
	if added > 0 && e.reason == "" {
		hint = " (replace the reason of each new entry before you use it)"
	}
	return fmt.Sprintf("wrote %s: expected failures: %d, new: %d%s", e.to, len(entries), added, hint), profile.WriteExpectedFailures(e.to, heading, entries)
}
