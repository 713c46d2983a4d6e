package judge

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
)

func checksOf(outcomes ...reports.Outcome) []reports.Check {
	checks := make([]reports.Check, len(outcomes))
	for i, o := range outcomes {
		checks[i] = reports.Check{Requirement: "STATUS-200", Operation: "op", Outcome: o}
	}
	return checks
}

func TestConclude(t *testing.T) {
	met := []reports.Trouble{{Where: "a spec", What: "it broke"}}
	for _, tc := range []struct {
		name     string
		results  reports.Results
		stale    []string
		want     reports.Verdict
		reasons  []string
		exitCode int
	}{
		{name: "all passed", results: reports.Results{Checks: checksOf(reports.Pass, reports.Pass)},
			want: reports.Passed, reasons: []string{}},
		{name: "some were not assessed", results: reports.Results{Checks: checksOf(reports.Pass, reports.NotAssessed)},
			want: reports.Passed, reasons: []string{}},
		{name: "one failed", results: reports.Results{Checks: checksOf(reports.Pass, reports.Fail)},
			want: reports.Failed, reasons: []string{"1 of 2 checks failed"}, exitCode: 1},
		{name: "a failure outweighs trouble", results: reports.Results{Checks: checksOf(reports.Fail, reports.Error), Troubles: met},
			want: reports.Failed, reasons: []string{"1 of 2 checks failed"}, exitCode: 1},
		{name: "no checks", results: reports.Results{},
			want: reports.Inconclusive, reasons: []string{"no requirement could be assessed"}, exitCode: 3},
		{name: "nothing assessed", results: reports.Results{Checks: checksOf(reports.NotAssessed)},
			want: reports.Inconclusive, reasons: []string{"no requirement could be assessed"}, exitCode: 3},
		{name: "a check in trouble", results: reports.Results{Checks: checksOf(reports.Pass, reports.Error), Troubles: met},
			want: reports.Inconclusive, reasons: []string{"1 of 2 checks ended in an error of the harness or of the connection to the target"}, exitCode: 3},
		{name: "trouble beside the checks", results: reports.Results{Checks: checksOf(reports.Pass), Troubles: met},
			want: reports.Inconclusive, reasons: []string{"errors outside the checks: 1 (a spec)"}, exitCode: 3},
		{name: "interrupted", results: reports.Results{Run: reports.Run{Interrupted: true}, Checks: checksOf(reports.Pass, reports.NotAssessed)},
			want: reports.Inconclusive, reasons: []string{"the run was interrupted"}, exitCode: 130},
		{name: "interrupted after a failure", results: reports.Results{Run: reports.Run{Interrupted: true}, Checks: checksOf(reports.Fail)},
			want: reports.Failed, reasons: []string{"1 of 1 checks failed"}, exitCode: 130},
		{name: "failed as expected", results: reports.Results{Checks: checksOf(reports.Pass, reports.ExpectedFailure)},
			want: reports.Passed, reasons: []string{"1 of 2 checks failed as expected"}},
		{name: "all failed as expected", results: reports.Results{Checks: checksOf(reports.NotAssessed, reports.ExpectedFailure)},
			want: reports.Inconclusive, reasons: []string{"no check passed: what was assessed failed as expected"}, exitCode: 3},
		{name: "a stale entry", results: reports.Results{Checks: checksOf(reports.Pass)}, stale: []string{"it holds"},
			want: reports.Failed, reasons: []string{"it holds"}, exitCode: 1},
		{name: "expected, and another failed", results: reports.Results{Checks: checksOf(reports.Pass, reports.ExpectedFailure, reports.Fail)},
			want: reports.Failed, reasons: []string{"1 of 3 checks failed"}, exitCode: 1},
		{name: "expected, and trouble", results: reports.Results{Checks: checksOf(reports.Pass, reports.ExpectedFailure), Troubles: met},
			want: reports.Inconclusive, reasons: []string{"errors outside the checks: 1 (a spec)"}, exitCode: 3},
		{name: "what was said before does not count", results: reports.Results{Verdict: reports.Inconclusive, Reasons: []string{"old"}, Checks: checksOf(reports.Pass)},
			want: reports.Passed, reasons: []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			Conclude(&tc.results, tc.stale...)
			g.Expect(tc.results.Verdict).To(Equal(tc.want))
			g.Expect(tc.results.Reasons).To(Equal(tc.reasons))
			g.Expect(tc.results.ExitCode()).To(Equal(tc.exitCode))
		})
	}
}

