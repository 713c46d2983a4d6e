package console

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/reports"
)

// Limits of a digest.
const (
	maxExamples     = 3 // requirements with a violation
	maxNamed        = 6 // names of failed requirements in a group
	maxDigestInputs = 5 // missing inputs
)

// digest shows a target with many failures: totals, the most frequent failures of each
// group, and examples of the worst groups. A failure on every operation is often the
// cause of the others.
func (p *page) digest(r reports.Results, failures [][]reports.Check) {
	whole := r
	whole.Checks = slices.Clone(r.Checks)
	for i := range whole.Checks {
		whole.Checks[i].Group = "checks"
	}
	p.table(whole)

	groups := worstFirst(failures)
	p.heading("FAILURES", plural(len(failures), "requirement", "requirements")+", "+
		plural(reports.Count(r.Checks).Fail, "check", "checks")+", by group, the most frequent first, with the number of operations")
	column := 0
	for _, g := range groups {
		column = max(column, width(title(g.name))+gap)
	}
	for _, g := range groups {
		var names []string
		for _, checks := range g.failures[:min(len(g.failures), maxNamed)] {
			names = append(names, fmt.Sprintf("%s (%d)", reports.Printable(checks[0].Requirement), len(checks)))
		}
		if left := len(g.failures) - maxNamed; left > 0 {
			names = append(names, fmt.Sprintf("… and %s more", number(left)))
		}
		p.entry(2, column, title(g.name), p.paint.red("✗"+number(g.checks))+"  "+list(names))
	}
	p.line()
	p.paragraph(0, p.paint.dim("One example from each of the groups with most failures (all: --verbose)"+p.orResults()))
	for _, g := range groups[:min(len(groups), maxExamples)] {
		p.line()
		p.failure(g.failures[0][:1], 1, 1)
	}
	p.expected(r)
	p.missingMost(r)
}

// orResults names the file of results, if there is one.
func (p *page) orResults() string {
	if p.ResultsPath == "" {
		return ""
	}
	return ", or " + p.ResultsPath
}

// failing is a group with its failed requirements.
type failing struct {
	name     string
	checks   int // failed ones
	failures [][]reports.Check
}

// worstFirst groups the failed requirements. The group with the most failed checks comes
// first, and in a group the requirement that fails on the most operations. Ties keep
// the catalogue's order.
func worstFirst(failures [][]reports.Check) []failing {
	var groups []failing
	for _, failed := range failures {
		name := failed[0].Group
		i := slices.IndexFunc(groups, func(g failing) bool { return g.name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, failing{name: name})
		}
		groups[i].checks += len(failed)
		groups[i].failures = append(groups[i].failures, failed)
	}
	for _, g := range groups {
		slices.SortStableFunc(g.failures, func(a, b []reports.Check) int { return cmp.Compare(len(b), len(a)) })
	}
	slices.SortStableFunc(groups, func(a, b failing) int { return cmp.Compare(b.checks, a.checks) })
	return groups
}

// missingMost shows the missing inputs that most checks lacked.
func (p *page) missingMost(r reports.Results) {
	inputs := missingInputs(r.Checks)
	if len(inputs) == 0 {
		return
	}
	p.heading("NOT ASSESSED", plural(reports.Count(r.Checks).NotAssessed, "check", "checks")+", by what was missing")
	for _, in := range inputs[:min(len(inputs), maxDigestInputs)] {
		p.paragraph(2, reports.Printable(in.name)+" "+p.paint.dim("— "+plural(in.checks, "check", "checks")))
	}
	if left := len(inputs) - maxDigestInputs; left > 0 {
		p.line("  ", p.paint.dim(p.more(left, noun(left, "input", "inputs"))))
	}
}
