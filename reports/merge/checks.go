package merge

import (
	"fmt"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// checks returns the checks of all parts, each once, and a sentence for each
// contradiction.
func checks(parts []Part) (merged []reports.Check, contradictions []string) {
	index := map[spec.Pair]int{}
	passed := map[spec.Pair]string{} // the first file in which the check passed
	failed := map[spec.Pair]string{}
	var order []spec.Pair
	for _, p := range parts {
		for _, c := range p.Results.Checks {
			pair := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
			switch c.Outcome {
			case reports.Pass:
				remember(passed, pair, p.File)
			case reports.Fail, reports.ExpectedFailure:
				remember(failed, pair, p.File)
			}
			if i, known := index[pair]; known {
				merged[i] = join(merged[i], c)
				continue
			}
			index[pair] = len(merged)
			order = append(order, pair)
			merged = append(merged, c)
		}
	}
	for _, pair := range order {
		flaky := merged[index[pair]].Waiver != nil && merged[index[pair]].Waiver.Flaky
		if passed[pair] != "" && failed[pair] != "" && !flaky {
			contradictions = append(contradictions, fmt.Sprintf("contradiction: %s on %s passed in %s and failed in %s", pair.Requirement, pair.Operation, passed[pair], failed[pair]))
		}
	}
	return merged, contradictions
}

func remember(first map[spec.Pair]string, pair spec.Pair, file string) {
	if first[pair] == "" {
		first[pair] = file
	}
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
	joined.Violations = slices.Clone(a.Violations)
	for _, v := range b.Violations {
		if i := slices.IndexFunc(joined.Violations, func(known reports.Violation) bool { return known.Kind() == v.Kind() }); i >= 0 {
			joined.Violations[i].Count += v.Count
		} else if len(joined.Violations) < maxViolations {
			joined.Violations = append(joined.Violations, v)
		}
	}
	joined.Consequences = joinConsequences(a.Consequences, b.Consequences)
	joined.Exchanges = nil // each recording has its own numbers
	joined.Specs = distinct(a.Specs, b.Specs)
	joined.Missing = nil
	if a.Outcome == reports.NotAssessed {
		joined.Missing = distinct(a.Missing, b.Missing)
	}
	return joined
}

func joinConsequences(all, more []reports.Consequence) []reports.Consequence {
	all = slices.Clone(all)
	for _, c := range more {
		same := func(known reports.Consequence) bool {
			return known.Requirement == c.Requirement && known.Operation == c.Operation
		}
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Count += c.Count
		} else {
			all = append(all, c)
		}
	}
	return all
}

func distinct(lists ...[]string) (all []string) {
	for _, s := range slices.Concat(lists...) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
