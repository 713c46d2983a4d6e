package view

import (
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
)

// maxDigestInputs is the number of missing inputs in a digest.
const maxDigestInputs = 5

// digest shows a target with many failures: totals, the first causes and what is
// missing most.
func (p *page) digest(r reports.Results, causes []summary.Cause) {
	whole := r
	whole.Checks = slices.Clone(r.Checks)
	for i := range whole.Checks {
		whole.Checks[i].Group = "checks"
	}
	p.table(whole)
	p.causes(r, causes)
	p.expected(r)
	p.missingMost(r)
}

// orResults names the file of results, if there is one.
func (p *page) orResults() string {
	if p.ResultsPath == "" {
		return ""
	}
	return ", or " + printable.Text(p.ResultsPath)
}

// missingMost shows the missing inputs that most checks lacked.
func (p *page) missingMost(r reports.Results) {
	inputs := missingInputs(r.Checks)
	if len(inputs) == 0 {
		return
	}
	p.heading("NOT ASSESSED", byMissing(reports.Count(r.Checks).NotAssessed, inputs))
	inputs = p.notReached(inputs)
	for _, in := range inputs[:min(len(inputs), maxDigestInputs)] {
		p.paragraph(2, printable.Text(in.name)+" "+p.paint.Dim("— "+plural(in.checks, "check", "checks")))
	}
	if left := len(inputs) - maxDigestInputs; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, noun(left, "input", "inputs"))))
	}
}
