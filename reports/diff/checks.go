package diff

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// checks returns the checks of all parts, each once, and a sentence for each
// contradiction.
func checks(parts []MergePart) (merged []reports.Check, contradictions []string) {
	index := map[spec.Pair]int{}
	passed, failed := map[spec.Pair]string{}, map[spec.Pair]string{} // the first file in which the check did
	for _, p := range parts {
		for _, c := range p.Results.Checks {
			pair := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
			switch c.Outcome {
			case reports.Pass:
				passed[pair] = cmp.Or(passed[pair], p.File)
			case reports.Fail, reports.ExpectedFailure:
				failed[pair] = cmp.Or(failed[pair], p.File)
			}
			if i, known := index[pair]; known {
				merged[i] = join(merged[i], c)
				continue
			}
			index[pair] = len(merged)
			merged = append(merged, c)
		}
	}
	for _, c := range merged {
		pair := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
		flaky := c.Waiver != nil && c.Waiver.Flaky
		if passed[pair] != "" && failed[pair] != "" && !flaky {
			contradictions = append(contradictions, fmt.Sprintf("contradiction: %s on %s passed in %s and failed in %s", pair.Requirement, pair.Operation, passed[pair], failed[pair]))
		}
	}
	return merged, contradictions
}

// join joins two results of one check.
func join(a, b reports.Check) reports.Check {
	if compareOutcomes(b.Outcome, a.Outcome) < 0 {
		a, b = b, a
	}
	joined := a // the outcome that outweighs the other, with its waiver
	joined.Assessments = a.Assessments + b.Assessments
	joined.Seconds = a.Seconds + b.Seconds
	joined.ViolationCount = a.ViolationCount + b.ViolationCount
	joined.Violations = add(slices.Clone(a.Violations), b.Violations, addViolation)
	joined.Violations = joined.Violations[:min(len(joined.Violations), maxViolations)]
	joined.Consequences = add(slices.Clone(a.Consequences), b.Consequences, addConsequence)
	joined.Specs = add(slices.Clone(a.Specs), b.Specs, addText)
	joined.Exchanges = nil // each recording has its own numbers
	joined.Missing = nil
	if a.Outcome == reports.NotAssessed {
		joined.Missing = add(slices.Clone(a.Missing), b.Missing, addText)
	}
	return joined
}

func addViolation(known *reports.Violation, v reports.Violation) bool {
	same := known.Kind() == v.Kind()
	if same {
		known.Count += v.Count
	}
	return same
}
