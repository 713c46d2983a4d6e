package junit

import (
	"fmt"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// verdict returns the testcase "run": the verdict with its reasons and troubles.
func verdict(r reports.Results) types.SpecReport {
	report := types.SpecReport{LeafNodeText: "run"}
	n := reports.Count(r.Checks)
	passed := r.Verdict == reports.Passed
	hollow := passed && n.Pass == 0
	said := explanation(r, n, hollow)
	switch {
	case r.Run.Interrupted:
		report.State = types.SpecStateInterrupted
		report.Failure = failure(r, said, "the run as a whole")
	case r.Verdict == reports.Failed:
		report.State = types.SpecStateFailed
		report.Failure = failure(r, said, "the run as a whole")
	case passed && !hollow:
		report.State = types.SpecStatePassed
	default:
		report.State = types.SpecStatePanicked
		report.Failure = panicked(r, said, "the run as a whole")
	}
	return report
}

func explanation(r reports.Results, n reports.Counts, hollow bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s in %s", reports.Printable(string(r.Verdict)), reports.CoverageOf(r.Checks))
	if r.Run.Interrupted {
		b.WriteString("; the run was interrupted")
	}
	if hollow {
		b.WriteString("; but no check passed")
	}
	fmt.Fprintf(&b, "\n%d passed, %d failed, %d failed as expected, %d not assessed, %d in error", n.Pass, n.Fail, n.Expected, n.NotAssessed, n.Error)
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "\nbecause: %s", reports.Printable(reason))
	}
	for _, t := range r.Troubles {
		fmt.Fprintf(&b, "\ntrouble: %s: %s", reports.Printable(t.Where), reports.Printable(t.What))
	}
	return b.String()
}

// check returns the testcase of one check.
func check(r reports.Results, c reports.Check) types.SpecReport {
	report := types.SpecReport{
		ContainerHierarchyTexts: []string{reports.Printable(c.Group), reports.Printable(c.Operation)},
		LeafNodeText:            strings.TrimSpace(reports.Printable(c.Requirement) + " " + statement(c)),
		RunTime:                 inSeconds(c.Seconds),
	}
	if len(c.Specs) > 0 {
		report.CapturedStdOutErr = "judged by " + joined(c.Specs)
	}
	switch c.Outcome {
	case reports.Pass:
		report.State = types.SpecStatePassed
	case reports.Fail:
		report.State = types.SpecStateFailed
		report.Failure = failure(r, violations(c), section(c))
	case reports.ExpectedFailure:
		report.State = types.SpecStateSkipped
		report.Failure = failure(r, fmt.Sprintf("failed as expected until %s: %s %s\n%s",
			reports.Printable(c.Waiver.Expires), reports.Printable(c.Waiver.Reason), reports.Printable(c.Waiver.Link), violations(c)), section(c))
	case reports.NotAssessed:
		report.State = types.SpecStateSkipped
		report.Failure = failure(r, "not assessed, missing: "+joined(c.Missing), section(c))
	default:
		report.State = types.SpecStatePanicked
		report.Failure = panicked(r, fmt.Sprintf("%s: an error of the harness or of the connection, not of the target (see the test case \"run\")",
			reports.Printable(string(c.Outcome))), section(c))
	}
	return report
}

// statement returns the requirement's statement: that of the results if they have one,
// otherwise that of this build's catalogue.
func statement(c reports.Check) string {
	if len(c.Violations) > 0 {
		return reports.Printable(c.Violations[0].Statement)
	}
	requirement, _ := spec.FindRequirement(c.Requirement)
	return requirement.Statement
}

func section(c reports.Check) string {
	name := ""
	if len(c.Violations) > 0 {
		name = c.Violations[0].Section
	} else if requirement, ok := spec.FindRequirement(c.Requirement); ok {
		name = requirement.Section
	}
	if name == "" {
		return "the specification"
	}
	return "the specification, section " + reports.Printable(name)
}

func violations(c reports.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: seen %d times in %d assessments", reports.Printable(c.Level), c.ViolationCount, c.Assessments)
	for _, v := range c.Violations {
		b.WriteString(violation(v))
	}
	if more := c.ViolationCount - len(c.Violations); more > 0 {
		fmt.Fprintf(&b, "\n\nand %d more", more)
	}
	return b.String()
}

func violation(v reports.Violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nat        %s", v.Place())
	fmt.Fprintf(&b, "\nexpected  %s", reports.Printable(v.Expected))
	fmt.Fprintf(&b, "\nactual    %s", reports.Printable(v.Actual))
	if v.Spec != "" {
		fmt.Fprintf(&b, "\nseen by   %s", reports.Printable(v.Spec))
	}
	if v.Curl != "" {
		fmt.Fprintf(&b, "\nrepeat    %s", reports.Printable(v.Curl))
	}
	return b.String()
}

func failure(r reports.Results, message, location string) types.Failure {
	return failureAt(r.Run.Started, message, location)
}

func failureAt(at time.Time, message, location string) types.Failure {
	return types.Failure{
		Message:          message,
		Location:         types.CodeLocation{CustomMessage: location},
		FailureNodeType:  types.NodeTypeIt,
		TimelineLocation: types.TimelineLocation{Time: at},
	}
}

func panicked(r reports.Results, message, location string) types.Failure {
	return panickedAt(r.Run.Started, message, location)
}

// panickedAt returns a failure that JUnit shows as an error. Ginkgo's writer takes the
// message from ForwardedPanic.
func panickedAt(at time.Time, message, location string) types.Failure {
	f := failureAt(at, "error", location)
	f.ForwardedPanic = message
	f.Location.FullStackTrace = "(none: results keep no stack traces)"
	return f
}

func joined(list []string) string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = reports.Printable(s)
	}
	return strings.Join(shown, "; ")
}