func TestWaive(t *testing.T) {
	now := time.Date(2026, 3, 10, 23, 59, 59, 0, time.UTC)
	entry := func(operation string, expires profile.Date) profile.ExpectedFailure {
		return profile.ExpectedFailure{Requirement: "STATUS-200", Operation: operation, Reason: "known", Expires: expires}
	}
	failing := reports.Check{Requirement: "STATUS-200", Operation: "lead-lists.list", Outcome: reports.Fail}
	holding := reports.Check{Requirement: "STATUS-200", Operation: "lead-labels.list", Outcome: reports.Pass}
	unknown := reports.Check{Requirement: "STATUS-200", Operation: "lead-lists.list", Outcome: reports.NotAssessed}
	troubled := reports.Check{Requirement: "STATUS-200", Operation: "lead-lists.list", Outcome: reports.Error}
	other := reports.Check{Requirement: "BODY-JSON", Operation: "lead-lists.list", Outcome: reports.Fail}
	flaky := entry("", "2026-03-11")
	flaky.Flaky = true

	for _, tc := range []struct {
		name   string
		entry  profile.ExpectedFailure
		checks []reports.Check
		want   []reports.Outcome
		stale  string // a part of the message; empty for none
	}{
		{"fails as expected", entry("lead-lists.list", "2026-03-11"), []reports.Check{failing, other}, []reports.Outcome{reports.ExpectedFailure, reports.Fail}, ""},
		{"on its last day", entry("lead-lists.list", "2026-03-10"), []reports.Check{failing}, []reports.Outcome{reports.ExpectedFailure}, ""},
		{"expired", entry("lead-lists.list", "2026-03-09"), []reports.Check{failing}, []reports.Outcome{reports.Fail}, ": expired on 2026-03-09"},
		{"without a date", entry("lead-lists.list", "soon"), []reports.Check{failing}, []reports.Outcome{reports.Fail}, ": expired on soon"},
		{"on another operation", entry("lead-labels.list", "2026-03-11"), []reports.Check{failing, holding}, []reports.Outcome{reports.Fail, reports.Pass}, "STATUS-200 on lead-labels.list: no longer fails"},
		{"on all operations, of which one fails", entry("", "2026-03-11"), []reports.Check{failing, holding}, []reports.Outcome{reports.ExpectedFailure, reports.Pass}, ""},
		{"holds everywhere", entry("", "2026-03-11"), []reports.Check{holding}, []reports.Outcome{reports.Pass}, "STATUS-200: no longer fails"},
		{"flaky and fails", flaky, []reports.Check{failing}, []reports.Outcome{reports.ExpectedFailure}, ""},
		{"flaky and holds", flaky, []reports.Check{holding}, []reports.Outcome{reports.Pass}, ""},
		{"not assessed", entry("", "2026-03-11"), []reports.Check{unknown}, []reports.Outcome{reports.NotAssessed}, ""},
		{"not selected", entry("", "2026-03-11"), []reports.Check{other}, []reports.Outcome{reports.Fail}, ""},
		{"in trouble", entry("", "2026-03-11"), []reports.Check{troubled}, []reports.Outcome{reports.Error}, ""},
		{"on an operation that the requirement does not bind", entry("lead-labels.lists", "2026-03-11"), []reports.Check{failing}, []reports.Outcome{reports.Fail}, "STATUS-200 on lead-labels.lists: no such check"},
		{"of no requirement", profile.ExpectedFailure{Requirement: "STATUS-201", Reason: "known", Expires: "2026-03-11"}, []reports.Check{failing}, []reports.Outcome{reports.Fail}, "STATUS-201: no such check"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			results := reports.Results{Checks: tc.checks}
			stale := Waive(&results, []profile.ExpectedFailure{tc.entry}, now)
			var got []reports.Outcome
			for _, c := range results.Checks {
				got = append(got, c.Outcome)
				g.Expect(c.Waiver != nil).To(Equal(c.Outcome == reports.ExpectedFailure))
			}
			g.Expect(got).To(Equal(tc.want))
			if tc.stale == "" {
				g.Expect(stale).To(BeEmpty())
				return
			}
			g.Expect(stale).To(ConsistOf(ContainSubstring(tc.stale)))
		})
	}
}

// The entry decides the verdict.
// A run with too little coverage fails. A verdict other than pass stays.
func TestMinimum(t *testing.T) {
	checks := []reports.Check{{Outcome: reports.Pass}, {Outcome: reports.ExpectedFailure}, {Outcome: reports.NotAssessed}}
	const whole, few = "1 of 3 checks were not assessed (fail_on: not-assessed)", "only 2 checks were assessed, want at least 3 (min_assessed)"
	for name, tc := range map[string]struct {
		minimum Minimum
		before  reports.Verdict
		verdict reports.Verdict
		reasons []string
	}{
		"none":         {Minimum{}, reports.Passed, reports.Passed, []string{"before"}},
		"enough":       {Minimum{Assessed: 2}, reports.Passed, reports.Passed, []string{"before"}},
		"too few":      {Minimum{Assessed: 3}, reports.Passed, reports.Failed, []string{few, "before"}},
		"not whole":    {Minimum{Whole: true}, reports.Passed, reports.Failed, []string{whole, "before"}},
		"both":         {Minimum{Whole: true, Assessed: 3}, reports.Passed, reports.Failed, []string{whole, few, "before"}},
		"inconclusive": {Minimum{Whole: true, Assessed: 3}, reports.Inconclusive, reports.Inconclusive, []string{"before"}},
		"failed":       {Minimum{Whole: true, Assessed: 3}, reports.Failed, reports.Failed, []string{"before"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := reports.Results{Checks: checks, Verdict: tc.before, Reasons: []string{"before"}}
			tc.minimum.Require(&results)
			g.Expect(results.Verdict).To(Equal(tc.verdict))
			g.Expect(results.Reasons).To(Equal(tc.reasons))
		})
	}
}

// A run that is worse than its baseline does not pass. Another verdict stays, and so do
// its reasons.
func TestCompared(t *testing.T) {
	for _, tc := range []struct {
		before, after reports.Verdict
		reasons       []string
	}{
		{reports.Passed, reports.Failed, []string{"worse", "before"}},
		{reports.Failed, reports.Failed, []string{"before", "worse"}},
		{reports.Inconclusive, reports.Inconclusive, []string{"before", "worse"}},
	} {
		g := NewWithT(t)
		results := reports.Results{Verdict: tc.before, Reasons: []string{"before"}}
		Compared(&results, nil)
		g.Expect(results).To(Equal(reports.Results{Verdict: tc.before, Reasons: []string{"before"}}))
		Compared(&results, []string{"worse"})
		g.Expect(results).To(Equal(reports.Results{Verdict: tc.after, Reasons: tc.reasons, Regressions: []string{"worse"}}))
	}
}
