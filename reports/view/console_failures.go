package view

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// Limits of the list of failures, unless Verbose is set.
const (
	maxCauses = 15
	maxWhole  = 5   // causes that are not shown in brief
	maxFailed = 100 // failed checks whose causes are not shown in brief
	maxNamed  = 6   // names, in brief
	maxFull   = 3   // kinds of violations of one requirement that are shown in full
	maxKinds  = 5   // other kinds, in brief
)

// failures shows the failed checks: by cause, or all of them by requirement.
func (p *page) failures(r reports.Results, causes []summary.Cause) {
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
func (p *page) causes(r reports.Results, causes []summary.Cause) {
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
		p.paragraph(0, p.paint.Dim(fmt.Sprintf("… and %s with %s (all: --verbose)%s", plural(len(left), "more cause", "more causes"),
			plural(checks, "check", "checks"), p.orResults())))
	}
}

// isMany reports whether the causes of the failures have too many members to name.
func isMany(r reports.Results) bool { return reports.Count(r.Checks).Fail > maxFailed }

// cause shows the first failed requirement of the cause, and names the others. In brief it
// shows one example and the first names.
func (p *page) cause(cause summary.Cause, brief bool) {
	groups := cause.Requirements()
	if groups[0][0].Requirement == string(spec.Served) {
		p.missingOperations(cause.Checks)
		return
	}
	p.failure(groups[0], brief)
	groups = groups[1:]
	var names []string
	for _, group := range groups {
		name := printable.Text(group[0].Requirement)
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
	p.line(p.paint.Alarm("✗ " + printable.Text(checks[0].Requirement)))
	column := 0
	for _, name := range operationsOf(checks) {
		column = max(column, console.Width(name)+gap)
	}
	for _, c := range checks {
		answer := "is not served"
		if len(c.Violations) > 0 {
			status, _, _ := strings.Cut(c.Violations[0].Actual, " ")
			answer += ": every request gets " + printable.Text(status)
		}
		p.entry(2, column, printable.Text(c.Operation), answer)
	}
	p.line("  ", p.paint.Dim("leave it out under operations: in the target profile, or serve it"))
}

func operationsOf(checks []reports.Check) []string {
	var names []string
	for _, c := range checks {
		names = append(names, printable.Text(c.Operation))
	}
	return names
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

// failure shows a failed requirement by the kinds of its violations: the first in full,
// and the others in a line each. In brief only one kind is shown in full. Verbose shows
// each violation of each operation.
func (p *page) failure(checks []reports.Check, brief bool) {
	first := checks[0]
	p.line(p.paint.Alarm("✗ " + printable.Text(first.Requirement)))
	if len(first.Violations) > 0 {
		p.paragraph(2, printable.Text(first.Violations[0].Statement))
		p.line("  ", p.paint.Dim(console.Cut(strings.TrimPrefix(printable.Text(first.Level)+" · ", " · ")+printable.Text(first.Violations[0].Section), p.width-2)))
	}
	if p.Verbose {
		for _, c := range checks {
			p.line()
			p.failedOperation(c)
		}
		return
	}
	kinds := summary.Kinds(checks)
	full, most := maxFull, len(kinds)
	if brief {
		full, most = 1, 1+maxKinds
	}
	for i, k := range kinds {
		switch {
		case i < full:
			p.line()
			if i == 0 || k.Check.Operation != kinds[i-1].Check.Operation {
				p.operation(k.Check)
			}
			p.kind(k, len(kinds) > 1, brief)
		case i == most:
			p.line("  ", p.paint.Dim(p.more(len(kinds)-i, noun(len(kinds)-i, "kind", "kinds"))))
			return
		default:
			if i == full {
				p.line()
			}
			p.otherKind(2, k)
		}
	}
	if c := kinds[0].Check; len(kinds) > 1 && c.Unlisted() > 0 {
		p.line("  ", p.paint.Dim("… and "+printable.Number(c.Unlisted())+" more, only counted"))
	}
}

// otherKind shows a further kind of violation in a line.
func (p *page) otherKind(indent int, k summary.Kind) {
	p.entry(indent, 8, "also", fmt.Sprintf("at %s: expected %s, got %s %s", k.Place(), printable.Text(k.Expected), printable.Text(k.Actual),
		p.paint.Dim("on "+namesOf(printables(k.Operations), true)+seen(k.Count))))
}

// seen says how often something was seen, if that is known.
func seen(count int) string {
	if count == 0 {
		return ""
	}
	return ", seen " + plural(count, "time", "times")
}

// kind shows a kind of violation in full. Several says that the requirement has others.
func (p *page) kind(k summary.Kind, several, brief bool) {
	p.violation(k.Violation)
	if several && k.Count > 0 {
		p.entry(4, 10, "seen", plural(k.Count, "time", "times"))
	}
	if rest := k.Operations[1:]; len(rest) > 0 {
		p.line()
		p.entry(2, 8, "also", namesOf(printables(rest), brief))
	}
}

// namesOf lists the names, or in brief the first of them and a count.
func namesOf(names []string, brief bool) string {
	if left := len(names) - maxNamed; brief && left > 0 {
		names = append(slices.Clone(names[:maxNamed]), "… and "+printable.Number(left)+" more")
	}
	return list(names)
}

// operation shows where a check failed, how often, and what follows from it.
func (p *page) operation(c reports.Check) {
	p.paragraph(2, p.paint.Bold(printable.Text(c.Operation))+"  "+
		p.paint.Dim("seen "+plural(c.ViolationCount, "time", "times")+" in "+plural(c.Assessments, "assessment", "assessments")))
	if len(c.Consequences) > 0 {
		p.consequences(c.Consequences)
	}
}

// failedOperation shows the violations of a check.
func (p *page) failedOperation(c reports.Check) {
	p.operation(c)
	for i, v := range c.Violations {
		if i > 0 {
			p.line()
		}
		p.violation(v)
		if len(c.Violations) > 1 && v.Count > 0 {
			p.entry(4, 10, "seen", plural(v.Count, "time", "times"))
		}
	}
	if left := c.Unlisted(); left > 0 && len(c.Violations) > 1 {
		p.line("    ", p.paint.Dim("… and "+printable.Number(left)+" more, only counted"))
	}
}

// consequences says what follows from a violation and is not counted elsewhere.
func (p *page) consequences(follow []reports.Consequence) {
	total := 0
	for _, f := range follow {
		total += f.Count
	}
	p.paragraph(4, p.paint.Dim(plural(total, "violation", "violations")+" of "+
		plural(len(follow), "other check", "other checks")+" "+noun(total, "follows", "follow")+" from this and "+noun(total, "is", "are")+" not counted"))
}

func (p *page) violation(v reports.Violation) {
	const indent, column = 4, 10
	p.entry(indent, column, "at", v.Place())
	p.entry(indent, column, "expected", printable.Text(v.Expected))
	p.entry(indent, column, "actual", printable.Text(v.Actual))
	if p.Verbose && v.Spec != "" {
		p.entry(indent, column, "seen by", printable.Text(v.Spec))
	}
	if p.Verbose && v.Body != "" {
		p.entry(indent, column, "body", printable.Text(v.Body))
	}
	if v.Curl != "" {
		// Never wrapped, so that it can be copied.
		p.line("    ", p.paint.Dim("repeat"), "    ", printable.Text(v.Curl))
	}
}

// limit returns how many of n are shown.
func (p *page) limit(n, most int) int {
	if p.Verbose {
		return n
	}
	return min(n, most)
}
