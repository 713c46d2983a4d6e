package junit

import (
	"fmt"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// state is the result of a testcase, as its attribute status shows it.
type state string

const (
	passed      state = "passed"
	failed      state = "failed"
	skipped     state = "skipped"
	inError     state = "error"
	interrupted state = "interrupted"
)

// testcase returns a testcase in the given state. Message is one line, which CI systems
// show as the title. Text has the details. One that passed shows neither.
func testcase(s state, class, name, message, text string) Testcase {
	c := Testcase{Classname: reports.Printable(class), Name: reports.Printable(name), Status: string(s)}
	problem := &Problem{Message: reports.Printable(message), Type: string(s), Text: strings.TrimLeft(text, "\n")}
	switch s {
	case passed:
	case failed:
		c.Failure = problem
	case skipped:
		problem.Type = "" // one of the public schemas refuses it here
		c.Skipped = problem
	default:
		c.Error = problem
	}
	return c
}

// runCase is the name of the testcase for the verdict.
const runCase = "run"

// verdict returns the testcase "run": the verdict with its reasons and troubles. Its
// time is the part of the run outside of the checks.
func verdict(r reports.Results) Testcase {
	n := reports.Count(r.Checks)
	message := fmt.Sprintf("verdict: %s in %s", strings.ToLower(r.Word()), reports.CoverageOf(r.Checks))
	var s state
	switch {
	case r.Run.Interrupted:
		s = interrupted
		message += "; the run was interrupted"
	case r.Verdict == reports.Failed:
		s = failed
	case r.Verdict == reports.Passed && n.Pass > 0:
		s = passed
	case r.Verdict == reports.Passed:
		s = inError
		message += "; but no check passed"
	default:
		s = inError
	}
	c := testcase(s, reports.ToolName, runCase, first(message, r.Reasons), explanation(r, n))
	rest := r.Run.Seconds
	for _, check := range r.Checks {
		rest -= check.Seconds
	}
	c.Time = Seconds(max(0, rest))
	return c
}

func explanation(r reports.Results, n reports.Counts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d passed, %d failed, %d failed as expected, %d not assessed, %d in error", n.Pass, n.Fail, n.Expected, n.NotAssessed, n.Error)
	b.WriteString(because(r.Reasons))
	for _, t := range r.Troubles {
		fmt.Fprintf(&b, "\ntrouble: %s: %s", reports.Printable(t.Where), reports.Printable(t.What))
	}
	return b.String()
}

func because(reasons []string) string {
	var b strings.Builder
	for _, reason := range reasons {
		fmt.Fprintf(&b, "\nbecause: %s", reports.Printable(reason))
	}
	return b.String()
}

// check returns the testcase of one check.
func check(c reports.Check) Testcase {
	name := strings.TrimSpace(c.Requirement + " " + statement(c))
	made := func(s state, message, text string) Testcase {
		if len(c.Specs) > 0 {
			text += "\njudged by " + joined(c.Specs)
		}
		t := testcase(s, c.Operation, name, message, text)
		t.Time = Seconds(c.Seconds)
		return t
	}
	switch c.Outcome {
	case reports.Pass:
		return made(passed, "", "")
	case reports.Fail:
		return made(failed, title(c), violations(c))
	case reports.ExpectedFailure:
		return made(skipped, fmt.Sprintf("failed as expected until %s: %s: %s", c.Waiver.Expires, strings.TrimSpace(c.Waiver.Reason+" "+c.Waiver.Link), title(c)), violations(c))
	case reports.NotAssessed:
		return made(skipped, "not assessed, missing: "+joined(c.Missing), "")
	default:
		return made(inError, string(c.Outcome)+`: of the harness or of the connection, not of the target (see the test case "run")`, "")
	}
}

// statement returns the requirement's statement: that of the results if they have one,
// otherwise that of this build's catalogue.
func statement(c reports.Check) string {
	if len(c.Violations) > 0 {
		return c.Violations[0].Statement
	}
	requirement, _ := spec.FindRequirement(c.Requirement)
	return requirement.Statement
}

// title returns the first violation in one line: expected, actual and the place.
func title(c reports.Check) string {
	if len(c.Violations) == 0 {
		return "failed, without a violation in the results"
	}
	v := c.Violations[0]
	line := "expected " + short(v.Expected) + ", got " + short(v.Actual)
	if v.Pointer != "status" {
		line += " at " + v.Place()
	}
	return line
}

// titleRunes bounds each half of a title. The text of the failure has the whole.
const titleRunes = 160

func short(s string) string {
	text := []rune(reports.Printable(s))
	if len(text) > titleRunes {
		return string(text[:titleRunes]) + "…"
	}
	return string(text)
}

func violations(c reports.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: seen %d times in %d assessments", reports.Printable(c.Level), c.ViolationCount, c.Assessments)
	if len(c.Violations) > 0 && c.Violations[0].Section != "" {
		fmt.Fprintf(&b, "\nthe specification, section %s", reports.Printable(c.Violations[0].Section))
	}
	for _, v := range c.Violations {
		b.WriteString(violation(v))
	}
	if more := c.Unlisted(); more > 0 {
		fmt.Fprintf(&b, "\n\nand %d more, only counted", more)
	}
	return b.String()
}

func violation(v reports.Violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nat        %s", v.Place())
	fmt.Fprintf(&b, "\nexpected  %s", reports.Printable(v.Expected))
	fmt.Fprintf(&b, "\nactual    %s", reports.Printable(v.Actual))
	if v.Count > 0 {
		fmt.Fprintf(&b, "\nseen      %d times", v.Count)
	}
	if v.Spec != "" {
		fmt.Fprintf(&b, "\nseen by   %s", reports.Printable(v.Spec))
	}
	if v.Curl != "" {
		fmt.Fprintf(&b, "\nrepeat    %s", reports.Printable(v.Curl))
	}
	return b.String()
}

func joined(list []string) string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = reports.Printable(s)
	}
	return strings.Join(shown, "; ")
}
