package suites

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// placementTests judges creating and reading inbox placement tests; the single
// fields are in placementTestFields, deleting is in deletions.
func placementTests() []Spec {
	create, get := spec.MustOperation(spec.CreatePlacementTest), spec.MustOperation(spec.GetPlacementTest)
	specs := []Spec{
		{create.ID, "accepts run_immediately", on(create, "STATE-CREATE-RUN_IMMEDIATELY"), func(c *check) {
			for _, value := range []bool{true, false} {
				c.creates("STATE-CREATE-RUN_IMMEDIATELY", c.request(dataset.Main, create).withField("run_immediately", value))
			}
		}},
		{create.ID, "accepts null where a field may be null", on(create, "STATE-CREATE-NULL"), func(c *check) {
			k := c.request(dataset.Main, create)
			for _, field := range nullable {
				k = k.withField(field, nil)
			}
			c.creates("STATE-CREATE-NULL", k)
		}},
		{create.ID, "makes two tests of two requests", on(create, "STATE-CREATE-DISTINCT"), func(c *check) {
			k := c.request(dataset.Main, create)
			first, second := c.must(k), c.must(k)
			c.expectAt("STATE-CREATE-DISTINCT", second, "/id", second.text("id"), be("an id of its own", gomega.Not(gomega.Equal(first.text("id")))))
			for _, made := range []answer{first, second} {
				c.expect("STATE-CREATE-DISTINCT", c.found(made), haveStatus(http.StatusOK))
			}
		}},
		{get.ID, "shows a test as the list does", on(get, "STATE-GET-LIST"), func(c *check) { c.getLikeList() }},
	}
	for _, field := range spec.CreateReadOnly {
		requirement := "STATE-READ_ONLY-" + strings.ToUpper(field)
		specs = append(specs, Spec{create.ID, "does not let a body set " + field, on(create, requirement), func(c *check) {
			c.cannotSet(requirement, field)
		}})
	}
	return append(specs, metadata()...)
}

// creates judges that the request makes a test, one that can be read.
func (c *check) creates(requirement string, k call) {
	made := c.one(k)
	if !made.ok() {
		c.serves(requirement, made)
		return
	}
	found := c.found(made)
	if found.Status == http.StatusOK && !isMade(made, found) {
		c.missing(requirement, k.op.ID, "a get that shows the test that was created")
		return
	}
	c.expect(requirement, found, haveStatus(http.StatusOK))
}

// isMade reports whether the answer shows the test that was created.
func isMade(made, found answer) bool {
	return found.ok() && foldID(found.text("id")) == foldID(made.text("id")) && sameText(found.row()["name"], made.call.object()["name"])
}

// found reads the test in which a creation was answered.
func (c *check) found(made answer) answer {
	return c.one(c.as(dataset.Main, spec.MustOperation(spec.GetPlacementTest)).withID(made.text("id")))
}

// nullable are the fields of the create body that may be null.
var nullable = []string{"delivery_mode", "description", "campaign_id", "test_code", "tags", "text_only",
	"timestamp_next_run", "automations", "status", "not_sending_status"}

// readOnlyValues are valid values of the read-only fields that no server would choose by itself.
func (c *check) readOnlyValue(field string) any {
	switch field {
	case "recipients":
		return []string{c.word() + "@example.com"}
	case "timestamp_created":
		return "2001-02-03T04:05:06.789Z"
	default:
		return c.freshID()
	}
}

// cannotSet: the body is refused, or the field keeps the server's own value.
func (c *check) cannotSet(requirement, field string) {
	value := c.readOnlyValue(field)
	a := c.one(c.request(dataset.Main, spec.MustOperation(spec.CreatePlacementTest)).withField(field, value).open())
	c.observe(spec.SilenceReadOnlySent, a.call.op.ID, "%s: %d", field, a.Status)
	switch {
	case a.Status != http.StatusOK:
		c.expect(requirement, a, beRefused())
		return
	case !a.ok():
		c.missing(requirement, a.call.op.ID, "%s", a.lacks())
		return
	}
	other := be("a value other than the one sent", gomega.Not(equalJSON(value)))
	set := false
	look := func(b answer, pointer string, row map[string]any) {
		if !matches(requirement, other, row[field]) {
			set = true
			c.violate(requirement, b, pointer, other.words, describe(row[field]))
		}
	}
	found := c.found(a)
	look(a, "/"+field, a.row())
	look(found, "/"+field, found.row())
	list := c.walk(c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests)), pagesOf(maxLimit))
	for p, page := range list.Pages {
		for i, row := range page.Rows {
			if row.Key == foldID(a.text("id")) || row.Key == value {
				look(list.at(p), pointerIn(i)+"/"+field, row.Value)
			}
		}
	}
	switch {
	case set:
	case !isMade(a, found) || found.row()[field] == nil:
		c.missing(requirement, a.call.op.ID, "a get that shows the test that was created, with %s", field)
	default:
		c.assess(requirement, a.call.op.ID)
	}
}

// getLikeList reads some of the list's rows one by one and compares the fields that both show.
func (c *check) getLikeList() {
	const requirement = "STATE-GET-LIST"
	get := c.as(dataset.Main, spec.MustOperation(spec.GetPlacementTest))
	list := c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests))
	made := c.newTest()
	before := byKey(c.walk(list, pagesOf(maxLimit)))
	var calls []call
	for _, id := range sample(before, 10) {
		calls = append(calls, get.withID(id))
	}
	answers := append(c.send(calls...), c.valid(get.withID(made.text("id")))...) // the others' tests may be gone
	after := byKey(c.walk(list, pagesOf(maxLimit)))
	for _, a := range answers {
		id := foldID(a.call.id)
		row, still := after[id]
		if !a.ok() || !still || !covers(before[id], row) {
			continue // gone, or changed meanwhile
		}
		c.assess(requirement, get.op.ID)
		for field, value := range row {
			if shown, ok := a.row()[field]; ok {
				c.expectAt(requirement, a, "/"+field, shown, agreeWith(value))
			}
		}
	}
	if len(c.judged) == 0 {
		c.lack("a test that the list and a get both show")
	}
}

