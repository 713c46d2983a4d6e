package view

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// The elements and attributes are those that both public schemas of JUnit files allow:
// junit-10.xsd of the xunit plugin of Jenkins, and JUnit.xsd of Windy Road.

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   junitSuite
}

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Package    string          `xml:"package,attr"`
	ID         int             `xml:"id,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       junitSeconds    `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []testcase      `xml:"testcase"`
	SystemOut  string          `xml:"system-out"`
	SystemErr  string          `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// testcase has at most one of Skipped, Error and Failure.
type testcase struct {
	Name      string       `xml:"name,attr"`
	Classname string       `xml:"classname,attr"`
	Time      junitSeconds `xml:"time,attr"`
	Skipped   *testProblem `xml:"skipped"`
	Error     *testProblem `xml:"error"`
	Failure   *testProblem `xml:"failure"`
}

// testProblem is why a testcase did not pass: a title in one line, and details.
type testProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// junitSeconds is written as a plain decimal: many readers refuse an exponent.
type junitSeconds float64

// MarshalXMLAttr returns the seconds with three places.
func (s junitSeconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: strconv.FormatFloat(float64(s), 'f', 3, 64)}, nil
}

// maxJUnit is the maximum size of the JUnit form of a run, in bytes. If the results need
// more, it leaves out details.
const maxJUnit = 5_000_000

// junitOfRun writes JUnit XML, for CI systems: a testcase for each check, with the
// operation as its class, and one named "run". That is a failure or an error unless the
// verdict is pass and a check passed, so that CI is never green about nothing. A run that
// judged nothing has only the latter.
func junitOfRun(w io.Writer, r reports.Results, _ Options) error {
	const small = maxJUnit / 12 // bytes of texts that surely fit
	r = reports.Shrink(r, func(r reports.Results) bool {
		if r.TextBytes() <= small {
			return true
		}
		text, err := xml.MarshalIndent(junitDocument(r), "", "  ")
		return err != nil || len(text) <= maxJUnit
	})
	return writeXML(w, junitDocument(r))
}

func junitDocument(r reports.Results) junitSuites {
	cases := []testcase{runTestcase(r)}
	if r.Run.Specs > 0 { // else nothing was judged, and "run" says why
		for _, c := range r.Checks {
			cases = append(cases, checkTestcase(c))
		}
	}
	return suiteOf(cmp.Or(r.Tool.Name, reports.ToolName), r.Target, r.Run.Started, r.Run.Seconds, cases,
		r.Run.Profile, r.Run.Selection, r.Run.Seed, r.Run.ID, r.Tool.Version)
}

// junitOfLoad writes a testcase for each scenario, for each threshold in each phase and for
// each compared figure, and "run".
func junitOfLoad(w io.Writer, r load.Results, _ Options) error {
	cases := []testcase{loadRunTestcase(r)}
	for _, s := range r.Scenarios {
		cases = append(cases, scenarioTestcase(r, s))
		for _, t := range s.Thresholds {
			cases = append(cases, thresholdTestcase(s, t))
		}
	}
	if r.Comparison != nil {
		for _, f := range r.Comparison.Figures {
			cases = append(cases, comparedTestcase(f))
		}
	}
	return writeXML(w, suiteOf(r.Tool.Name+" load", r.Target, r.Run.Started, r.Run.Seconds, cases, "", r.Run.Selection, r.Run.Seed, r.Run.ID, r.Tool.Version))
}

func writeXML(w io.Writer, all junitSuites) error {
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// suiteOf returns a document with one suite, and counts its testcases.
func suiteOf(name string, target reports.Target, started time.Time, seconds float64, cases []testcase, profile, selection string, seed int64, run, harness string) junitSuites {
	s := junitSuite{
		Name: name, Package: target.BaseURL, Hostname: "localhost", Time: junitSeconds(seconds),
		Timestamp: started.UTC().Format("2006-01-02T15:04:05"), Tests: len(cases), Cases: cases,
	}
	for _, p := range []junitProperty{
		{"target", target.Name}, {"target version", target.Version}, {"vendor", target.Vendor}, {"kind", target.Kind}, {"profile", profile},
		{"selection", selection}, {"seed", strconv.FormatInt(seed, 10)}, {"run", run}, {"harness", harness},
	} {
		if p.Value != "" {
			s.Properties = append(s.Properties, junitProperty{p.Name, p.Value})
		}
	}
	for _, c := range cases {
		switch {
		case c.Skipped != nil:
			s.Skipped++
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		}
	}
	return junitSuites{Suite: s}
}

// The states of a testcase. Any other is an error.
const (
	testPassed      = "passed"
	testFailed      = "failed"
	testSkipped     = "skipped"
	testError       = "error"
	testInterrupted = "interrupted"
)

// newTestcase returns a testcase in a state. Message is one line, which CI systems show as
// the title. Text has the details. One that passed shows neither.
func newTestcase(state, class, name, message, text string, seconds float64) testcase {
	c := testcase{Classname: class, Name: name, Time: junitSeconds(max(0, seconds))}
	problem := &testProblem{Message: message, Type: state, Text: strings.TrimLeft(text, "\n")}
	switch state {
	case testPassed:
	case testFailed:
		c.Failure = problem
	case testSkipped:
		problem.Type = "" // one of the public schemas refuses it here
		c.Skipped = problem
	default:
		c.Error = problem
	}
	return c
}

func stateOf(v reports.Verdict) string {
	switch v {
	case reports.Passed:
		return testPassed
	case reports.Failed:
		return testFailed
	default:
		return testError
	}
}

// verdictTestcase returns the testcase "run". Its time is the part of the run outside of the
// other testcases.
func verdictTestcase(v reports.Verdict, interrupted, somePassed bool, some, message, text string, reasons []string, seconds float64) testcase {
	state := stateOf(v)
	switch {
	case interrupted:
		state = testInterrupted
		message += "; the run was interrupted"
	case v == reports.Passed && !somePassed:
		state = testError
		message += "; but no " + some + " passed"
	}
	return newTestcase(state, reports.ToolName, "run", withReason(message, reasons), text, seconds)
}

func runTestcase(r reports.Results) testcase {
	n := reports.Count(r.Checks)
	text := fmt.Sprintf("%d passed, %d failed, %d failed as expected, %d not assessed, %d in error", n.Pass, n.Fail, n.Expected, n.NotAssessed, n.Error) + reasonLines(r.Reasons)
	for _, t := range r.Troubles {
		text += fmt.Sprintf("\ntrouble: %s: %s", t.Where, t.What)
	}
	rest := r.Run.Seconds
	for _, c := range r.Checks {
		rest -= c.Seconds
	}
	message := fmt.Sprintf("verdict: %s in %s", strings.ToLower(r.Word()), summary.CoverageOf(r.Checks))
	return verdictTestcase(r.Verdict, r.Run.Interrupted, n.Pass > 0, "check", message, text, r.Reasons, rest)
}

func loadRunTestcase(r load.Results) testcase {
	rest, somePassed := r.Run.Seconds, false
	for _, s := range r.Scenarios {
		rest -= s.Seconds
		somePassed = somePassed || s.Verdict == reports.Passed
	}
	return verdictTestcase(r.Verdict, r.Run.Interrupted, somePassed, "scenario", "verdict: "+string(r.Verdict), reasonLines(r.Reasons), r.Reasons, rest)
}

// withReason returns the message with the first reason.
func withReason(message string, reasons []string) string {
	if len(reasons) == 0 {
		return message
	}
	return message + ": " + reasons[0]
}

func reasonLines(reasons []string) (text string) {
	for _, reason := range reasons {
		text += "\nbecause: " + reason
	}
	return text
}

func checkTestcase(c reports.Check) testcase {
	state, message, text := testError, string(c.Outcome)+`: of the harness or of the connection, not of the target (see the test case "run")`, ""
	switch c.Outcome {
	case reports.Pass:
		state, message = testPassed, ""
	case reports.Fail:
		state, message, text = testFailed, failureTitle(c), failureText(c)
	case reports.ExpectedFailure:
		why := strings.TrimSpace(c.Waiver.Reason + " " + c.Waiver.Link)
		state, message, text = testSkipped, fmt.Sprintf("failed as expected until %s: %s: %s", c.Waiver.Expires, why, failureTitle(c)), failureText(c)
	case reports.NotAssessed:
		state, message = testSkipped, "not assessed, missing: "+strings.Join(c.Missing, "; ")
	}
	if len(c.Specs) > 0 {
		text += "\njudged by " + strings.Join(c.Specs, "; ")
	}
	requirement, _ := spec.FindRequirement(c.Requirement)
	statement := requirement.Statement
	if len(c.Violations) > 0 { // that of the results
		statement = c.Violations[0].Statement
	}
	return newTestcase(state, c.Operation, strings.TrimSpace(c.Requirement+" "+statement), message, text, c.Seconds)
}

// failureTitle returns the first violation in one line: expected, actual and the place. The text has the whole.
func failureTitle(c reports.Check) string {
	if len(c.Violations) == 0 {
		return "failed, without a violation in the results"
	}
	v := c.Violations[0]
	line := "expected " + cutTo(v.Expected, 160) + ", got " + cutTo(v.Actual, 160)
	if v.Pointer != "status" {
		line += " at " + v.Place()
	}
	return line
}

func failureText(c reports.Check) string {
	text := fmt.Sprintf("%s: seen %d times in %d assessments", c.Level, c.ViolationCount, c.Assessments)
	if len(c.Violations) > 0 && c.Violations[0].Section != "" {
		text += "\nthe specification, section " + printable.Text(c.Violations[0].Section)
	}
	for _, v := range c.Violations {
		text += violationText(v)
	}
	if more := c.Unlisted(); more > 0 {
		text += fmt.Sprintf("\n\nand %d more, only counted", more)
	}
	return text
}

func violationText(v reports.Violation) string {
	seen := ""
	if v.Count > 0 {
		seen = fmt.Sprintf("%d times", v.Count)
	}
	text := "\n"
	for _, line := range [][2]string{{"at", v.Place()}, {"expected", v.Expected}, {"actual", v.Actual}, {"seen", seen}, {"seen by", v.Spec}, {"repeat", v.Curl}} {
		if line[1] != "" || line[0] == "actual" {
			text += fmt.Sprintf("\n%-9s %s", line[0], line[1])
		}
	}
	return text
}

// scenarioTestcase is skipped if the scenario lacks an input and the run passes without it.
func scenarioTestcase(r load.Results, s load.Scenario) testcase {
	state, message := stateOf(s.Verdict), withReason("verdict: "+string(s.Verdict), s.Reasons)
	if len(s.Missing) > 0 && r.Verdict == reports.Passed {
		state, message = testSkipped, "not assessed, missing: "+strings.Join(s.Missing, "; ")
	}
	text := reasonLines(s.Reasons)
	for _, v := range s.Violations {
		text += fmt.Sprintf("\n\n%s on %s, seen %d times", v.Requirement, v.Operation, v.Count)
		for _, example := range v.Examples {
			text += violationText(example)
		}
	}
	return newTestcase(state, s.Name, s.About, message, text, s.Seconds)
}

// thresholdTestcase is skipped if the outcome is inconclusive. The testcases of the scenario
// and of the run then do not pass.
func thresholdTestcase(s load.Scenario, t load.Threshold) testcase {
	state := testSkipped
	switch t.Outcome {
	case load.Met:
		state = testPassed
	case load.Missed:
		state = testFailed
	}
	return newTestcase(state, s.Name, inPhase(t), string(t.Outcome)+": "+t.Why, "", 0)
}

// inPhase names a threshold and its phase.
func inPhase(t load.Threshold) string {
	if t.Phase == "" {
		return t.Text
	}
	return t.Text + " in " + t.Phase
}

func comparedTestcase(f load.ComparedFigure) testcase {
	state := testPassed
	switch f.Verdict {
	case load.Worse:
		state = testFailed
	case load.EffectNotKnown:
		state = testSkipped
	}
	message := string(f.Verdict) + ": " + f.Why
	if f.A != nil && f.B != nil {
		message = fmt.Sprintf("%s: A %s, B %s %s; p %.3g", f.Verdict, load.AtLeast(f.AOpen, *f.A), load.AtLeast(f.BOpen, *f.B), f.Unit, f.P)
	}
	return newTestcase(state, "comparison", f.Name, message, "", 0)
}
