package console

import (
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Limits of the list of failures, unless Verbose is set.
const (
	maxWhole      = 10 // failed requirements; more are shown as a digest
	maxOperations = 3  // operations of one requirement in full
	maxViolations = 2  // violations of one requirement × operation
)

// failures shows each failed requirement once, with the operations that break it.
func (p *page) failures(r reports.Results, groups [][]reports.Check) {
	if len(groups) == 0 {
		return
	}
	failed := reports.Count(r.Checks).Fail
	p.heading("FAILURES", plural(len(groups), "requirement", "requirements")+", "+plural(failed, "check", "checks"))
	for i, group := range groups {
		if i > 0 {
			p.line()
		}
		p.failure(group, maxOperations, maxViolations)
	}
}

// failuresByRequirement groups the failed checks, in the catalogue's order.
func failuresByRequirement(checks []reports.Check) [][]reports.Check {
	byID := map[string][]reports.Check{}
	ids := map[string]bool{}
	for _, c := range checks {
		if c.Outcome == reports.Fail {
			ids[c.Requirement] = true
			byID[c.Requirement] = append(byID[c.Requirement], c)
		}
	}
	var catalogue, operations []string
	for _, requirement := range spec.Requirements() {
		catalogue = append(catalogue, requirement.ID)
	}
	for _, op := range spec.Operations() {
		operations = append(operations, op.ID)
	}
	var groups [][]reports.Check
	for _, id := range inOrder(ids, catalogue) {
		group := byID[id]
		slices.SortStableFunc(group, func(a, b reports.Check) int {
			return slices.Index(operations, a.Operation) - slices.Index(operations, b.Operation)
		})
		groups = append(groups, group)
	}
	return groups
}

// failure shows a failed requirement. Operations and violations are the maximum
// numbers of operations in full and of violations in each.
func (p *page) failure(checks []reports.Check, operations, violations int) {
	first := checks[0]
	p.line(p.paint.alarm("✗ " + reports.Printable(first.Requirement)))
	if len(first.Violations) > 0 {
		p.paragraph(2, reports.Printable(first.Violations[0].Statement))
		p.line("  ", p.paint.dim(cut(reports.Printable(first.Level)+" · "+reports.Printable(first.Violations[0].Section), p.width-2)))
	}
	shown := p.limit(len(checks), operations)
	for _, c := range checks[:shown] {
		p.line()
		p.failedOperation(c, violations)
	}
	if rest := checks[shown:]; len(rest) > 0 {
		var names []string
		for _, c := range rest {
			names = append(names, reports.Printable(c.Operation))
		}
		p.line()
		p.entry(2, 8, "also", list(names))
	}
}

func (p *page) failedOperation(c reports.Check, violations int) {
	p.paragraph(2, p.paint.bold(reports.Printable(c.Operation))+"  "+
		p.paint.dim("seen "+plural(c.ViolationCount, "time", "times")+" in "+plural(c.Assessments, "assessment", "assessments")))
	shown := p.limit(len(c.Violations), violations)
	for i, v := range c.Violations[:shown] {
		if i > 0 {
			p.line()
		}
		p.violation(v)
	}
	if left := c.ViolationCount - shown; left > 0 {
		p.line("    ", p.paint.dim(p.more(left, "")))
	}
}

func (p *page) violation(v reports.Violation) {
	const indent, column = 4, 10
	p.entry(indent, column, "at", v.Place())
	p.entry(indent, column, "expected", reports.Printable(v.Expected))
	p.entry(indent, column, "actual", reports.Printable(v.Actual))
	if p.Verbose && v.Spec != "" {
		p.entry(indent, column, "seen by", reports.Printable(v.Spec))
	}
	if p.Verbose && v.Body != "" {
		p.entry(indent, column, "body", reports.Printable(v.Body))
	}
	if v.Curl != "" {
		// Never wrapped, so that it can be copied.
		p.line("    ", p.paint.dim("repeat"), "    ", reports.Printable(v.Curl))
	}
}

// limit returns how many of n are shown.
func (p *page) limit(n, most int) int {
	if p.Verbose {
		return n
	}
	return min(n, most)
}
