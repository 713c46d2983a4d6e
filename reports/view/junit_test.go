package view_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

// suites is the part of a JUnit file that CI systems read.
type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Tests      int        `xml:"tests,attr"`
		Errors     int        `xml:"errors,attr"`
		Failures   int        `xml:"failures,attr"`
		Skipped    int        `xml:"skipped,attr"`
		Properties []property `xml:"properties>property"`
		Cases      []testcase `xml:"testcase"`
	} `xml:"testsuite"`
}

type property struct {
	Name string `xml:"name,attr"`
}

type testcase struct {
	Class   string  `xml:"classname,attr"`
	Name    string  `xml:"name,attr"`
	Time    float64 `xml:"time,attr"`
	Skipped *struct {
		Message string `xml:"message,attr"`
	} `xml:"skipped"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type fataler interface{ Fatal(...any) }

func junitWritten(t fataler, dir string, r reports.Results) (suites, []byte) {
	path := filepath.Join(dir, "junit.xml")
	if err := view.Formats["junit"].Run.Write(path, r); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s suites
	if err := xml.Unmarshal(body, &s); err != nil {
		t.Fatal("not XML:", err)
	}
	return s, body
}

func find(t *testing.T, s suites, class, prefix string) testcase {
	t.Helper()
	for _, c := range s.Suites[0].Cases {
		if c.Class == class && strings.HasPrefix(c.Name, prefix) {
			return c
		}
	}
	t.Fatalf("no testcase %q of %q", prefix, class)
	return testcase{}
}

func TestAFullRun(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	s, _ := junitWritten(t, t.TempDir(), r)
	n := reports.Count(r.Checks)
	g.Expect(s.Suites[0].Tests).To(Equal(n.Total() + 1))
	g.Expect(s.Suites[0].Failures).To(Equal(n.Fail+1), "the failed checks and the run")
	g.Expect(s.Suites[0].Errors).To(Equal(n.Error))
	g.Expect(s.Suites[0].Skipped).To(Equal(n.NotAssessed))

	run := find(t, s, "outreach-conformance", "run")
	g.Expect(run.Failure).NotTo(BeNil())
	g.Expect(run.Failure.Message).To(And(HavePrefix("verdict: fail in "), HaveSuffix(": some checks failed")))
	g.Expect(run.Failure.Text).To(And(ContainSubstring("because: some checks failed"), ContainSubstring("trouble: clean-up")))

	walk := find(t, s, "inbox-placement-tests.list", "PAGE-WALK-04 A walk over all pages")
	g.Expect(walk.Failure.Message).To(And(
		HavePrefix("expected a row that no former page"), ContainSubstring(`, got "01964f0e`), HaveSuffix(" at /items/0/id"), Not(ContainSubstring("\n"))))
	g.Expect(walk.Failure.Text).To(And(
		ContainSubstring("seen 9 times in 12 assessments"),
		ContainSubstring("at        /items/0/id"),
		ContainSubstring("expected  a row that no former page"),
		ContainSubstring("actual    259 rows"),
		ContainSubstring("repeat    curl -sS"),
		ContainSubstring("and 6 more"),
		ContainSubstring("the specification, section Endpoints, Pagination")))

	skipped := find(t, s, "leads.move", "RATE-ANSWERS-02")
	g.Expect(skipped.Skipped.Message).To(ContainSubstring("a workspace whose rate limit may be exhausted; a revoked key"))
	troubled := find(t, s, "webhook-events.list", "PAGE-WALK-03")
	g.Expect(troubled.Error.Message).To(ContainSubstring("not of the target"))
	passed := find(t, s, "lead-lists.list", "PAGE-WALK-01")
	g.Expect(passed).To(Equal(testcase{Class: "lead-lists.list", Name: passed.Name, Time: 0.125}))
}

