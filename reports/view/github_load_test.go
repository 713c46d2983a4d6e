package view_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

func loadAnnotations(t *testing.T, r load.Results, code int) []string {
	t.Helper()
	var b strings.Builder
	NewWithT(t).Expect(view.Formats["github"].Load(&b, r, view.Options{ExitCode: code})).To(Succeed())
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func loadMarkdown(t *testing.T, r load.Results) string {
	t.Helper()
	var b strings.Builder
	NewWithT(t).Expect(view.Formats["markdown"].Load(&b, r, view.Options{ExitCode: r.ExitCode()})).To(Succeed())
	return b.String()
}

// judged returns the full sample as one run, not as a shard.
func judged() load.Results {
	r := sample.FullLoad()
	r.Run.Shard = nil
	return r
}

func TestAnnotationsOfALoadRun(t *testing.T) {
	g := NewWithT(t)
	r := judged()
	r.Reasons = append(r.Reasons, "the generator was busy")
	lines := loadAnnotations(t, r, 1)
	g.Expect(lines[0]).To(Equal("::error title=outreach-conformance::FAIL  exit 1 · 5 of 6 scenarios%0Abecause the generator was busy"))
	g.Expect(lines[1:4]).To(Equal([]string{
		"::error title=list-throughput::p99<250ms@500/s is missed: 1,902 ms",
		"::error title=walk::PAGE-WALK-01 is broken on campaigns.list",
		"::error title=soak::errors<0.1%25 is inconclusive: 8,000 responses are too few",
	}))
	g.Expect(lines[4]).To(MatchRegexp(`^::error title=PAGE-WALK-01::.*%0Aon +campaigns\.list%0Aat +.*%0Aexpected +.*%0Aactual +.*%0Arepeat +curl `))
	for range 20 {
		r.Scenarios = append(r.Scenarios, r.Scenarios[0])
	}
	g.Expect(loadAnnotations(t, r, 1)).To(HaveLen(10), "GitHub shows no more")
	g.Expect(loadAnnotations(t, sample.PassedLoad(), 0)).To(Equal([]string{""}))
	g.Expect(loadAnnotations(t, sample.FullLoad(), 0)).To(Equal([]string{""}), "a shard has no verdict")
	g.Expect(loadAnnotations(t, sample.EmptyLoad(), 3)).To(Equal([]string{
		"::error title=outreach-conformance::INCONCLUSIVE  exit 3 · 0 of 0 scenarios%0Abecause the target cannot be reached"}))
}

// What several scenarios broke is one annotation.
func TestARequirementThatTwoScenariosBroke(t *testing.T) {
	g := NewWithT(t)
	r := judged()
	r.Scenarios = append(r.Scenarios, r.Scenarios...)
	g.Expect(strings.Count(strings.Join(loadAnnotations(t, r, 1), "\n"), "title=PAGE-WALK-01")).To(Equal(1))
}

func TestSummaryOfALoadRun(t *testing.T) {
	g := NewWithT(t)
	text := loadMarkdown(t, judged())
	g.Expect(text).To(And(
		HavePrefix("### ✗ FAIL  exit 1 · 5 of 6 scenarios\n\nTarget: Example Outreach 2.8.1 · seed 7 · outreach-conformance v1.4.0\n"),
		ContainSubstring("\n| scenario | verdict | because |\n|---|---|---|\n| list-throughput | ✗ FAIL | p99&#60;250ms&#64;500/s is missed&#58; 1,902 ms |\n| sustained-rate | ✓ PASS |  |\n"),
		MatchRegexp(`(?m)^\| list-throughput \| p99&#60;250ms&#64;500/s \| 500/s \| missed \| [0-9,]+ ms &#40;[0-9,]+ to [0-9,]+&#41; \|  \|$`),
		ContainSubstring("**PAGE-WALK-01** on campaigns.list: A page walk returns each row once. (Pagination)"),
		MatchRegexp(`(?m)^\| response p99 \| ms \| 61\.2 \| 92\.4 \| worse \|  \|$`),
		MatchRegexp(`(?m)^\| PAGE-WALK-01 \| campaigns\.list \| .* \| .* \|$`),
		MatchRegexp(`(?m)^    repeat    curl `),
		MatchRegexp(`(?m)^\| list-throughput \| 500/s \| 500 \| [0-9.]+ \| [0-9.,]+ \| [0-9.,]+ \| 0 \| [0-9]+ \|$`)))
	g.Expect(strings.Count(text, "<details>")).To(Equal(strings.Count(text, "</details>")))
	passed := loadMarkdown(t, sample.PassedLoad())
	g.Expect(passed).To(HavePrefix("### ✓ PASS  exit 0 · 1 of 1 scenarios"))
	g.Expect(passed).NotTo(ContainSubstring("Details of the failures"))
	shard := loadMarkdown(t, sample.FullLoad())
	g.Expect(shard).To(HavePrefix("### ✗ FAIL for this shard only  exit 0 · "))
	interrupted := judged()
	interrupted.Run.Interrupted = true
	g.Expect(loadMarkdown(t, interrupted)).To(HavePrefix("### ✗ FAIL &#40;interrupted&#41;  exit 130 · "))
}

func TestALoadSummaryFitsGitHub_long(t *testing.T) {
	g := NewWithT(t)
	r := hostileLoad()
	for range 300 {
		r.Scenarios = append(r.Scenarios, r.Scenarios[:6]...)
	}
	text := loadMarkdown(t, r)
	g.Expect(len(text)).To(BeNumerically("<", 1<<20))
	g.Expect(text).To(ContainSubstring("more rows are in the results"))
}

// No string of a target makes a command, a cell, or HTML.
func TestHostileStringsOfALoadRun(t *testing.T) {
	r := hostileLoad()
	r.Run.Shard = nil
	for i := range r.Scenarios {
		for j := range r.Scenarios[i].Violations {
			r.Scenarios[i].Violations[j].Requirement += "\n::error::forged|"
		}
	}
	for _, line := range loadAnnotations(t, r, 1) {
		if !strings.HasPrefix(line, "::error title=") || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q is not one annotation", line)
		}
	}
	columns := regexp.MustCompile(`^\|([^|]*\|){3,6}$|^\|([^|]*\|){8}$`)
	for line := range strings.Lines(loadMarkdown(t, r)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.ContainsFunc(line, unicode.IsControl):
			t.Errorf("control characters in %q", line)
		case strings.HasPrefix(line, "    "): // shown as it is
		case strings.ContainsAny(markup.ReplaceAllString(line, ""), "<>`["):
			t.Errorf("markup in %q", line)
		case strings.HasPrefix(line, "| ") && !columns.MatchString(line):
			t.Errorf("cells in %q", line)
		}
	}
}
