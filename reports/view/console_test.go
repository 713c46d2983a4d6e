package view_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	text.OverrideRuneWidthEastAsianWidth(false) // line breaks must not depend on the locale
	os.Exit(m.Run())
}

func consoleText(r reports.Results, o view.Options) string {
	var b bytes.Buffer
	o.ExitCode = r.ExitCode()
	if err := view.Formats["console"].Run(&b, r, o); err != nil {
		panic(err)
	}
	return b.String()
}

// interrupted returns an interrupted run with findings.
func interrupted() reports.Results {
	r := sample.Passed()
	r.Run.Interrupted, r.Verdict, r.Reasons = true, reports.Inconclusive, []string{"the run was interrupted"}
	for i := range r.Checks[40:] {
		c := &r.Checks[40+i]
		c.Outcome, c.Assessments, c.Missing = reports.NotAssessed, 0, []string{"the run was interrupted"}
	}
	return r
}

// broken returns a run in which most checks fail.
func broken() reports.Results {
	r := sample.Full()
	for i := range r.Checks {
		c := &r.Checks[i]
		if i%3 != 0 && c.Outcome == reports.Pass {
			c.Outcome, c.ViolationCount = reports.Fail, 7
			c.Violations = []reports.Violation{{Statement: "What is asked for is there.", Section: "Endpoints", Pointer: "status",
				Expected: "200", Actual: "500 in " + spelled(c.Requirement), Curl: `curl -i "$OUTREACH_URL/api/v2/lead-lists"`}}
		}
	}
	for i := range 40 {
		r.Troubles = append(r.Troubles, reports.Trouble{Where: fmt.Sprintf("spec %d", i), What: "the connection was closed"},
			reports.Trouble{Where: "spec", What: fmt.Sprintf("the connection %d was closed", i)})
	}
	return r
}

// spelled writes letters for digits: refusals that differ in numbers alone have one cause.
func spelled(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + 'a'
		}
		return r
	}, text)
}

// A missing operation is one line.
func TestMissingOperationsAreALineEach(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	for i, operation := range []string{spec.MoveLead, spec.ListLeadLabels} {
		r.Checks = append(r.Checks, reports.Check{Requirement: string(spec.Served), Operation: operation, Group: "shape", Level: "stated", Outcome: reports.Fail,
			Violations: []reports.Violation{{Statement: "The server implements the operation.", Section: "Endpoints", Pointer: "status", Expected: "a status",
				Actual: []string{"404 <html>", "405"}[i]}}, ViolationCount: 1})
	}
	page := consoleText(r, view.Options{Width: 100})
	g.Expect(page).To(ContainSubstring("✗ SERVED\n  leads.move        is not served: every request gets 404\n  lead-labels.list  is not served: every request gets 405\n"))
}

// The summary of many failures stays short: totals and the most basic causes.
func TestDigest(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		g := NewWithT(t)
		page := consoleText(broken(), view.Options{Width: width, ResultsPath: "results.json"})
		g.Expect(strings.Count(page, "\n")).To(BeNumerically("<", 360))
		_, failures, found := strings.Cut(page, "FAILURES")
		g.Expect(found).To(BeTrue())
		g.Expect(strings.Count(failures, "\n✗ ")).To(Equal(15+1), "causes, and the verdict")
		g.Expect(strings.Index(failures, "✗ ERROR-BODY-02")).To(BeNumerically("~", 0, strings.Index(failures, "✗ SHAPE-FIELD")), "the most common first")
		causes := summary.Causes(broken().Checks)
		g.Expect(strings.Join(strings.Fields(failures), " ")).To(ContainSubstring(fmt.Sprintf("… and %d more causes with", len(causes)-15)))
	}
}

// Each expected failure names its file.
func TestExpectedFailuresSayWhereTheyStand(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	for i := range r.Checks[:2] {
		c := &r.Checks[i]
		c.Outcome, c.Waiver = reports.ExpectedFailure, &reports.Waiver{Reason: "known", Expires: "2999-12-31"}
	}
	first := r.Checks[0]
	page := consoleText(r, view.Options{ExpectedIn: func(c reports.Check) string {
		if c.Requirement == first.Requirement && c.Operation == first.Operation {
			return "known.yaml"
		}
		return "the target's profile"
	}})
	g.Expect(page).To(And(ContainSubstring("declared in known.yaml"), ContainSubstring("declared in the target's profile")))
	g.Expect(consoleText(r, view.Options{})).NotTo(ContainSubstring("announced in"))
}