func TestAPassedRunIsGreen(t *testing.T) {
	g := NewWithT(t)
	s, _ := junitWritten(t, t.TempDir(), sample.Passed())
	g.Expect(s.Suites[0].Failures + s.Suites[0].Errors).To(BeZero())
	run := find(t, s, "outreach-conformance", "run")
	g.Expect(run).To(Equal(testcase{Class: "outreach-conformance", Name: "run", Time: run.Time}))
}

// A run that judged nothing has one testcase, which says why.
func TestARunThatJudgedNothing(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	r.Run.Specs, r.Verdict, r.Reasons = 0, reports.Inconclusive, []string{"nobody is there"}
	for i := range r.Checks {
		r.Checks[i] = reports.Check{Requirement: r.Checks[i].Requirement, Operation: r.Checks[i].Operation, Outcome: reports.NotAssessed, Missing: []string{"a target"}}
	}
	s, _ := junitWritten(t, t.TempDir(), r)
	g.Expect(s.Suites[0].Cases).To(HaveLen(1))
	run := find(t, s, "outreach-conformance", "run")
	g.Expect(run.Error.Message).To(And(HavePrefix("verdict: inconclusive in "), HaveSuffix(": nobody is there")))
}

func TestTheTitleOfAFailureIsExpectedAndActual(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	c := &r.Checks[0]
	c.Outcome, c.ViolationCount = reports.Fail, 1
	c.Violations = []reports.Violation{{Statement: "x", Pointer: "status", Expected: "200", Actual: "404"}}
	s, _ := junitWritten(t, t.TempDir(), r)
	g.Expect(find(t, s, c.Operation, c.Requirement).Failure.Message).To(Equal("expected 200, got 404"))

	c.Violations[0].Actual = strings.Repeat("a\n", 5000)
	s, _ = junitWritten(t, t.TempDir(), r)
	failure := find(t, s, c.Operation, c.Requirement).Failure
	g.Expect(failure.Message).To(And(HavePrefix(`expected 200, got a\na\n`), HaveSuffix("… (cut)")))
	g.Expect(len(failure.Message)).To(BeNumerically("<", 400))
	g.Expect(failure.Text).To(ContainSubstring(strings.Repeat(`a\n`, 5000)), "the text has all")
}

func TestTheTimesOfAllTestcasesAddUpToThatOfTheRun(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	r.Run.Seconds = 1 + 0.25*float64(len(r.Checks))
	for i := range r.Checks {
		r.Checks[i].Seconds = 0.25
	}
	s, _ := junitWritten(t, t.TempDir(), r)
	sum := 0.0
	for _, c := range s.Suites[0].Cases {
		g.Expect(c.Time).To(BeNumerically(">", 0), c.Name)
		sum += c.Time
	}
	g.Expect(sum).To(BeNumerically("~", r.Run.Seconds, 1e-9))
}

func TestPropertiesDescribeTheRunAndNotTheEngine(t *testing.T) {
	g := NewWithT(t)
	s, _ := junitWritten(t, t.TempDir(), sample.Full())
	var names []string
	for _, p := range s.Suites[0].Properties {
		names = append(names, p.Name)
	}
	g.Expect(names).To(ContainElements("target", "kind", "profile", "seed", "run", "harness"))
	g.Expect(names).To(HaveEach(Not(Or(HavePrefix("Suite"), HavePrefix("Random"), HavePrefix("Fail"), ContainSubstring("Filter")))))
}

func TestPassedChecksCarryTheCataloguesStatement(t *testing.T) {
	requirement := spec.Requirements()[0]
	r := sample.Passed()
	r.Checks[0].Requirement = requirement.ID
	s, _ := junitWritten(t, t.TempDir(), r)
	find(t, s, r.Checks[0].Operation, requirement.ID+" "+requirement.Statement)
}

