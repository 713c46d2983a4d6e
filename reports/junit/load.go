package junit

import (
	"fmt"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// WriteLoad is Write for the results of a load run. The testcase "run" is a failure if
// the verdict is fail, and an error if it is inconclusive.
func WriteLoad(path string, r load.Results) error { return write(path, loadDocument(r)) }

// loadDocument returns the JUnit form of r.
func loadDocument(r load.Results) suitesElement { return suite(LoadCases(r)) }

// LoadCases is Cases for the results of a load run.
func LoadCases(r load.Results) List {
	cases := []Testcase{loadVerdict(r)}
	for _, s := range r.Scenarios {
		cases = append(cases, scenario(r, s))
		for _, t := range s.Thresholds {
			cases = append(cases, threshold(s, t))
		}
	}
	if r.Comparison != nil {
		for _, f := range r.Comparison.Figures {
			cases = append(cases, compared(f))
		}
	}
	return List{
		Name: r.Tool.Name + " load", Tool: r.Tool, Target: r.Target,
		Selection: r.Run.Selection, Seed: r.Run.Seed, Run: r.Run.ID, Started: r.Run.Started, Seconds: r.Run.Seconds, Cases: cases,
	}
}

// loadVerdict returns the testcase "run". Its time is the part of the run outside of the
// scenarios.
func loadVerdict(r load.Results) Testcase {
	s := loadState(r.Verdict)
	message := "verdict: " + string(r.Verdict)
	someScenario := slices.ContainsFunc(r.Scenarios, func(s load.Scenario) bool { return s.Verdict == reports.Passed })
	switch {
	case r.Run.Interrupted:
		s = interrupted
		message += "; the run was interrupted"
	case s == passed && !someScenario:
		s = inError
		message += "; but no scenario passed"
	}
	c := testcase(s, reports.ToolName, runCase, first(message, r.Reasons), because(r.Reasons))
	rest := r.Run.Seconds
	for _, scenario := range r.Scenarios {
		rest -= scenario.Seconds
	}
	c.Time = Seconds(max(0, rest))
	return c
}

// first returns the message with the first reason.
func first(message string, reasons []string) string {
	if len(reasons) == 0 {
		return message
	}
	return message + ": " + reasons[0]
}

func loadState(v reports.Verdict) state {
	switch v {
	case reports.Passed:
		return passed
	case reports.Failed:
		return failed
	default:
		return inError
	}
}

// scenario returns the testcase of a scenario. It is skipped if the scenario lacks an
// input and the run passes without it.
func scenario(r load.Results, s load.Scenario) Testcase {
	state, message := loadState(s.Verdict), first("verdict: "+string(s.Verdict), s.Reasons)
	if len(s.Missing) > 0 && r.Verdict == reports.Passed {
		state, message = skipped, "not assessed, missing: "+joined(s.Missing)
	}
	text := because(s.Reasons)
	for _, v := range s.Violations {
		text += fmt.Sprintf("\n\n%s on %s, seen %d times", reports.Printable(v.Requirement), reports.Printable(v.Operation), v.Count)
		for _, example := range v.Examples {
			text += violation(example)
		}
	}
	c := testcase(state, s.Name, s.About, message, text)
	c.Time = Seconds(s.Seconds)
	return c
}

// threshold returns the testcase of a threshold in a phase. It is skipped if the outcome
// is inconclusive. The testcases of the scenario and of the run then do not pass.
func threshold(s load.Scenario, t load.Threshold) Testcase {
	state := skipped
	switch t.Outcome {
	case load.Met:
		state = passed
	case load.Missed:
		state = failed
	}
	name := t.Text
	if t.Phase != "" {
		name += " in " + t.Phase
	}
	return testcase(state, s.Name, name, string(t.Outcome)+": "+t.Why, "")
}

// compared returns the testcase of a compared figure.
func compared(f load.ComparedFigure) Testcase {
	state := passed
	switch f.Verdict {
	case load.Worse:
		state = failed
	case load.EffectNotKnown:
		state = skipped
	}
	message := string(f.Verdict) + ": " + f.Why
	if f.A != nil && f.B != nil {
		message = fmt.Sprintf("%s: A %s, B %s %s; p %.3g", f.Verdict, load.AtLeast(f.AOpen, *f.A), load.AtLeast(f.BOpen, *f.B), f.Unit, f.P)
	}
	return testcase(state, "comparison", f.Name, message, "")
}
