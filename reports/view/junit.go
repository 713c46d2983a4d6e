package view

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// junitSuite is what the template shows. The elements and attributes are those that both public schemas
// of JUnit files allow: junit-10.xsd of the xunit plugin of Jenkins, and JUnit.xsd of Windy Road.
type junitSuite struct {
	reports.Results
	Name  string
	Cases []junitCase
}

type junitCase struct {
	Name, Class   string
	Seconds       float64
	Element       string // failure, error or skipped; empty if the test passed
	Message, Type string // a title in one line, and the state
	Details       string // the template of the details
	Of            any    // what it shows
}

// Properties returns who judged what, and how.
func (s junitSuite) Properties() [][2]string {
	return [][2]string{
		{"target", s.Target.Name}, {"target version", s.Target.Version}, {"vendor", s.Target.Vendor}, {"kind", s.Target.Kind}, {"profile", s.Run.Profile},
		{"selection", s.Run.Selection}, {"seed", strconv.FormatInt(s.Run.Seed, 10)}, {"run", s.Run.ID}, {"harness", s.Tool.Version},
	}
}

// Count returns the number of testcases with the element.
func (s junitSuite) Count(element string) (n int) {
	for _, c := range s.Cases {
		if c.Element == element {
			n++
		}
	}
	return n
}

// escapedXML returns a text for an attribute or an element.
func escapedXML(text string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(text))
	return b.String(), err
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
		var b strings.Builder
		return junit(&b, junitOf(r)) != nil || b.Len() <= maxJUnit
	})
	return junit(w, junitOf(r))
}

func junitOf(r reports.Results) junitSuite {
	s := junitSuite{r, cmp.Or(r.Tool.Name, reports.ToolName), []junitCase{runTestcase(r)}}
	if n := reports.Count(r.Checks); n.NotAssessed < n.Total() { // else nothing was judged, and "run" says why
		for _, c := range r.Checks {
			s.Cases = append(s.Cases, checkTestcase(c))
		}
	}
	return s
}

// junitOfLoad writes a testcase for each scenario, for each threshold in each phase and for
// each compared figure, and "run".
func junitOfLoad(w io.Writer, r load.Results, _ Options) error {
	s := junitSuite{aboutLoad(r), r.Tool.Name + " load", []junitCase{loadRunTestcase(r)}}
	for _, of := range r.Scenarios {
		s.Cases = append(s.Cases, scenarioTestcase(r, of))
		for _, t := range of.Thresholds {
			s.Cases = append(s.Cases, thresholdTestcase(of, t))
		}
	}
	if r.Comparison != nil {
		for _, f := range r.Comparison.Figures {
			s.Cases = append(s.Cases, comparedTestcase(f))
		}
	}
	return junit(w, s)
}

