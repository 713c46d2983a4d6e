package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// deletionDefects delete nothing, something else, or too much (STATE-DELETE-…).
func deletionDefects() []Defect {
	var defects []Defect
	for _, op := range spec.StateDeleteAnswer.Operations() {
		defects = slices.Concat(defects, shownDeletions(op.ID), incompleteDeletions(op.ID), repeatedDeletions(op.ID), wideDeletions(op.ID))
	}
	return slices.Concat(defects, gotDeletions(), moveToDeleted())
}

// noteDeletion remembers the resource that a deletion shows.
func noteDeletion(x *exchange) {
	if row := x.body(); row != nil {
		x.memory.put("deleted "+x.ID, row)
		x.memory.add("deleted", row)
	}
}

var isDeleted = remembered("deleted ")

// showDeleted answers with the resource as its deletion showed it.
func showDeleted(x *exchange) {
	row, _ := x.memory.get("deleted " + x.ID)
	x.show(row)
}

// listDeleted shows the deleted resources that fit at the end of a page.
func listDeleted(fits func(x *exchange, row map[string]any) bool) verb {
	return items(func(x *exchange, items []any) []any {
		for _, deleted := range x.memory.all("deleted") {
			if row, ok := deleted.(map[string]any); ok && fits(x, row) {
				items = append(items, row)
			}
		}
		return items
	})
}

func anyRow(*exchange, map[string]any) bool { return true }

// keepOnly answers the deletion of a resource that fits as if it were done, and keeps it.
func keepOnly(fits func(row map[string]any) bool) verb {
	return func(x *exchange) {
		if row, ok := x.rowByID(x.reader(), x.ID); ok && fits(row) {
			x.show(row)
		}
	}
}

// reader returns a token that may read everything in the request's workspace.
func (x *exchange) reader() string {
	if key, ok := x.asker(); ok {
		if full, ok := x.Profile.FullKey(key.Workspace); ok {
			return full.Token
		}
	}
	return x.token()
}

// shownDeletions answer with something else than the deleted resource.
func shownDeletions(op string) []Defect {
	shows := func(id, doc string, v verb) Defect {
		return defect(spec.StateDeleteAnswer, op, id, doc, when(served, v))
	}
	another := func(change func(x *exchange, other map[string]any)) verb {
		return func(x *exchange) {
			known := x.listFor(listOf(op), x.reader())
			if i := slices.IndexFunc(known, func(r row) bool { return r.text("id") != x.ID }); i >= 0 {
				other := copyOf(known[i].fields).(map[string]any)
				change(x, other)
				x.show(other)
			}
		}
	}
	defects := []Defect{
		shows("answers-another-id", "answers a deletion with another id", set("id", ofText(anotherID))),
		shows("answers-name-cut-short", "answers a deletion with the name without its last character", set("name", cutShort)),
		shows("answers-created-later", "answers a deletion with a timestamp_created one hour late", set("timestamp_created", ofText(hourLater))),
		shows("answers-another", "answers a deletion with another resource of the list", another(func(*exchange, map[string]any) {})),
		shows("answers-another-under-its-id", "answers a deletion with another resource under the id of the deleted one",
			another(func(x *exchange, other map[string]any) { other["id"] = x.ID })),
	}
	// What only one of the resources has: a value, a list, an object.
	for field, wrong := range map[string]func(any) any{"emails": ofItems(func(items []any) []any { return items[1:] }), "tags": toNull,
		"email_body": ofText(strings.ToUpper), "parent_campaign": ofText(anotherID), "sequences": constant([]any{})} {
		if fieldOf(spec.MustOperation(op).Resource, field) {
			defects = append(defects, shows("answers-another-"+field, "answers a deletion with another "+field, set(field, wrong)))
		}
	}
	if op == spec.DeleteSubsequence {
		// Only a subsequence is referred to by something else.
		defects = append(defects, defect(spec.StateDeleteAnswer, op, "referred-to", "refuses to delete a subsequence to which a lead was moved",
			when(all(remembered("referred "), func(x *exchange) bool { _, ok := x.rowByID(x.reader(), x.ID); return ok }), refuse(http.StatusConflict)),
			on(spec.MoveLead, served, func(x *exchange) { x.memory.put("referred "+textOf(x.body(), "subsequence_id"), true) })))
	}
	slices.SortFunc(defects, func(a, b Defect) int { return strings.Compare(a.ID, b.ID) })
	return defects
}

