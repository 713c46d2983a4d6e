package suites

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// leads judges moving a lead to a subsequence. No operation reads a lead, so
// the answers of the moves are all there is to see.
func leads() []Spec {
	op := spec.MustOperation(spec.MoveLead)
	return []Spec{
		{op.ID, "answers with the lead that was named", on(op, "LEAD-MOVE-LEAD"), func(c *check) {
			k := c.request(dataset.Main, op)
			for _, lead := range c.workspace(dataset.Main).Leads {
				a := c.must(k.withField("id", lead))
				c.expectAt("LEAD-MOVE-LEAD", a, "/id", a.text("id"), beID(lead))
			}
		}},
		{op.ID, "moves the lead to the subsequence that was named", on(op, "LEAD-MOVE-SUBSEQUENCE"), func(c *check) {
			k := c.request(dataset.Main, op)
			for _, subsequence := range c.workspace(dataset.Main).Subsequences {
				a := c.must(k.withField("subsequence_id", subsequence))
				c.expectAt("LEAD-MOVE-SUBSEQUENCE", a, "/subsequence_id", a.text("subsequence_id"), beID(subsequence))
			}
		}},
	}
}