func junit(w io.Writer, s junitSuite) error {
	text, err := screenFor(Options{}).include("junit", s)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// aboutLoad returns what the results of a load run have in common with those of a run.
func aboutLoad(r load.Results) reports.Results {
	run := reports.Run{ID: r.Run.ID, Started: r.Run.Started, Seconds: r.Run.Seconds, Seed: r.Run.Seed, Selection: r.Run.Selection, Interrupted: r.Run.Interrupted}
	return reports.Results{Tool: r.Tool, Target: r.Target, Run: run, Verdict: r.Verdict, Reasons: r.Reasons}
}

// The states of a testcase. Any other is an error.
const (
	testPassed  = "passed"
	testFailed  = "failed"
	testSkipped = "skipped"
	testError   = "error"
)

// newTestcase returns a testcase in a state. One that passed shows neither message nor details.
func newTestcase(state, class, name, message, details string, of any, seconds float64) junitCase {
	c := junitCase{name, class, max(0, seconds), "error", message, state, details, of}
	switch state {
	case testPassed:
		c.Element = ""
	case testFailed:
		c.Element = "failure"
	case testSkipped:
		c.Element, c.Type = "skipped", "" // one of the public schemas refuses it here
	}
	return c
}

func stateOf(v reports.Verdict) string {
	return cmp.Or(map[reports.Verdict]string{reports.Passed: testPassed, reports.Failed: testFailed}[v], testError)
}

// verdictTestcase returns the testcase "run". Its time is the part of the run outside of the
// other testcases.
func verdictTestcase(r reports.Results, somePassed bool, some, message, details string, seconds float64) junitCase {
	state := stateOf(r.Verdict)
	switch {
	case r.Run.Interrupted:
		state = "interrupted"
		message += "; the run was interrupted"
	case r.Verdict == reports.Passed && !somePassed:
		state = testError
		message += "; but no " + some + " passed"
	}
	return newTestcase(state, reports.ToolName, "run", withReason(message, r.Reasons), details, r, seconds)
}

func runTestcase(r reports.Results) junitCase {
	n := reports.Count(r.Checks)
	rest := r.Run.Seconds
	for _, c := range r.Checks {
		rest -= c.Seconds
	}
	message := fmt.Sprintf("verdict: %s in %s", strings.ToLower(r.Word()), summary.CoverageOf(r.Checks))
	return verdictTestcase(r, n.Pass > 0, "check", message, "junit-run", rest)
}

func loadRunTestcase(r load.Results) junitCase {
	rest, somePassed := r.Run.Seconds, false
	for _, s := range r.Scenarios {
		rest -= s.Seconds
		somePassed = somePassed || s.Verdict == reports.Passed
	}
	return verdictTestcase(aboutLoad(r), somePassed, "scenario", "verdict: "+string(r.Verdict), "junit-reasons", rest)
}

// withReason returns the message with the first reason.
func withReason(message string, reasons []string) string {
	if len(reasons) == 0 {
		return message
	}
	return message + ": " + reasons[0]
}

func checkTestcase(c reports.Check) junitCase {
	state, message := testError, string(c.Outcome)+`: of the harness or of the connection, not of the target (see the test case "run")`
	switch c.Outcome {
	case reports.Pass:
		state, message = testPassed, ""
	case reports.Fail:
		state, message = testFailed, failureTitle(c)
	case reports.ExpectedFailure:
		why := strings.TrimSpace(c.Waiver.Reason + " " + c.Waiver.Link)
		state, message = testSkipped, fmt.Sprintf("failed as expected until %s: %s: %s", c.Waiver.Expires, why, failureTitle(c))
	case reports.NotAssessed:
		state, message = testSkipped, "not assessed, missing: "+strings.Join(c.Missing, "; ")
	}
	requirement, _ := spec.FindRequirement(c.Requirement)
	statement := requirement.Statement
	if len(c.Violations) > 0 { // that of the results
		statement = c.Violations[0].Statement
	}
	return newTestcase(state, c.Operation, strings.TrimSpace(c.Requirement+" "+statement), message, "junit-check", c, c.Seconds)
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

// scenarioTestcase is skipped if the scenario lacks an input and the run passes without it.
func scenarioTestcase(r load.Results, s load.Scenario) junitCase {
	state, message := stateOf(s.Verdict), withReason("verdict: "+string(s.Verdict), s.Reasons)
	if len(s.Missing) > 0 && r.Verdict == reports.Passed {
		state, message = testSkipped, "not assessed, missing: "+strings.Join(s.Missing, "; ")
	}
	return newTestcase(state, s.Name, s.About, message, "junit-scenario", s, s.Seconds)
}

// thresholdTestcase is skipped if the outcome is inconclusive. The testcases of the scenario
// and of the run then do not pass.
func thresholdTestcase(s load.Scenario, t load.Threshold) junitCase {
	state := testSkipped
	switch t.Outcome {
	case load.Met:
		state = testPassed
	case load.Missed:
		state = testFailed
	}
	return newTestcase(state, s.Name, inPhase(t), string(t.Outcome)+": "+t.Why, "", nil, 0)
}

// inPhase names a threshold and its phase.
func inPhase(t load.Threshold) string {
	if t.Phase == "" {
		return t.Text
	}
	return t.Text + " in " + t.Phase
}

func comparedTestcase(f load.ComparedFigure) junitCase {
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
	return newTestcase(state, "comparison", f.Name, message, "", nil, 0)
}
