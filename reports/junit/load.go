package junit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// WriteLoad is Write for the results of a load run. The testcase "run" is a failure if
// the verdict is fail, and an error if it is inconclusive.
func WriteLoad(path string, r load.Results) error { return write(path, LoadReport(r)) }

// LoadReport returns the Ginkgo report for r.
func LoadReport(r load.Results) types.Report {
	began, took := r.Run.Started, inSeconds(r.Run.Seconds)
	run := loadVerdict(r)
	report := types.Report{
		SuiteDescription: reports.Printable(r.Tool.Name) + " load",
		SuitePath:        reports.Printable(r.Target.BaseURL),
		SuiteLabels: named([]label{
			{"target", r.Target.Name}, {"target version", r.Target.Version}, {"vendor", r.Target.Vendor}, {"kind", r.Target.Kind},
			{"selection", r.Run.Selection}, {"run", r.Run.ID}, {"harness", r.Tool.Version},
		}),
		SuiteSucceeded: run.State.Is(types.SpecStatePassed),
		StartTime:      began, EndTime: began.Add(took), RunTime: took,
		SuiteConfig: types.SuiteConfig{RandomSeed: r.Run.Seed},
		SpecReports: types.SpecReports{run},
	}
	if r.Run.Interrupted {
		report.SpecialSuiteFailureReasons = []string{"interrupted"}
	}
	for _, s := range r.Scenarios {
		report.SpecReports = append(report.SpecReports, scenario(r, s))
		for _, t := range s.Thresholds {
			report.SpecReports = append(report.SpecReports, threshold(s, t))
		}
	}
	if r.Comparison != nil {
		for _, f := range r.Comparison.Figures {
			report.SpecReports = append(report.SpecReports, compared(r, f))
		}
	}
	return ran(report)
}

func inSeconds(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// testcase returns a testcase in the given state. Said explains why it did not pass.
func testcase(state types.SpecState, at time.Time, said, location string, names ...string) types.SpecReport {
	last := len(names) - 1
	report := types.SpecReport{ContainerHierarchyTexts: names[:last], LeafNodeText: names[last], State: state}
	switch state {
	case types.SpecStatePassed:
	case types.SpecStatePanicked:
		report.Failure = panickedAt(at, said, location)
	default:
		report.Failure = failureAt(at, said, location)
	}
	return report
}

// loadVerdict returns the testcase "run".
func loadVerdict(r load.Results) types.SpecReport {
	state := loadState(r.Verdict)
	said := "verdict: " + reports.Printable(string(r.Verdict))
	passed := slices.ContainsFunc(r.Scenarios, func(s load.Scenario) bool { return s.Verdict == reports.Passed })
	switch {
	case r.Run.Interrupted:
		state = types.SpecStateInterrupted
		said += "; the run was interrupted"
	case state == types.SpecStatePassed && !passed:
		state = types.SpecStatePanicked
		said += "; but no scenario passed"
	}
	return testcase(state, r.Run.Started, said+because(r.Reasons), "the run as a whole", "run")
}

func loadState(v reports.Verdict) types.SpecState {
	switch v {
	case reports.Passed:
		return types.SpecStatePassed
	case reports.Failed:
		return types.SpecStateFailed
	default:
		return types.SpecStatePanicked
	}
}

func because(reasons []string) string {
	var b strings.Builder
	for _, reason := range reasons {
		fmt.Fprintf(&b, "\nbecause: %s", reports.Printable(reason))
	}
	return b.String()
}

// scenario returns the testcase of a scenario. It is skipped if the scenario lacks an
// input and the run passes without it.
func scenario(r load.Results, s load.Scenario) types.SpecReport {
	state := loadState(s.Verdict)
	said := "verdict: " + reports.Printable(string(s.Verdict)) + because(s.Reasons)
	if len(s.Missing) > 0 && r.Verdict == reports.Passed {
		state, said = types.SpecStateSkipped, "not assessed, missing: "+joined(s.Missing)
	}
	for _, v := range s.Violations {
		said += fmt.Sprintf("\n\n%s on %s, seen %d times", reports.Printable(v.Requirement), reports.Printable(v.Operation), v.Count)
		for _, example := range v.Examples {
			said += violation(example)
		}
	}
	report := testcase(state, s.Started, said, "the scenario", reports.Printable(s.Name), reports.Printable(s.About))
	report.StartTime, report.RunTime = s.Started, inSeconds(s.Seconds)
	return report
}

// threshold returns the testcase of a threshold in a phase. It is skipped if the outcome
// is inconclusive. The testcases of the scenario and of the run then do not pass.
func threshold(s load.Scenario, t load.Threshold) types.SpecReport {
	state := types.SpecStateSkipped
	switch t.Outcome {
	case load.Met:
		state = types.SpecStatePassed
	case load.Missed:
		state = types.SpecStateFailed
	}
	name := reports.Printable(t.Text)
	if t.Phase != "" {
		name += " in " + reports.Printable(t.Phase)
	}
	return testcase(state, s.Started, reports.Printable(string(t.Outcome))+": "+reports.Printable(t.Why), "the threshold", reports.Printable(s.Name), name)
}

// compared returns the testcase of a compared figure.
func compared(r load.Results, f load.ComparedFigure) types.SpecReport {
	state := types.SpecStatePassed
	switch f.Verdict {
	case load.Worse:
		state = types.SpecStateFailed
	case load.EffectNotKnown:
		state = types.SpecStateSkipped
	}
	said := reports.Printable(string(f.Verdict)) + ": " + reports.Printable(f.Why)
	if f.A != nil && f.B != nil {
		said = fmt.Sprintf("%s: A %.4g, B %.4g %s; p %.3g", reports.Printable(string(f.Verdict)), *f.A, *f.B, reports.Printable(f.Unit), f.P)
	}
	return testcase(state, r.Run.Started, said, "the comparison", "comparison", reports.Printable(f.Name))
}