// fieldOf reports whether the resource has the field.
func fieldOf(resource, path string) bool {
	return slices.ContainsFunc(spec.Fields(), func(f spec.Field) bool { return f.Resource == resource && f.Path == path })
}

// incompleteDeletions keep the deleted resource, or still list it.
func incompleteDeletions(op string) []Defect {
	list := listOf(op)
	stays := func(id, doc string, o occasion, fits func(x *exchange, row map[string]any) bool) Defect {
		return defect(spec.StateDeleteList, op, id, "still shows the deleted resource "+doc,
			on(list, o, listDeleted(fits)), when(always, noteDeletion))
	}
	keeps := func(id, doc string, fits func(row map[string]any) bool) Defect {
		return defect(spec.StateDeleteList, op, id, "reports the deletion of "+doc+" and keeps it", when(always, keepOnly(fits)))
	}
	defects := []Defect{
		stays("stays-on-first-page", "on the first page of the list", firstPage, anyRow),
		stays("stays-on-last-page", "on the last page of the list", noCursor, anyRow),
		keeps("does-nothing", "any resource", func(map[string]any) bool { return true }),
	}
	for _, f := range filtersIn(list) {
		defects = append(defects, stays("stays-under-"+f.name(), "in the list that is filtered by "+f.key, all(f.set, noCursor), f.mayShow))
	}
	if op != spec.DeletePlacementTest {
		return defects
	}
	for _, order := range []string{"asc", "desc"} {
		defects = append(defects, stays("stays-under-"+order, "in the list with sort_order="+order, all(with(profile.ParamSortOrder, order), noCursor), anyRow))
	}
	return append(defects,
		keeps("keeps-active", "an active test", rowHas("status", "1")),
		keeps("keeps-automated", "an automated test", rowHas("type", "2")),
		keeps("keeps-completed-by-method", "a completed test with sending_method 2", func(row map[string]any) bool {
			return rowHas("status", "3")(row) && rowHas("sending_method", "2")(row)
		}))
}

// rowHas matches rows with that value, as text.
func rowHas(field, value string) func(row map[string]any) bool {
	return func(row map[string]any) bool { return fmt.Sprint(row[field]) == value }
}

// mayShow reports whether the filter may show the row if it has the value that is asked for.
func (f filter) mayShow(x *exchange, row map[string]any) bool {
	return rowHas(f.field, x.param(f.key))(row) != (f.kind == excluded)
}

// repeatedDeletions answer a second deletion with anything but 404, or restore the resource.
func repeatedDeletions(op string) []Defect {
	again := func(id, doc string, v verb) Defect {
		return defect(spec.StateDeleteAgain, op, id, doc+" a second deletion", when(isDeleted, v), when(always, noteDeletion))
	}
	restore := func(x *exchange) {
		if row, ok := x.memory.take("deleted " + x.ID); ok && x.got(http.StatusNotFound) {
			x.memory.put("restored "+x.ID, row)
			x.memory.add("restored", row)
		}
	}
	return []Defect{
		again("twice-served", "answers as to the first one to", showDeleted),
		again("twice-410", "answers 410 to", refuse(http.StatusGone)),
		again("twice-500", "answers 500 to", refuse(http.StatusInternalServerError)),
		defect(spec.StateDeleteAgain, op, "restores", "refuses a second deletion and restores the resource",
			on(spec.GetPlacementTest, remembered("restored "), func(x *exchange) {
				row, _ := x.memory.get("restored " + x.ID)
				x.show(row)
			}),
			on(listOf(op), noCursor, items(func(x *exchange, items []any) []any { return append(items, x.memory.all("restored")...) })),
			when(isDeleted, restore), when(always, noteDeletion)),
	}
}

