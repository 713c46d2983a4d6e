package console

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Limits of the list of failures, unless Verbose is set.
const (
	maxCauses     = 15
	maxWhole      = 5   // causes that are not shown in brief
	maxFailed     = 100 // failed checks whose causes are not shown in brief
	maxNamed      = 6   // names, in brief
	maxOperations = 3   // operations of one requirement in full that look different
)

// failures shows the failed checks: by cause, or all of them by requirement.
func (p *page) failures(r reports.Results, causes []reports.Cause) {
	if !p.Verbose {
		p.causes(r, causes)
		return
	}
	groups := failuresByRequirement(r.Checks)
	if len(groups) == 0 {
		return
	}
	failed := reports.Count(r.Checks).Fail
	p.heading("FAILURES", plural(len(groups), "requirement", "requirements")+", "+plural(failed, "check", "checks"))
	for i, group := range groups {
		if i > 0 {
			p.line()
		}
		p.failure(group, false)
	}
}

// causes shows the failed checks by their probable cause, the most specific first.
func (p *page) causes(r reports.Results, causes []reports.Cause) {
	if len(causes) == 0 {
		return
	}
	p.heading("FAILURES", plural(reports.Count(r.Checks).Fail, "check", "checks")+" with "+
		plural(len(causes), "probable cause", "probable causes")+", the most specific first")
	shown := min(len(causes), maxCauses)
	for i, cause := range causes[:shown] {
		if i > 0 {
			p.line()
		}
		p.cause(cause, len(causes) > maxWhole || isMany(r))
	}
	if left := causes[shown:]; len(left) > 0 {
		checks := 0
		for _, cause := range left {
			checks += len(cause.Checks)
		}
		p.line()
		p.paragraph(0, p.paint.dim(fmt.Sprintf("… and %s with %s (all: --verbose)%s", plural(len(left), "more cause", "more causes"),
			plural(checks, "check", "checks"), p.orResults())))
	}
}

// isMany reports whether the causes of the failures have too many members to name.
func isMany(r reports.Results) bool { return reports.Count(r.Checks).Fail > maxFailed }

// cause shows the first failed requirement of the cause, and names the others. In brief it
// shows one example and the first names.
func (p *page) cause(cause reports.Cause, brief bool) {
	groups := cause.Requirements()
	if groups[0][0].Requirement == string(spec.Served) {
		p.missingOperations(cause.Checks)
		return
	}
	p.failure(groups[0], brief)
	groups = groups[1:]
	var names []string
	for _, group := range groups {
		name := reports.Printable(group[0].Requirement)
		switch {
		case len(group) > 1 && brief:
			name += fmt.Sprintf(" (%d operations)", len(group))
		case len(group) > 1 || group[0].Operation != cause.Checks[0].Operation:
			name += " on " + strings.Join(operationsOf(group), " and ")
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		p.line()
		p.entry(2, 8, "alike", namesOf(names, brief))
	}
}

// missingOperations shows each operation that the target does not serve in a line.
func (p *page) missingOperations(checks []reports.Check) {
	p.line(p.paint.alarm("✗ " + reports.Printable(checks[0].Requirement)))
	column := 0
	for _, name := range operationsOf(checks) {
		column = max(column, width(name)+gap)
	}
	for _, c := range checks {
		answer := "is not served"
		if len(c.Violations) > 0 {
			status, _, _ := strings.Cut(c.Violations[0].Actual, " ")
			answer += ": every request gets " + reports.Printable(status)
		}
		p.entry(2, column, reports.Printable(c.Operation), answer)
	}
	p.line("  ", p.paint.dim("leave it out under operations: in the target profile, or serve it"))
}

func operationsOf(checks []reports.Check) []string {
	var names []string
	for _, c := range checks {
		names = append(names, reports.Printable(c.Operation))
	}
	return names
}

// looksLike reports whether the first violations of two checks look alike.
func looksLike(a, b reports.Check) bool {
	if len(a.Violations) == 0 || len(b.Violations) == 0 {
		return len(a.Violations) == len(b.Violations)
	}
	return a.Violations[0].Kind() == b.Violations[0].Kind()
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

// failure shows a failed requirement, with some operations in full. In brief it shows one
// kind of violation on one operation, and names only the first of the others.
func (p *page) failure(checks []reports.Check, brief bool) {
	first := checks[0]
	p.line(p.paint.alarm("✗ " + reports.Printable(first.Requirement)))
	if len(first.Violations) > 0 {
		p.paragraph(2, reports.Printable(first.Violations[0].Statement))
		p.line("  ", p.paint.dim(cut(reports.Printable(first.Level)+" · "+reports.Printable(first.Violations[0].Section), p.width-2)))
	}
	shown, rest := p.examples(checks, brief)
	for _, c := range shown {
		p.line()
		p.failedOperation(c, brief)
	}
	if len(rest) > 0 {
		p.line()
		p.entry(2, 8, "also", namesOf(operationsOf(rest), brief))
	}
}

// examples returns the checks to show in full, each of which looks different, and the
// others.
func (p *page) examples(checks []reports.Check, brief bool) (shown, rest []reports.Check) {
	if p.Verbose {
		return checks, nil
	}
	most := maxOperations
	if brief {
		most = 1
	}
	for _, c := range checks {
		known := func(other reports.Check) bool { return looksLike(c, other) }
		if len(shown) == 0 || len(shown) < most && !slices.ContainsFunc(shown, known) {
			shown = append(shown, c)
		} else {
			rest = append(rest, c)
		}
	}
	return shown, rest
}

// namesOf lists the names, or in brief the first of them and a count.
func namesOf(names []string, brief bool) string {
	if left := len(names) - maxNamed; brief && left > 0 {
		names = append(slices.Clone(names[:maxNamed]), "… and "+number(left)+" more")
	}
	return list(names)
}

// failedOperation shows the kinds of violations of a check, or in brief the first of them.
func (p *page) failedOperation(c reports.Check, brief bool) {
	p.paragraph(2, p.paint.bold(reports.Printable(c.Operation))+"  "+
		p.paint.dim("seen "+plural(c.ViolationCount, "time", "times")+" in "+plural(c.Assessments, "assessment", "assessments")))
	if len(c.Consequences) > 0 {
		p.consequences(c.Consequences)
	}
	for i, v := range c.Violations {
		if i > 0 && brief {
			p.line("    ", p.paint.dim(p.more(len(c.Violations)-1, "of other kinds")))
			return
		}
		if i > 0 {
			p.line()
		}
		p.violation(v)
		if len(c.Violations) > 1 && v.Count > 0 {
			p.entry(4, 10, "seen", plural(v.Count, "time", "times"))
		}
	}
	if left := c.Unlisted(); left > 0 && len(c.Violations) > 1 {
		p.line("    ", p.paint.dim("… and "+number(left)+" more, only counted"))
	}
}

// consequences says what follows from a violation and is not counted elsewhere.
func (p *page) consequences(follow []reports.Consequence) {
	total := 0
	for _, f := range follow {
		total += f.Count
	}
	p.paragraph(4, p.paint.dim(plural(total, "violation", "violations")+" of "+
		plural(len(follow), "other check", "other checks")+" "+noun(total, "follows", "follow")+" from this and "+noun(total, "is", "are")+" not counted"))
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
