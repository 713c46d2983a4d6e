package view_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
)

// endedEarly returns a run that ended before most of its checks. The others lacked the
// input, if there is one.
func endedEarly(why, input string) reports.Results {
	r := sample.Passed()
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Outcome, c.Assessments, c.Missing = reports.NotAssessed, 0, []string{why}
		if i < 2 && input != "" {
			c.Missing = []string{input}
		}
	}
	return r
}

// A run that ended early says so once: its checks lacked nothing, so that no list of
// requirements helps a reader.
func TestChecksAfterAnEarlyEndLackNothing(t *testing.T) {
	g := NewWithT(t)
	id := sample.Passed().Checks[2].Requirement

	page := consoleText(endedEarly(reports.NotReached, ""), view.Options{Width: 100})
	g.Expect(page).To(MatchRegexp(`\nNOT ASSESSED  [0-9]+ checks\n\n  nothing was missing: the run ended at its first failure \(--fail-fast\) — [0-9]+ checks\n\n`))
	g.Expect(page).NotTo(ContainSubstring(id))

	page = consoleText(endedEarly(reports.NotReachedInterrupted, "a key"), view.Options{Width: 100})
	g.Expect(page).To(MatchRegexp(`\nNOT ASSESSED  [0-9]+ checks, by what was missing\n\n  nothing was missing: the run was interrupted — [0-9]+ checks\n  a key — 2 checks\n`))
	g.Expect(page).NotTo(ContainSubstring(id))
}
