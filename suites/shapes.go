package suites

import (
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/walk"
)

// shapes asks every operation for answers of as many kinds as it has; package
// judge holds them, and all other answers of the run, to the schemas.
func shapes() []Spec {
	var specs []Spec
	for _, op := range spec.Operations() {
		specs = append(specs, Spec{op.ID, "answers in the documented shape", shapePairs(op), func(c *check) {
			gather(c, op)
			for _, p := range shapePairs(op) {
				if field, ok := strings.CutPrefix(p.Requirement, "SHAPE-"); ok {
					c.Ledger.Missing(p, "an answer that shows it: "+strings.ToLower(field[:strings.LastIndex(field, "-")]))
				}
			}
		}})
	}
	return specs
}

// shapePairs are the requirements of the shape profile on the operation, and
// what else the rules see in its answers.
func shapePairs(op spec.Operation) []spec.Pair {
	var pairs []spec.Pair
	for _, r := range spec.Requirements() {
		p := spec.Pair{Requirement: r.ID, Operation: op.ID}
		if spec.Has(p) && judgedByRules(p) && r.Group != spec.GroupErrors && r.Group != spec.GroupIsolation {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// gather makes the operation show all it can.
func gather(c *check, op spec.Operation) {
	role := authorizedRole(op)
	switch {
	case op.Answer == spec.Page:
		list := c.as(role, op)
		c.valid(list)
		c.tour(list, pagesOf(maxLimit))
		c.tour(list, walk.Cycle(1, 2, 7, 50))
	case op.ID == spec.CreatePlacementTest:
		c.valid(c.request(role, op), c.withAllOptional(c.request(role, op)))
	case op.ID == spec.GetPlacementTest:
		c.getEveryKind()
	case op.ID == spec.DeletePlacementTest:
		bare := c.newTest()
		full := c.must(c.withAllOptional(c.request(role, spec.MustOperation(spec.CreatePlacementTest))))
		for _, made := range []answer{bare, full} {
			c.valid(c.as(role, op).withID(made.text("id")))
		}
	case op.ID == spec.MoveLead:
		k := c.request(role, op)
		c.validEach(c.workspace(dataset.Main).Leads, func(lead string) call { return k.withField("id", lead) })
	case op.ID == spec.AddCampaignVariables:
		c.validEach(c.workspace(dataset.Main).Campaigns, c.request(role, op).withID)
	default:
		c.valid(c.request(role, op))
	}
}

// getEveryKind reads tests of every status, of either type, with and without metadata.
func (c *check) getEveryKind() {
	get := c.as(dataset.Main, spec.MustOperation(spec.GetPlacementTest))
	list := c.must(c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests)).with("limit", "50"))
	var ids []string
	for _, row := range list.Rows {
		if id, ok := row["id"].(string); ok {
			ids = append(ids, id)
		}
	}
	c.validEach(ids, get.withID)
	made := c.must(c.withAllOptional(c.request(dataset.Main, spec.MustOperation(spec.CreatePlacementTest))))
	c.valid(get.withID(made.text("id")).with("with_metadata", "true"))
}

// validEach sends a valid call for each of the values.
func (c *check) validEach(values []string, build func(string) call) {
	calls := make([]call, len(values))
	for i, v := range values {
		calls[i] = build(v)
	}
	c.valid(calls...)
}