// wideDeletions take or alter others with the deleted resource. They hide them and delete
// nothing.
func wideDeletions(op string) []Defect {
	list := listOf(op)
	hidden := on(list, always, hide(func(x *exchange, row map[string]any) bool { return x.memory.has("taken " + textOf(row, "id")) }))
	takes := func(id, doc string, of func(ids []string, i int) []string) Defect {
		return defect(spec.StateDeleteOthers, op, id, "also deletes "+doc, hidden, when(always, func(x *exchange) {
			ids := x.idsInOrder(list)
			if i, found := slices.BinarySearch(ids, x.ID); found && x.served() {
				for _, victim := range of(ids, i) {
					x.memory.put("taken "+victim, true)
				}
			}
		}))
	}
	defects := []Defect{
		takes("takes-another", "one in the middle of the list", func(ids []string, i int) []string {
			middle := len(ids) / 2
			if i >= middle-1 && i <= middle+1 {
				middle += 3
			}
			return ids[min(middle, len(ids)):min(middle+1, len(ids))]
		}),
		takes("takes-the-next", "the next newer one", func(ids []string, i int) []string { return ids[i+1 : min(i+2, len(ids))] }),
		takes("takes-the-older", "all older ones", func(ids []string, i int) []string { return ids[:i] }),
		defect(spec.StateDeleteOthers, op, "renames-the-next", "puts the name of a deleted resource into the next newer one",
			altered(spec.MustOperation(op).Resource), when(always, func(x *exchange) {
				ids := x.idsInOrder(list)
				if i, found := slices.BinarySearch(ids, x.ID); found && x.served() && i+1 < len(ids) {
					x.alter(ids[i+1], "name", textOf(x.body(), "name")+" of the deleted")
				}
			})),
		defect(spec.StateDeleteOthers, op, "takes-first-event", "also removes the first webhook event", vanish(spec.ListWebhookEvents, false), when(always, noteChange)),
		defect(spec.StateDeleteOthers, op, "takes-last-label", "also removes the last label", vanish(spec.ListLeadLabels, true), when(always, noteChange)),
	}
	if op == spec.DeletePlacementTest { // a run creates two tests of one name, and no subsequence
		defects = append(defects, defect(spec.StateDeleteOthers, op, "takes-namesakes", "also deletes the tests of the same name",
			on(list, always, hide(func(x *exchange, row map[string]any) bool { return x.memory.has("taken " + textOf(row, "name")) })),
			when(served, func(x *exchange) { x.memory.put("taken "+textOf(x.body(), "name"), true) })))
	}
	return defects
}

// idsInOrder returns the ids of the list's rows, in the order of time. What the fault hides
// is gone.
func (x *exchange) idsInOrder(list string) []string {
	var ids []string
	for _, r := range x.listFor(list, x.reader()) {
		if id := r.text("id"); !x.memory.has("taken "+id) || id == x.ID {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// gotDeletions find a deleted test by its id, or answer something else than 404.
func gotDeletions() []Defect {
	const op, get = spec.DeletePlacementTest, spec.GetPlacementTest
	gets := func(id, doc string, o occasion, v verb) Defect {
		return defect(spec.StateDeleteGet, op, id, doc+" a get of a deleted test", on(get, all(isDeleted, o), v), when(always, noteDeletion))
	}
	return []Defect{
		gets("leaves-a-copy", "still shows it to", always, showDeleted),
		gets("leaves-a-copy-with-metadata", "still shows it with its metadata to", with(withMetadata, "true"), showDeleted),
		gets("get-410", "answers 410 to", always, refuse(http.StatusGone)),
		gets("get-500", "answers 500 to", always, refuse(http.StatusInternalServerError)),
	}
}

// moveToDeleted moves leads to deleted subsequences, or breaks on the request.
func moveToDeleted() []Defect {
	toDeleted := func(x *exchange) bool { return x.memory.has("deleted " + textOf(x.sent(), "subsequence_id")) }
	moving := func(id, doc string, v verb) Defect {
		return defect(spec.StateDeleteMove, spec.MoveLead, id, doc+" the move of a lead to a deleted subsequence",
			when(toDeleted, v), on(spec.DeleteSubsequence, always, noteDeletion))
	}
	return []Defect{
		moving("to-deleted-served", "makes", standIn(dataset.Main)),
		moving("to-deleted-302", "redirects", redirect),
		moving("to-deleted-500", "answers 500 to", refuse(http.StatusInternalServerError)),
	}
}
