package suites

import (
	"strings"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
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
		c.filterEachWay(list, valuesOf(c.tour(list, pagesOf(maxLimit)).Rows()))
		c.tour(list, paging.Cycle(1, 2, 7, 50))
	case op.ID == spec.CreatePlacementTest:
		c.valid(c.request(role, op), c.withAllOptional(c.request(role, op)), c.request(role, op))
	case op.ID == spec.GetPlacementTest:
		c.getEveryKind()
	case op.ID == spec.DeletePlacementTest:
		full := c.must(c.withAllOptional(c.request(role, spec.MustOperation(spec.CreatePlacementTest))))
		for _, made := range []answer{c.newTest(), full, c.newTest()} {
			c.valid(c.as(role, op).withID(made.text("id")))
		}
	case op.ID == spec.MoveAccounts:
		admin := c.as(role, op)
		source, destination := c.subWorkspaces(role)
		for _, emails := range [][]string{source.Accounts[:1], source.Accounts} {
			c.valid(admin.withBody(move(source, destination, emails...)))
			c.valid(admin.withBody(move(destination, source, emails...)))
		}
	case op.ID == spec.MoveLead:
		k := c.request(role, op)
		c.validEach(c.workspace(dataset.Main).Leads, func(lead string) call { return k.withField("id", lead) })
	case op.ID == spec.AddCampaignVariables:
		c.validEach(c.workspace(dataset.Main).Campaigns, c.request(role, op).withID)
	case op.ID == spec.DeleteSubsequence: // what it deletes cannot be made again
		for range sandbox.Richest {
			c.valid(c.request(role, op))
		}
	default:
		for range 3 {
			c.valid(c.request(role, op))
		}
	}
}

// filterEachWay reads a page of a list through each filter that the profile
// names, twice, and a page without rows where a filter can ask for that. The
// rows may be wrong, and their values with them: 200 is not the only right answer.
func (c *check) filterEachWay(list call, rows []map[string]any) {
	var probes []probe
	for _, f := range filterTable() {
		if f.op != list.op.ID {
			continue
		}
		if made := f.probes(rows); len(made) > 0 {
			probes = append(probes, made[0], made[len(made)-1]) // the last of a search by name is for nothing
		}
	}
	if query, ok := beforeAll[list.op.ID]; ok {
		probes = append(probes, probe{query: query})
	}
	var calls []call
	for _, p := range probes {
		if k, ok := c.knownFilter(list, p); ok {
			calls = append(calls, k)
		}
	}
	c.send(calls...)
}

// beforeAll is a window before all rows, for the lists that have windows.
var beforeAll = map[string]map[string]string{
	spec.ListPlacementReports: {profile.MeaningWindowStart: timestamp(farPast), profile.MeaningWindowEnd: timestamp(farPast)},
	spec.ListWebhookEvents: {profile.MeaningWindowStart: farPast.Format(time.DateOnly),
		profile.MeaningWindowEnd: farPast.Format(time.DateOnly)},
}

// getEveryKind reads tests of every status, of either type, with and without metadata.
func (c *check) getEveryKind() {
	get := c.as(dataset.Main, spec.MustOperation(spec.GetPlacementTest))
	list := c.must(c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests)).with("limit", "50"))
	var calls []call
	for _, row := range list.Rows {
		if id, ok := row["id"].(string); ok {
			calls = append(calls, get.withID(id))
		}
	}
	c.send(calls...) // a 404 is fine: the tests of other specs may be gone
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
