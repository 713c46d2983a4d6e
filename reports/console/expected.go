package console

import (
	"outreach.example/conformance/reports"
)

// expected lists the failures that the target's owner has announced.
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
			p.line("  ", p.paint.dim(p.more(total-maxExpected, noun(total-maxExpected, "expected failure", "expected failures"))))
			return
		}
		shown--
		p.paragraph(2, p.paint.yellow("~ ")+reports.Printable(c.Requirement)+" "+p.paint.dim("on "+reports.Printable(c.Operation)))
		p.paragraph(4, "until "+reports.Printable(c.Waiver.Expires)+": "+reports.Printable(c.Waiver.Reason)+" "+reports.Printable(c.Waiver.Link))
		if p.Announced != nil {
			p.paragraph(4, p.paint.dim("declared in "+reports.Printable(p.Announced(c))))
		}
	}
}

// maxExpected is how many expected failures are shown unless everything is asked for.
const maxExpected = 20