func TestSummaryGolden(t *testing.T) {
	for _, c := range []struct {
		name    string
		results reports.Results
		options view.Options
	}{
		{"full-80", sample.Full(), view.Options{Width: 80, ResultsPath: "results.json"}},
		{"full-140", sample.Full(), view.Options{Width: 140, ResultsPath: "results.json"}},
		{"full-140-verbose", sample.Full(), view.Options{Width: 140, Verbose: true, ResultsPath: "results.json"}},
		{"full-80-color", sample.Full(), view.Options{Width: 80, Color: true}},
		{"passed-80", sample.Passed(), view.Options{Width: 80}},
		{"broken-80", broken(), view.Options{Width: 80, ResultsPath: "results.json"}},
		{"empty-80", sample.Empty(), view.Options{Width: 80}},
		{"interrupted-80", interrupted(), view.Options{Width: 80}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := consoleText(c.results, c.options)
			path := filepath.Join("testdata", c.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; go test ./reports/view -update writes it", err)
			}
			NewWithT(t).Expect(got).To(Equal(string(want)), "go test ./reports/view -update accepts the new text")
		})
	}
}

var sequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Color adds only escape sequences, and only if it is set.
func TestColorIsOnlyColor(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("NO_COLOR", "1") // only Detect reads it
	colored := consoleText(sample.Full(), view.Options{Width: 80, Color: true})
	plain := consoleText(sample.Full(), view.Options{Width: 80})
	g.Expect(colored).NotTo(Equal(plain))
	g.Expect(sequence.ReplaceAllString(colored, "")).To(Equal(plain))
	g.Expect(plain).NotTo(ContainSubstring("\x1b"))
}

// The summary shows each kind of violation of a requirement once, however many operations
// and examples have it.
func TestEachKindOfViolationIsShownOnce(t *testing.T) {
	g := NewWithT(t)
	violation := func(pointer, actual string) reports.Violation {
		return reports.Violation{Statement: "It has a name.", Section: "Fields", Pointer: pointer, Expected: "a string", Actual: actual, Count: 2}
	}
	r := sample.Passed()
	for i, violations := range [][]reports.Violation{
		{violation("/items/0/name", "absent"), violation("/items/1/name", "absent"), violation("/name", "7")},
		{violation("/name", "8"), violation("/items/9/name", "absent"), violation("/name", "null"), violation("/name", "true"), violation("/name", "a list")},
	} {
		r.Checks[i] = reports.Check{Requirement: "SHAPE-NAME", Operation: []string{spec.GetPlacementTest, spec.ListPlacementTests}[i], Group: "shape", Level: "stated", Outcome: reports.Fail,
			Violations: violations, ViolationCount: 2 * len(violations), Assessments: 9}
	}
	page := consoleText(r, view.Options{Width: 200})
	_, page, _ = strings.Cut(page, "✗ SHAPE-NAME")
	page, _, _ = strings.Cut(page, "levels")
	for actual, times := range map[string]string{"absent": "seen      6 times", "7": "seen      4 times", "null": "seen      2 times",
		"got true": "on inbox-placement-tests.list, seen 2 times", "got a list": "on inbox-placement-tests.list, seen 2 times"} {
		g.Expect(strings.Count(page, actual)).To(Equal(1), actual)
		g.Expect(page).To(MatchRegexp(actual + `[^✗]*` + times))
	}
}

func TestNothingFailedIsLeftUnsaid(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	for _, verbose := range []bool{false, true} {
		page := consoleText(r, view.Options{Width: 140, Verbose: verbose})
		_, failures, _ := strings.Cut(page, "FAILURES")
		for _, c := range r.Checks {
			if c.Outcome == reports.Fail {
				g.Expect(failures).To(ContainSubstring("✗ " + c.Requirement))
				g.Expect(failures).To(ContainSubstring(c.Operation))
			}
		}
	}
}

