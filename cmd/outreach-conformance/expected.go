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
	"outreach.example/conformance/reports"
)

// expectedDays is how long a failure that a run writes down may be expected.
const expectedDays = 90

// expected reads the file of --expected-failures, and makes sure that the one
// of --write-expected can be written, before the target is troubled.
func (f runFlags) expected() (*profile.ExpectedFailures, error) {
	if f.writeExpected != "" {
		if info, err := os.Stat(f.writeExpected); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("--write-expected %s: is not a regular file", f.writeExpected)
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

// announcedIn says where the failure of a check is announced; announced are the
// entries of the profile itself, which hold before those of the file.
func (f runFlags) announcedIn(announced []profile.ExpectedFailure) func(reports.Check) string {
	return func(c reports.Check) string {
		if f.expectedFailures == "" || slices.ContainsFunc(announced, func(e profile.ExpectedFailure) bool { return about(e).Covers(c) }) {
			return "the target's profile"
		}
		return f.expectedFailures
	}
}

// about is the part of an entry that says which failures it covers.
func about(e profile.ExpectedFailure) judge.Waiver {
	return judge.Waiver{Requirement: e.Requirement, Operation: e.Operation}
}

// writeDown writes the failures that are left to be announced by
// --expected-failures. announced are those that the profile itself announces,
// file those that the run was given on top.
func (f runFlags) writeDown(results reports.Results, announced, file []profile.ExpectedFailure, stderr io.Writer) error {
	if f.writeExpected == "" {
		return nil
	}
	entries, added := failuresOf(results, announced, file)
	heading := fmt.Sprintf("Known failures of %s, for `run --expected-failures`. An entry fails the run\nonce it has expired or its failure is fixed.",
		reports.Printable(results.Target.Name))
	text, err := profile.ExpectedFailuresYAML(heading, entries)
	if err != nil {
		return err
	}
	if err := replace(f.writeExpected, text, results.Run.ID); err != nil {
		return err
	}
	schema := filepath.Join(filepath.Dir(f.writeExpected), profile.ExpectedFailuresSchemaFile)
	if err := create(schema, profile.ExpectedFailuresSchema()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err // one that is there is theirs, or ours from before
	}
	_, _ = fmt.Fprintf(stderr, "outreach-conformance: wrote %s: expected failures: %d, new: %d", f.writeExpected, len(entries), added)
	if added > 0 {
		_, _ = fmt.Fprint(stderr, " (replace the reason of each new entry)")
	}
	_, _ = fmt.Fprintln(stderr)
	return nil
}

// failuresOf returns the entries that the run leaves standing, as they are, and
// one for each failure that nothing announces, whose number it tells. What the
// profile announces is left to it, and what has expired stays for a person to renew.
func failuresOf(results reports.Results, announced, file []profile.ExpectedFailure) (entries []profile.ExpectedFailure, added int) {
	for _, e := range file {
		if !about(e).Outlived(results) {
			entries = append(entries, e)
		}
	}
	standing := slices.Concat(announced, entries)
	day := results.Run.Started.UTC()
	for _, c := range results.Checks {
		covers := func(e profile.ExpectedFailure) bool { return about(e).Covers(c) }
		if c.Outcome != reports.Fail || slices.ContainsFunc(standing, covers) {
			continue
		}
		added++
		entries = append(entries, profile.ExpectedFailure{Requirement: c.Requirement, Operation: c.Operation,
			Reason:  fmt.Sprintf("failed in run %s on %s; replace this with the cause", results.Run.ID, day.Format(time.DateOnly)),
			Expires: profile.Date(day.AddDate(0, 0, expectedDays).Format(time.DateOnly))})
	}
	return entries, added
}

// replace puts the text at path whole: a reader sees the former text or this
// one. The mark makes the name of the temporary file beside it its own.
func replace(path string, text []byte, mark string) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // a link stays one
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+mark)
	if err := create(temporary, text); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// create writes a new file; one that cannot be written whole is removed.
func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