// Every outcome other than pass is in the counts that CI systems read.
func TestNeverGreenAboutNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change           func(*reports.Results)
		errors, failures int
		says             string
	}{
		"could not tell": {func(r *reports.Results) {
			r.Verdict, r.Reasons = reports.Inconclusive, []string{"throttled for too long"}
		}, 1, 0, ": throttled for too long"},
		"interrupted": {func(r *reports.Results) {
			r.Run.Interrupted, r.Verdict, r.Reasons = true, reports.Inconclusive, []string{"interrupted"}
		}, 1, 0, "the run was interrupted"},
		"fails without a failed check": {func(r *reports.Results) {
			r.Verdict, r.Reasons = reports.Failed, []string{"an expected failure passes"}
		}, 0, 1, "an expected failure passes"},
		"nothing checked": {func(r *reports.Results) { r.Checks = nil }, 1, 0, "but no check passed"},
		"no verdict":      {func(r *reports.Results) { r.Verdict = "" }, 1, 0, "verdict: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := sample.Passed()
			c.change(&r)
			s, _ := junitWritten(t, t.TempDir(), r)
			g.Expect(s.Suites[0].Errors).To(Equal(c.errors))
			g.Expect(s.Suites[0].Failures).To(Equal(c.failures))
			run := find(t, s, "outreach-conformance", "run")
			shown := run.Error
			if shown == nil {
				shown = run.Failure
			}
			g.Expect(shown).NotTo(BeNil())
			g.Expect(shown.Message).To(ContainSubstring(c.says))
		})
	}
}

// The XML is valid for any string of a target.
func TestHostileStrings(t *testing.T) {
	g := NewWithT(t)
	s, body := junitWritten(t, t.TempDir(), sample.Full())
	g.Expect(find(t, s, "webhook-events.list", "SHAPE-FIELD-17").Failure.Text).To(
		ContainSubstring(`"2026-03-01 \x1b[31m10:20\x1b[0m ]]> \u202e{{red}}\xff"`))
	g.Expect(body).NotTo(ContainElement(byte(0x1b)))

	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.SampledFrom([]string{"", "]]>", "<!--", "&#0;", "\x00", "\u2028"}).Draw(t, "tail")
		r := sample.Passed()
		r.Checks = r.Checks[:1]
		c := &r.Checks[0]
		c.Outcome, c.Requirement, c.Group, c.ViolationCount = reports.Fail, text, text, 1
		c.Violations = []reports.Violation{{Statement: text, Section: text, Pointer: text, Expected: text, Actual: text, Curl: text, Spec: text}}
		r.Target.Name, r.Tool.Name, r.Target.BaseURL, r.Run.Selection = text, text, text, text
		r.Troubles = []reports.Trouble{{Where: text, What: text}}
		r.Verdict, r.Reasons = reports.Failed, []string{text}
		s, body := junitWritten(t, dir, r)
		if !utf8.Valid(body) || strings.ContainsFunc(string(body), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Fatalf("raw control characters or bad UTF-8 in %q", body)
		}
		if s.Suites[0].Failures != 2 {
			t.Fatalf("%d failures, want the check and the run", s.Suites[0].Failures)
		}
	})
}

func TestNothingIsWrittenWhereNothingCanBe(t *testing.T) {
	g := NewWithT(t)
	g.Expect(view.Formats["junit"].Run.Write(t.TempDir(), sample.Passed())).To(MatchError(ContainSubstring("not a regular file")))
}

// The file stays small, whatever the target sent, and has all testcases.
func TestFileIsBounded_long(t *testing.T) {
	g := NewWithT(t)
	violation := reports.Violation{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: strings.Repeat("x", 400), Curl: strings.Repeat("c", 1000)}
	r := reports.Results{Run: reports.Run{Specs: 1}}
	for range 1800 {
		r.Checks = append(r.Checks, reports.Check{Outcome: reports.Fail, ViolationCount: 5, Violations: slices.Repeat([]reports.Violation{violation}, 5)})
	}
	all, text := junitWritten(t, t.TempDir(), r)
	g.Expect(len(text)).To(BeNumerically("<=", 5_000_000))
	g.Expect(all.Suites[0].Tests).To(Equal(1801))
	g.Expect(string(text)).To(ContainSubstring("and 4 more"))
}