func TestVerboseShowsEveryViolation(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	count := func(o view.Options) int { return strings.Count(consoleText(r, o), "expected  ") }
	kept := 0
	for _, c := range r.Checks {
		kept += len(c.Violations)
	}
	g.Expect(count(view.Options{Verbose: true})).To(Equal(kept))
	g.Expect(count(view.Options{})).To(BeNumerically("<", kept))
}

type brokenWriter struct{}

var errBroken = errors.New("no space left")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestSummaryReportsAFailedWrite(t *testing.T) {
	NewWithT(t).Expect(view.Formats["console"].Run(brokenWriter{}, sample.Passed(), view.Options{})).To(MatchError(errBroken))
}

// A quiet summary has failures, the reasons of a verdict other than pass, and the last line.
func TestQuietSummary(t *testing.T) {
	g := NewWithT(t)
	quiet := func(r reports.Results) string { return consoleText(r, view.Options{Quiet: true}) }
	g.Expect(quiet(sample.Passed())).To(MatchRegexp(`\A✓ PASS  exit 0 · [^\n]+\n\z`))
	failed := quiet(sample.Full())
	g.Expect(failed).To(And(ContainSubstring("FAILURES"), ContainSubstring("because  some checks failed"), MatchRegexp(`\n✗ FAIL  exit 1 · [^\n]+\n\z`)))
	g.Expect(failed).NotTo(Or(ContainSubstring("OBSERVATIONS"), ContainSubstring("target  "), ContainSubstring("NOT ASSESSED")))

	r := sample.Full()
	r.Troubles = []reports.Trouble{{Where: "leads.move", What: "no response"}, {Where: reports.Rollback, What: "the test x may be left on the target"}}
	g.Expect(quiet(r)).To(And(ContainSubstring("the test x may be left"), Not(ContainSubstring("no response"))))
}

// A run of more than 5 s says where its time went, the longest part first.
func TestSummarySaysWhereTheTimeWent(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	r.Run.Time = &reports.Time{Judging: 2.14, Throttled: 90, RateLimit: 3, Paced: 0.01}
	after := func(seconds float64) string {
		r.Run.Seconds = seconds
		return consoleText(r, view.Options{})
	}
	g.Expect(after(95.2)).To(MatchRegexp(`\ntime: 90\.0 s waiting after 429 · 3\.0 s exceeding the rate limit · 2\.1 s judging\nhint: `))
	g.Expect(after(185)).To(MatchRegexp(`\ntime: 90\.0 s waiting after 429 · 3\.0 s exceeding the rate limit · 2\.1 s judging\n✓ PASS [^\n]+\n\z`))
	g.Expect(after(4.9)).NotTo(ContainSubstring("time: "))
	r.Run.Time.InFlight = 1.5
	g.Expect(after(185)).To(MatchRegexp(`\ntime: 90\.0 s waiting after 429 · 3\.0 s exceeding the rate limit · 1\.5 s waiting for responses · 0\.6\s+s\s+computing or minting\n`))
}

// Responses without a verdict are an error of the harness, so the summary counts them.
func TestResponsesWithoutAVerdictAreCounted(t *testing.T) {
	g, r := NewWithT(t), sample.Passed()
	g.Expect(consoleText(r, view.Options{Width: 200})).NotTo(ContainSubstring("without a verdict"))
	r.Traffic.Unjudged = 3
	g.Expect(consoleText(r, view.Options{Width: 200})).To(ContainSubstring("· 3 responses without a verdict"))
}

// The last line says where an exit code comes from that is not the verdict's.
func TestAnExitCodeThatIsNotTheVerdicts(t *testing.T) {
	g, r := NewWithT(t), sample.Passed()
	last := func(code int) string {
		var b bytes.Buffer
		g.Expect(view.Formats["console"].Run(&b, r, view.Options{Width: 200, ExitCode: code})).To(Succeed())
		return b.String()
	}
	g.Expect(last(0)).NotTo(ContainSubstring("standard error"))
	g.Expect(last(3)).To(MatchRegexp(`\n✓ PASS  exit 3 · .*, exit code from the message on standard error\n\z`))
	r.Verdict = reports.Failed
	g.Expect(last(1)).NotTo(ContainSubstring("standard error"))
}
