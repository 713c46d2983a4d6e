package view

import (
	"cmp"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
)

// Limits of the list of checks that were not assessed, unless Verbose is set.
const (
	maxInputs = 15 // missing inputs
	maxIDs    = 8  // requirements of one input
)

// missingInput is a missing input, with the checks that lacked it.
type missingInput struct {
	name         string
	checks       int
	requirements []string
}

// notAssessed shows the checks that were not assessed, grouped by missing input: that
// is what a reader can supply.
func (p *page) notAssessed(r reports.Results) {
	inputs := missingInputs(r.Checks)
	if len(inputs) == 0 {
		return
	}
	total := reports.Count(r.Checks).NotAssessed
	sum := 0
	for _, in := range inputs {
		sum += in.checks
	}
	rest := byMissing(total, inputs)
	if sum > total {
		rest += " (some lack several inputs)"
	}
	p.heading("NOT ASSESSED", rest)
	inputs = p.notReached(inputs)
	listed := p.limit(len(inputs), maxInputs)
	for _, in := range inputs[:listed] {
		p.paragraph(2, printable.Text(in.name)+" "+p.paint.Dim("— "+plural(in.checks, "check", "checks")))
		ids := printables(in.requirements)
		shown := p.limit(len(ids), maxIDs)
		said := list(ids[:shown])
		if left := len(ids) - shown; left > 0 {
			said += " " + p.more(left, "")
		}
		for _, l := range console.Wrap(said, p.width-4) {
			p.line("    ", p.paint.Dim(l))
		}
	}
	if left := len(inputs) - listed; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, noun(left, "input", "inputs"))))
	}
}

// endings says in words why a run ended before its checks lacked anything.
var endings = map[string]string{
	reports.NotReached:            "the run ended at its first failure (--fail-fast)",
	reports.NotReachedInterrupted: "the run was interrupted",
}

// byMissing counts the checks that were not assessed. It announces a list of inputs only
// if there is one.
func byMissing(total int, inputs []missingInput) string {
	text := plural(total, "check", "checks")
	if slices.ContainsFunc(inputs, func(in missingInput) bool { return endings[in.name] == "" }) {
		text += ", by what was missing"
	}
	return text
}

// notReached says of how many checks nothing was missing, because the run ended before
// them. It returns the other inputs.
func (p *page) notReached(inputs []missingInput) (others []missingInput) {
	for _, in := range inputs {
		if why := endings[in.name]; why != "" {
			p.paragraph(2, "nothing was missing: "+why+" "+p.paint.Dim("— "+plural(in.checks, "check", "checks")))
		} else {
			others = append(others, in)
		}
	}
	return others
}

// missingInputs returns the missing inputs, the one that most checks lacked first.
func missingInputs(checks []reports.Check) []missingInput {
	byName := map[string]*missingInput{}
	for _, c := range checks {
		if c.Outcome != reports.NotAssessed {
			continue
		}
		for _, name := range c.Missing {
			in := byName[name]
			if in == nil {
				in = &missingInput{name: name}
				byName[name] = in
			}
			in.checks++
			if !slices.Contains(in.requirements, c.Requirement) {
				in.requirements = append(in.requirements, c.Requirement)
			}
		}
	}
	var inputs []missingInput
	for _, in := range byName {
		inputs = append(inputs, *in)
	}
	slices.SortFunc(inputs, func(a, b missingInput) int {
		return cmp.Or(cmp.Compare(b.checks, a.checks), cmp.Compare(a.name, b.name))
	})
	return inputs
}

// expected lists the expected failures.
func (p *page) expected(r reports.Results) {
	total := reports.Count(r.Checks).Expected
	if total == 0 {
		return
	}
	p.heading("EXPECTED FAILURES", plural(total, "check", "checks")+", declared by the target's owner")
	shown := p.limit(total, maxExpected)
	for _, c := range r.Checks {
		if c.Outcome != reports.ExpectedFailure || c.Waiver == nil {
			continue
		}
		if shown == 0 {
			p.line("  ", p.paint.Dim(p.more(total-maxExpected, noun(total-maxExpected, "expected failure", "expected failures"))))
			return
		}
		shown--
		p.paragraph(2, p.paint.Yellow("~ ")+printable.Text(c.Requirement)+" "+p.paint.Dim("on "+printable.Text(c.Operation)))
		flaky := ""
		if c.Waiver.Flaky {
			flaky = "flaky, "
		}
		p.paragraph(4, flaky+"until "+printable.Text(c.Waiver.Expires)+": "+printable.Text(c.Waiver.Reason)+" "+printable.Text(c.Waiver.Link))
		if p.ExpectedIn != nil {
			p.paragraph(4, p.paint.Dim("declared in "+printable.Text(p.ExpectedIn(c))))
		}
	}
}

// maxExpected is the number of expected failures shown unless Verbose is set.
const maxExpected = 20
