package judge

import (
	"testing"

	. "github.com/onsi/gomega"

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
			want: reports.Conforms, reasons: []string{}},
		{name: "some were not assessed", results: reports.Results{Checks: checksOf(reports.Pass, reports.NotAssessed)},
			want: reports.Conforms, reasons: []string{}},
		{name: "one failed", results: reports.Results{Checks: checksOf(reports.Pass, reports.Fail)},
			want: reports.DoesNotConform, reasons: []string{"1 of 2 checks failed"}, exitCode: 1},
		{name: "a failure outweighs trouble", results: reports.Results{Checks: checksOf(reports.Fail, reports.Error), Troubles: met},
			want: reports.DoesNotConform, reasons: []string{"1 of 2 checks failed"}, exitCode: 1},
		{name: "no checks", results: reports.Results{},
			want: reports.CouldNotTell, reasons: []string{"not one requirement could be assessed"}, exitCode: 3},
		{name: "nothing assessed", results: reports.Results{Checks: checksOf(reports.NotAssessed)},
			want: reports.CouldNotTell, reasons: []string{"not one requirement could be assessed"}, exitCode: 3},
		{name: "a check in trouble", results: reports.Results{Checks: checksOf(reports.Pass, reports.Error), Troubles: met},
			want: reports.CouldNotTell, reasons: []string{"1 of 2 checks ended in trouble of the harness or of the way to the target"}, exitCode: 3},
		{name: "trouble beside the checks", results: reports.Results{Checks: checksOf(reports.Pass), Troubles: met},
			want: reports.CouldNotTell, reasons: []string{"trouble beside the checks: 1"}, exitCode: 3},
		{name: "interrupted", results: reports.Results{Run: reports.Run{Interrupted: true}, Checks: checksOf(reports.Pass, reports.NotAssessed)},
			want: reports.CouldNotTell, reasons: []string{"the run was interrupted"}, exitCode: 130},
		{name: "interrupted after a failure", results: reports.Results{Run: reports.Run{Interrupted: true}, Checks: checksOf(reports.Fail)},
			want: reports.DoesNotConform, reasons: []string{"1 of 1 checks failed"}, exitCode: 130},
		{name: "failed as expected", results: reports.Results{Checks: checksOf(reports.Pass, reports.ExpectedFailure)},
			want: reports.ConformsExcept, reasons: []string{"1 of 2 checks failed as expected"}},
		{name: "a stale entry", results: reports.Results{Checks: checksOf(reports.Pass)}, stale: []string{"it holds"},
			want: reports.DoesNotConform, reasons: []string{"it holds"}, exitCode: 1},
		{name: "expected, and another failed", results: reports.Results{Checks: checksOf(reports.Pass, reports.ExpectedFailure, reports.Fail)},
			want: reports.DoesNotConform, reasons: []string{"1 of 3 checks failed"}, exitCode: 1},
		{name: "expected, and trouble", results: reports.Results{Checks: checksOf(reports.Pass, reports.ExpectedFailure), Troubles: met},
			want: reports.CouldNotTell, reasons: []string{"trouble beside the checks: 1"}, exitCode: 3},
		{name: "what was said before does not count", results: reports.Results{Verdict: reports.CouldNotTell, Reasons: []string{"old"}, Checks: checksOf(reports.Pass)},
			want: reports.Conforms, reasons: []string{}},
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
