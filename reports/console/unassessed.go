package console

import (
	"cmp"
	"slices"

	"outreach.example/conformance/reports"
)

// How much of what was not assessed is shown unless Verbose.
const (
	maxInputs = 15 // missing inputs
	maxIDs    = 8  // requirements that one of them names
)

// missingInput is an input that was missing and what could not be assessed without it.
type missingInput struct {
	name         string
	checks       int
	requirements []string
}

// notAssessed groups what could not be assessed by the input that was missing:
// the input is what a reader can supply.
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
	rest := plural(total, "check", "checks") + ", by what was missing"
	if sum > total {
		rest += " (some lack several inputs)"
	}
	p.heading("NOT ASSESSED", rest)
	listed := p.limit(len(inputs), maxInputs)
	for _, in := range inputs[:listed] {
		p.paragraph(2, reports.Printable(in.name)+" "+p.paint.dim("— "+plural(in.checks, "check", "checks")))
		ids := printableAll(in.requirements)
		shown := p.limit(len(ids), maxIDs)
		said := list(ids[:shown])
		if left := len(ids) - shown; left > 0 {
			said += " " + p.more(left, "")
		}
		for _, l := range wrap(said, p.width-4) {
			p.line("    ", p.paint.dim(l))
		}
	}
	if left := len(inputs) - listed; left > 0 {
		p.line("  ", p.paint.dim(p.more(left, noun(left, "input", "inputs"))))
	}
}

// missingInputs are sorted by how much they would unlock.
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
