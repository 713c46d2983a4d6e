package runner

import (
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
)

// ExpectedDays is the number of days after which an entry expires that
// ExpectedAfter adds.
const ExpectedDays = 90

// Expects reports whether one of the entries expects the check to fail.
func Expects(entries []profile.ExpectedFailure, c reports.Check) bool {
	return slices.ContainsFunc(entries, func(e profile.ExpectedFailure) bool { return waiver(e).Covers(c) })
}

// ExpectedAfter returns the entries for a file of expected failures after a run,
// and the number of new ones. ofProfile are the entries of the profile; ofFile are
// those that the run read from a file.
//
// Entries of the file stay as they are until their failure is fixed. An expired
// entry stays too: a person must renew it. Each failure without an entry gets a
// new one, with the reason. Without a reason it gets a placeholder, which a person must
// replace before the entry is used.
func ExpectedAfter(results reports.Results, ofProfile, ofFile []profile.ExpectedFailure, reason string) (entries []profile.ExpectedFailure, added int) {
	for _, e := range ofFile {
		if !waiver(e).Outlived(results) {
			entries = append(entries, e)
		}
	}
	before := slices.Concat(ofProfile, entries)
	day := results.Run.Started.UTC()
	if reason == "" {
		reason = fmt.Sprintf("failed in run %s on %s; %s", results.Run.ID, day.Format(time.DateOnly), profile.PlaceholderReason)
	}
	for _, c := range results.Checks {
		if c.Outcome != reports.Fail || Expects(before, c) {
			continue
		}
		added++
		entries = append(entries, profile.ExpectedFailure{Requirement: c.Requirement, Operation: c.Operation,
			Reason:  reason,
			Expires: profile.Date(day.AddDate(0, 0, ExpectedDays).Format(time.DateOnly))})
	}
	return entries, added
}

// waiver returns the entry in the form of package judge.
func waiver(e profile.ExpectedFailure) judge.Waiver {
	return judge.Waiver{Requirement: e.Requirement, Operation: e.Operation,
		Waiver: reports.Waiver{Reason: e.Reason, Link: e.Link, Expires: string(e.Expires), Flaky: e.Flaky}}
}
