package suites

import (
	"slices"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// isolation keeps the main workspace and a second one apart.
func isolation() []Spec {
	var specs []Spec
	for _, op := range bound("ISOLATION-LIST") {
		specs = append(specs, Spec{op.ID, "shows no row in two workspaces", on(op, "ISOLATION-LIST"), func(c *check) { c.nothingInCommon(op) }})
	}
	for _, op := range bound("ISOLATION-OWNER") {
		specs = append(specs, Spec{op.ID, "names the key's workspace as the owner", on(op, "ISOLATION-OWNER"), func(c *check) {
			if c.owner(authorizedRole(op)) == "" {
				c.lack("the id of the workspace %q", authorizedRole(op))
			}
			// Package judge compares.
			if op.Answer == spec.Page {
				c.tour(c.as(authorizedRole(op), op), pagesOf(maxLimit))
			} else {
				c.valid(c.request(authorizedRole(op), op))
			}
		}})
	}
	for _, op := range bound("ISOLATION-ID") {
		pairs := on(op, "ISOLATION-ID")
		if spec.Has(spec.Pair{Requirement: "ISOLATION-UNTOUCHED", Operation: op.ID}) {
			pairs = append(pairs, on(op, "ISOLATION-UNTOUCHED")...)
		}
		specs = append(specs, Spec{op.ID, "does not serve another workspace's resource", pairs, func(c *check) { c.foreignID(op) }})
	}
	for _, f := range foreignFilters {
		op := spec.MustOperation(f.op)
		specs = append(specs, Spec{op.ID, "shows nothing for a filter by another workspace's resource", on(op, "ISOLATION-FILTER"), func(c *check) { c.foreignFilter(op, f.meaning, f.field) }})
	}
	move, accounts := spec.MustOperation(spec.MoveLead), spec.MustOperation(spec.MoveAccounts)
	return append(specs,
		Spec{move.ID, "does not move a lead to another workspace's subsequence", on(move, "ISOLATION-SUBSEQUENCE"), func(c *check) {
			foreign := c.first(c.workspace(dataset.Second).Subsequences, "subsequence", dataset.Second)
			a := c.one(c.request(dataset.Main, move).withField("subsequence_id", foreign).open())
			c.expect("ISOLATION-SUBSEQUENCE", a, beRefused())
		}},
		Spec{accounts.ID, "does not move another admin workspace's accounts", on(accounts, "ISOLATION-ACCOUNTS"), func(c *check) {
			source, destination := c.subWorkspaces(dataset.Admin)
			c.refusesMove("ISOLATION-ACCOUNTS", c.as(dataset.OutsiderAdmin, accounts), source, destination)
		}})
}

// rows reads a whole list, paged or not.
func (c *check) rows(role string, op spec.Operation) journey {
	if op.Answer == spec.Page {
		return c.walk(c.as(role, op), pagesOf(maxLimit))
	}
	a := c.must(c.as(role, op))
	page := paging.Page{}
	for _, row := range a.Rows {
		page.Rows = append(page.Rows, paging.Row{Key: keyOf(row), Value: row})
	}
	return journey{Walk: paging.Walk{Pages: []paging.Page{page}, End: paging.Done}, answers: []answer{a}, list: a.call}
}

func (c *check) nothingInCommon(op spec.Operation) {
	foreign := c.rows(dataset.Second, op).Keys()
	own := c.rows(dataset.Main, op)
	if len(foreign) == 0 {
		c.lack("rows of %s in the workspace %q", op.ID, dataset.Second)
	}
	c.assess("ISOLATION-LIST", op.ID)
	for p, page := range own.Pages {
		for i, row := range page.Rows {
			if foreign[row.Key] > 0 {
				pointer := pointerIn(i)
				if op.Answer == spec.Array {
					pointer = pointer[len("/items"):]
				}
				c.violate("ISOLATION-LIST", own.at(p), pointer, "a row of the key's workspace alone", "the row "+shorten(row.Key)+", which the second workspace shows too")
			}
		}
	}
}

// foreignID names a resource of the second workspace in a request that is valid otherwise.
func (c *check) foreignID(op spec.Operation) {
	second := c.workspace(dataset.Second)
	k := c.as(dataset.Main, op)
	switch op.ID {
	case spec.AddCampaignVariables:
		k = k.withID(c.first(second.Campaigns, "campaign", dataset.Second)).withBody(map[string]any{"variables": []string{"conformance"}})
	case spec.MoveLead:
		k = c.request(dataset.Main, op).withField("id", c.first(second.Leads, "lead", dataset.Second))
	case spec.DeleteSubsequence:
		k = k.withID(c.first(second.Subsequences, "subsequence", dataset.Second))
	default:
		k = k.withID(c.first(second.PlacementTests, "inbox placement test", dataset.Second))
	}
	a := c.one(k.open())
	c.expect("ISOLATION-ID", a, beRefused())
	c.observe(spec.SilenceForeignID, op.ID, "%d", a.Status)
	switch op.ID {
	case spec.DeletePlacementTest:
		found := c.one(c.as(dataset.Second, spec.MustOperation(spec.GetPlacementTest)).withID(k.id))
		if found.ok() && foldID(found.text("id")) != foldID(k.id) {
			c.missing("ISOLATION-UNTOUCHED", op.ID, "a get by the owner that shows the test %s", k.id)
			return
		}
		c.serves("ISOLATION-UNTOUCHED", found)
	case spec.DeleteSubsequence:
		there := c.rows(dataset.Second, spec.MustOperation(spec.ListSubsequences))
		c.expectAt("ISOLATION-UNTOUCHED", there.last(), "/items", there.Keys()[foldID(k.id)], be("the subsequence "+k.id+" on one page of its owner's list", gomega.Equal(1)))
	}
}

var foreignFilters = []struct{ op, meaning, field string }{
	{spec.ListPlacementReports, profile.MeaningTest, "test_id"},
	{spec.ListSubsequences, profile.MeaningParentCampaign, "parent_campaign"},
	{spec.ListTagMappings, profile.MeaningResourceIDs, "resource_id"},
}

// foreignFilter filters by a value that only the second workspace's rows have.
func (c *check) foreignFilter(op spec.Operation, meaning, field string) {
	name := c.parameter(op, meaning)
	own := distinctAll(valuesOf(c.rows(dataset.Main, op).Rows()), field)
	foreign := slices.DeleteFunc(distinctAll(valuesOf(c.rows(dataset.Second, op).Rows()), field), func(v string) bool { return slices.Contains(own, v) })
	if len(foreign) == 0 {
		c.lack("a row of %s in the workspace %q with a %s of its own", op.ID, dataset.Second, field)
	}
	a := c.one(c.as(dataset.Main, op).with(name, foreign[0]).open())
	c.assess("ISOLATION-FILTER", op.ID)
	foreignRows := c.rows(dataset.Second, op).Keys()
	for i, row := range a.Rows {
		if scalar(row[field]) == foreign[0] || foreignRows[keyOf(row)] > 0 {
			c.violate("ISOLATION-FILTER", a, pointerIn(i), "no row of another workspace", shorten(describe(row)))
		}
	}
}