// metadata shows only when a get asks for it, of whatever test.
func metadata() []Spec {
	get := spec.MustOperation(spec.GetPlacementTest)
	absent := be("absent", gomega.BeNil())
	object := be("an object", gomega.BeAssignableToTypeOf(map[string]any{}))
	judging := func(title, requirement, value string, m matcher) Spec {
		return Spec{get.ID, title, on(get, requirement), func(c *check) {
			create := c.request(dataset.Main, spec.MustOperation(spec.CreatePlacementTest))
			for _, k := range []call{create, c.withAllOptional(create)} {
				made := c.must(k)
				reading := c.as(dataset.Main, get).withID(made.text("id"))
				if value != "" {
					reading = reading.with("with_metadata", value)
				}
				a := c.must(reading)
				if !isMade(made, a) {
					c.lack("a get that shows the test that was created")
				}
				c.expectAt(requirement, a, "/metadata", a.row()["metadata"], m)
			}
		}}
	}
	return []Spec{
		judging("shows metadata when asked", "META-TRUE", "true", object),
		judging("shows no metadata when told not to", "META-FALSE", "false", absent),
		judging("shows no metadata unasked", "META-ABSENT", "", absent),
	}
}

// placementTestPages judges what only this list can show: sorting, and rows
// that come and go while it is walked.
func placementTestPages() []Spec {
	op := spec.MustOperation(spec.ListPlacementTests)
	return []Spec{
		{op.ID, "sorts ascending", on(op, "SORT-ASC"), func(c *check) { c.sorted("SORT-ASC", "asc") }},
		{op.ID, "sorts descending", on(op, "SORT-DESC"), func(c *check) { c.sorted("SORT-DESC", "desc") }},
		{op.ID, "keeps a walk whole while rows are inserted", on(op, "PAGE-INSERT"), func(c *check) {
			c.walkWhile("PAGE-INSERT", "", c.insertRow)
			c.walkWhile("PAGE-INSERT", "desc", c.insertRow) // new rows come first
		}},
		{op.ID, "keeps a walk whole while rows are deleted", on(op, "PAGE-REMOVE"), func(c *check) { c.walkWhile("PAGE-REMOVE", "", c.removeRow()) }},
	}
}

// sorted walks in both page sizes with a sort order: the right direction, and
// each row once, as without it.
func (c *check) sorted(requirement, order string) {
	list := c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests))
	before := c.walk(list, pagesOf(maxLimit))
	sorted := c.walk(list.with("sort_order", order), pagesOf(maxLimit))
	small := c.walk(list.with("sort_order", order), pagesOf(7))
	after := c.walk(list, pagesOf(maxLimit))
	if len(before.Rows()) < 2 || len(after.Rows()) < 2 {
		c.lack("at least two rows in the list")
	}
	for _, j := range []journey{sorted, small} {
		c.ordered(requirement, j, order)
		c.once(requirement, []journey{j}, 0)
		c.complete(requirement, j, missingBetween(before, j, after))
	}
}

// walkWhile changes the list between the pages of a walk, in the order that is
// asked for, if any. The walk must go on to its end, and show exactly once what
// an unchanged walk before and one after both show.
func (c *check) walkWhile(requirement, order string, change func(page int, seen answer)) {
	list := c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests))
	before := c.walk(list, pagesOf(maxLimit))
	during := journey{list: list}
	if order != "" {
		during.list = list.with("sort_order", order)
	}
	fetch := c.fetch(during.list, c.send, &during.answers)
	during.Walk = paging.Run(c.ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if err == nil {
			change(len(during.answers)-1, during.last())
		}
		return page, err
	}, pagesOf(pageWhile), c.maxPages())
	after := c.walk(list, pagesOf(maxLimit))
	switch {
	case len(during.answers) < 2:
		c.lack("at least two pages of the list")
	case during.End == paging.Capped:
		c.lack("a list that ends within %d pages", c.maxPages())
	case during.End == paging.Broken && during.last().Status == http.StatusOK:
		c.lack("%s while the list changes", during.Err)
	case !during.Complete():
		c.violate(requirement, during.last(), "", "a page that leads on to the end of the list, as before it changed",
			fmt.Sprintf("%d, %s", during.last().Status, during.End))
		return
	}
	c.once(requirement, []journey{during}, 0)
	c.complete(requirement, during, missingBetween(before, during, after))
}

// pageWhile is the size of the pages between which the list changes: less than
// the rows that removeRow makes, so that a page ends among them.
const pageWhile = 2*handful - 1

// insertRow creates a test after each of the first pages.
func (c *check) insertRow(page int, _ answer) {
	if page < handful {
		c.newTest()
	}
}

// removeRow makes rows of its own and deletes them as the walk passes: whenever
// the page just read ends in one, its cursor points to a row that is then gone.
func (c *check) removeRow() func(int, answer) {
	remove := c.as(dataset.Main, spec.MustOperation(spec.DeletePlacementTest))
	own := map[string]bool{}
	for range 2 * handful {
		own[foldID(c.newTest().text("id"))] = true
	}
	return func(_ int, seen answer) {
		for _, row := range seen.Rows {
			if id := keyOf(row); own[id] {
				c.must(remove.withID(id))
				delete(own, id)
			}
		}
	}
}
