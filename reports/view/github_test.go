package view_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
)

func annotations(t *testing.T, r reports.Results) []string {
	t.Helper()
	var b strings.Builder
	NewWithT(t).Expect(view.Formats["github"].Run(&b, r, view.Options{ExitCode: r.ExitCode()})).To(Succeed())
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func markdownSummary(t *testing.T, r reports.Results) string {
	t.Helper()
	var b strings.Builder
	NewWithT(t).Expect(view.Formats["markdown"].Run(&b, r, view.Options{ExitCode: r.ExitCode()})).To(Succeed())
	return b.String()
}

func TestAnnotationsShowTheVerdictAndTheFirstFailures(t *testing.T) {
	g := NewWithT(t)
	lines := annotations(t, sample.Full())
	g.Expect(len(lines)).To(BeNumerically("<=", 10), "GitHub shows no more")
	g.Expect(lines[0]).To(And(HavePrefix("::error title=outreach-conformance::FAIL  exit 1 · "), ContainSubstring("%0Abecause some checks failed")))
	g.Expect(lines).To(ContainElement(MatchRegexp(
		`^::error title=PAGE-WALK-04::A walk over all pages.*%0Aon +inbox-placement-tests.list%0Aat +/items/0/id%0Aexpected +a row .*%0Aactual .*%0Arepeat +curl `)))
	g.Expect(annotations(t, sample.Passed())).To(Equal([]string{""}))
}

// A check that newly fails has an annotation of its own. Lost coverage has none.
func TestAFailureStandsInOneAnnotation(t *testing.T) {
	g, r := NewWithT(t), sample.Full()
	r.Regressions = []string{"newly failing, unlike in the baseline old.json: PAGE-WALK-04 on inbox-placement-tests.list", "no longer assessed, unlike in the baseline old.json: A on b"}
	r.Reasons = append(r.Reasons, r.Regressions...)
	text := strings.Join(annotations(t, r), "\n")
	g.Expect(strings.Count(text, "PAGE-WALK-04")).To(Equal(1))
	g.Expect(text).To(ContainSubstring("no longer assessed"))
}

func TestAMistakeIsOneAnnotation(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	g.Expect(view.Mistake(&b, errors.New("100 % wrong\n::warning::forged\x1b[31m"))).To(Succeed())
	g.Expect(b.String()).To(Equal(`::error title=outreach-conformance::100 %25 wrong%0A\x3a:warning\x3a:forged\x1b[31m` + "\n"))
}

func TestCommandsOfATargetAreStopped(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	resume, err := view.StopCommands(&b, "secret")
	g.Expect(err).NotTo(HaveOccurred())
	b.WriteString("::error::forged\n")
	g.Expect(resume()).To(Succeed())
	g.Expect(b.String()).To(Equal("::stop-commands::secret\n::error::forged\n::secret::\n"))
}

func TestSummaryHasTablesAndCollapsedDetails(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	text := markdownSummary(t, r)
	g.Expect(text).To(And(
		HavePrefix("### ✗ FAIL  exit 1 · "),
		ContainSubstring("| passed | failed |"),
		MatchRegexp(`(?m)^\| PAGE-WALK-04 \| inbox-placement-tests.list \| a row .* \| .* \|$`),
		ContainSubstring("<details><summary>Details of the failures</summary>"),
		MatchRegexp(`(?m)^    repeat    curl -sS`),
		ContainSubstring("Missing inputs")))
	g.Expect(strings.Count(text, "<details>")).To(Equal(strings.Count(text, "</details>")))

	passed := markdownSummary(t, sample.Passed())
	g.Expect(passed).To(HavePrefix("### ✓ PASS  exit 0 · "))
	g.Expect(passed).NotTo(ContainSubstring("Details"))
}

func TestSummaryShowsExpectedFailures(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	r.Checks[0].Outcome = reports.ExpectedFailure
	r.Checks[0].Waiver = &reports.Waiver{Reason: "a known | bug", Link: "https://bugs.example/7", Expires: "2026-12-31", Flaky: true}
	var b strings.Builder
	g.Expect(view.Formats["markdown"].Run(&b, r, view.Options{ExitCode: 0})).To(Succeed())
	g.Expect(b.String()).To(And(ContainSubstring(r.Checks[0].Requirement), ContainSubstring("2026-12-31, flaky"),
		ContainSubstring("a known &#124; bug https"), ContainSubstring("| expected failure |")))
}

func TestASummaryFitsGitHub(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	for i := range 500 {
		r.Checks = append(r.Checks, reports.Check{Requirement: fmt.Sprint("X", i), Operation: "a.list", Outcome: reports.Fail, Violations: []reports.Violation{{
			Statement: strings.Repeat("|", 9999), Expected: strings.Repeat("<", 9999), Actual: strings.Repeat("*", 9999), Curl: strings.Repeat("c", 2000)}}})
	}
	text := markdownSummary(t, r)
	g.Expect(len(text)).To(BeNumerically("<", 1<<20))
	g.Expect(text).To(ContainSubstring("more rows are in the results"))
}

var markup = regexp.MustCompile(`</?(details|summary)>`)
