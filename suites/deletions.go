package suites

import (
	"net/http"
	"slices"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// deletions judges deleting tests, which the run makes itself, and
// subsequences, which the profile hands it.
func deletions() []Spec {
	var specs []Spec
	for _, op := range bound("STATE-DELETE-ANSWER") {
		list := spec.MustOperation(map[string]string{
			spec.DeletePlacementTest: spec.ListPlacementTests,
			spec.DeleteSubsequence:   spec.ListSubsequences,
		}[op.ID])
		specs = append(specs,
			Spec{op.ID, "answers with what it deleted", on(op, "STATE-DELETE-ANSWER"), func(c *check) { c.answersDeleted(op, list) }},
			Spec{op.ID, "takes the resource, and only it, out of the list", on(op, "STATE-DELETE-LIST", "STATE-DELETE-OTHERS"), func(c *check) { c.leavesOthers(op, list) }},
			Spec{op.ID, "answers 404 the second time", on(op, "STATE-DELETE-AGAIN"), func(c *check) {
				k := c.request(dataset.Main, op)
				c.must(k)
				c.expect("STATE-DELETE-AGAIN", c.one(k), haveStatus(http.StatusNotFound))
			}})
	}
	remove, get := spec.MustOperation(spec.DeletePlacementTest), spec.MustOperation(spec.GetPlacementTest)
	move, removeSubsequence := spec.MustOperation(spec.MoveLead), spec.MustOperation(spec.DeleteSubsequence)
	return append(specs,
		Spec{remove.ID, "leaves nothing to get", on(remove, "STATE-DELETE-GET"), func(c *check) {
			k := c.request(dataset.Main, remove)
			c.must(k)
			c.expect("STATE-DELETE-GET", c.one(c.as(dataset.Main, get).withID(k.id)), haveStatus(http.StatusNotFound))
		}},
		Spec{move.ID, "does not move a lead to a deleted subsequence", on(move, "STATE-DELETE-MOVE"), func(c *check) {
			moving := c.request(dataset.Main, move)
			k := c.request(dataset.Main, removeSubsequence)
			c.must(k)
			c.expect("STATE-DELETE-MOVE", c.one(moving.withField("subsequence_id", k.id)), haveStatus(http.StatusNotFound))
		}})
}

// answersDeleted compares the answer with the resource as the list showed it.
func (c *check) answersDeleted(op, list spec.Operation) {
	k := c.request(dataset.Main, op)
	before, ok := byKey(c.walk(c.as(dataset.Main, list), pagesOf(maxLimit)))[foldID(k.id)]
	if !ok {
		c.lack("the resource that is to be deleted in %s", list.ID)
	}
	a := c.must(k)
	c.expectAt("STATE-DELETE-ANSWER", a, "/id", a.text("id"), beID(k.id))
	for field, value := range before {
		if shown, ok := a.row()[field]; ok && !changesByItself[field] {
			c.expectAt("STATE-DELETE-ANSWER", a, "/"+field, shown, agreeWith(value))
		}
	}
}

// changesByItself are fields that a server may touch while it deletes.
var changesByItself = map[string]bool{"status": true, "not_sending_status": true, "timestamp_next_run": true, "timestamp_leads_updated": true}

// leavesOthers deletes one of several and looks for the others in the list.
func (c *check) leavesOthers(op, list spec.Operation) {
	k, others := c.amongOthers(op)
	rows := c.as(dataset.Main, list)
	before := c.walk(rows, pagesOf(maxLimit)).Keys()
	others = slices.DeleteFunc(others, func(id string) bool { return before[foldID(id)] == 0 })
	if len(others) == 0 || before[foldID(k.id)] == 0 {
		c.lack("the resources that the spec works with in %s", list.ID)
	}
	c.must(k)
	after := c.walk(rows, pagesOf(maxLimit))

	c.expectAt("STATE-DELETE-LIST", after.last(), "/items", after.Keys()[foldID(k.id)], be("the deleted "+k.id+" on no page", gomega.BeZero()))
	// Other rows may be deleted by others meanwhile; nobody else deletes these.
	for _, id := range others {
		c.expectAt("STATE-DELETE-OTHERS", after.last(), "/items", after.Keys()[foldID(id)], be("the other resource "+id+" on one page", gomega.Equal(1)))
	}
}

// amongOthers returns a deletion, and resources that nobody deletes while the
// spec runs: tests of its own, or the subsequences that the profile keeps from
// deletion; and among them those that lie beside the one that is deleted.
func (c *check) amongOthers(op spec.Operation) (k call, others []string) {
	if op.ID == spec.DeletePlacementTest {
		older := c.newTest()
		k = c.request(dataset.Main, op)
		return k, []string{older.text("id"), c.newTest().text("id")}
	}
	k = c.request(dataset.Main, op)
	return k, append(c.sparesBeside(k.id), c.workspace(dataset.Main).Subsequences...)
}
