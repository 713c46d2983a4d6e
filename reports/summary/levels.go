package summary

import (
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Levels returns the level of each set that applies to the operations of the checks.
// What the run left out counts as not assessed.
func Levels(checks []reports.Check) []reports.Level {
	outcomes := make(map[spec.Pair]reports.Outcome, len(checks))
	judged := map[string]bool{}
	for _, c := range checks {
		outcomes[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c.Outcome
		judged[c.Operation] = true
	}
	catalogue := spec.Requirements()
	var levels []reports.Level
	for _, set := range spec.Profiles() {
		if set == spec.ProfileFull {
			continue // the sum of the others
		}
		level := reports.Level{Set: string(set)}
		for _, r := range catalogue {
			if r.Profile == set {
				add(&level, r, judged, outcomes)
			}
		}
		if level.Requirements > 0 {
			levels = append(levels, level)
		}
	}
	return levels
}

func add(l *reports.Level, r spec.Requirement, judged map[string]bool, outcomes map[spec.Pair]reports.Outcome) {
	applies, assessed, failed := 0, 0, 0
	for _, operation := range r.Operations {
		if !judged[operation] {
			continue
		}
		applies++
		switch outcomes[spec.Pair{Requirement: r.ID, Operation: operation}] {
		case reports.Pass:
			assessed++
		case reports.Fail, reports.ExpectedFailure:
			assessed++
			failed++
		}
	}
	if applies == 0 {
		return
	}
	l.Requirements++
	if assessed == applies {
		l.Assessed++
	}
	if failed > 0 {
		l.Failed++
	}
}
