package faults

import (
	"fmt"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// deletionDefects delete nothing, something else, or too much (STATE-DELETE-…).
func deletionDefects() []Defect {
	remembering := when(always, noteDeletion)
	defects := slices.Concat(
		deletionMistakes.on("", remembering, altered("InboxPlacementTest"), altered("Subsequence"),
			on(itsList, always, hide(func(x *exchange, row fields) bool { return x.memory.has("taken " + textOf(row, "id")) }))),
		listMistakes.on(itsList, remembering),
		getMistakes.on(spec.GetPlacementTest, remembering),
		toDeletedMistakes.on("", on(spec.DeleteSubsequence, always, noteDeletion)),
		onEach(spec.StateDeleteAgain, "refuses a second deletion and restores the resource",
			on(spec.GetPlacementTest, remembered("restored "), func(x *exchange) { x.show(x.memory.value("restored " + x.ID)) }),
			on(itsList, noCursor, items(func(x *exchange, items []any) []any { return append(items, x.memory.all("restored")...) })),
			when(isDeleted, restore), remembering),
		onEach(spec.StateDeleteOthers, "also removes the last label", vanish(spec.ListLeadLabels)...))
	for _, op := range spec.StateDeleteList.Operations() {
		for _, f := range filtersIn(listOf(op.ID)) {
			defects = append(defects, defect(spec.StateDeleteList, op.ID, "still shows the deleted resource to the filter "+f.Word,
				on(itsList, all(f.isUsed, noCursor), listDeleted(f.mayShow)), remembering))
		}
	}
	return append(defects,
		defect(spec.StateDeleteList, spec.DeletePlacementTest, "still shows the deleted test in a sorted list",
			on(itsList, all(has(profile.ParamSortOrder), noCursor), listDeleted(anyRow)), remembering),
		defect(spec.StateDeleteAnswer, spec.DeleteSubsequence, "refuses to delete a subsequence to which a lead was moved",
			when(all(remembered("referred "), func(x *exchange) bool { return x.owns(dataset.Main) }), refuse(409)),
			on(spec.MoveLead, served, func(x *exchange) { x.memory.put("referred "+textOf(x.body(), "subsequence_id"), true) })),
		// A run creates two tests of one name, and no subsequence.
		defect(spec.StateDeleteOthers, spec.DeletePlacementTest, "also deletes the tests of the same name",
			on(itsList, always, hide(func(x *exchange, row fields) bool { return x.memory.has("name " + textOf(row, "name")) })),
			when(served, func(x *exchange) { x.memory.put("name "+textOf(x.body(), "name"), true) })))
}

var deletionMistakes = mistakes{
	spec.StateDeleteAnswer: {
		{"answers a deletion with another id", served, set("id", ofText(anotherID))},
		{"answers a deletion with the name cut short", served, set("name", cutShort)},
		{"answers a deletion with a timestamp_created one hour late", served, set("timestamp_created", ofText(hourLater))},
		{"answers a deletion with another resource under its id", always, showAnother},
	},
	spec.StateDeleteList: {
		{"reports a deletion and keeps the resource", permitted, keep},
	},
	spec.StateDeleteAgain: {
		{"answers a second deletion as the first one", isDeleted, showDeleted},
		{"answers 410 to a second deletion", isDeleted, refuse(410)},
		{"answers 500 to a second deletion", isDeleted, refuse(500)},
	},
	spec.StateDeleteOthers: {
		{"also deletes the oldest one", always, take(func(ids []string, i int) []string { return ids[:min(1, i)] })},
		{"also deletes the next newer one", always, take(func(ids []string, i int) []string { return ids[i+1 : min(i+2, len(ids))] })},
		{"puts its name into the next newer one", always, func(x *exchange) {
			ids := x.idsInOrder()
			if i, found := slices.BinarySearch(ids, x.ID); found && x.served() && i+1 < len(ids) {
				x.alter(ids[i+1], "name", textOf(x.body(), "name")+" of the deleted")
			}
		}},
	},
}

// listMistakes still show the deleted resource in a list.
var listMistakes = mistakes{spec.StateDeleteList: {
	{"shows the deleted resource on the first page", firstPage, listDeleted(anyRow)},
	{"shows the deleted resource on the last page", noCursor, listDeleted(anyRow)},
}}

// getMistakes find a deleted test by its id, or answer something else than 404.
var getMistakes = mistakes{spec.StateDeleteGet: {
	{"shows a deleted test by its id", isDeleted, showDeleted},
	{"shows a deleted test with its metadata", all(isDeleted, with(withMetadata, "true")), showDeleted},
	{"answers 410 to a get of a deleted test", isDeleted, refuse(410)},
	{"answers 500 to a get of a deleted test", isDeleted, refuse(500)},
}}

var toDeletedMistakes = mistakes{spec.StateDeleteMove: {
	{"moves a lead to a deleted subsequence", toDeleted, standIn(dataset.Main)},
	{"redirects the move of a lead to a deleted subsequence", toDeleted, redirect},
	{"answers 500 to the move of a lead to a deleted subsequence", toDeleted, refuse(500)},
}}

// noteDeletion remembers the resource that a deletion shows.
func noteDeletion(x *exchange) {
	if row := x.body(); row != nil {
		x.memory.put("deleted "+x.ID, row)
		x.memory.add("deleted", row)
	}
}

var isDeleted = remembered("deleted ")

func toDeleted(x *exchange) bool {
	return x.memory.has("deleted " + textOf(x.sent(), "subsequence_id"))
}

// showDeleted answers with the resource as its deletion showed it.
func showDeleted(x *exchange) { x.show(x.memory.value("deleted " + x.ID)) }

// restore shows the resource again once its deletion is repeated.
func restore(x *exchange) {
	if row, ok := x.memory.take("deleted " + x.ID); ok && x.got(404) {
		x.memory.put("restored "+x.ID, row)
		x.memory.add("restored", row)
	}
}

// listDeleted shows the deleted resources that fit at the end of a page.
func listDeleted(fits func(x *exchange, row fields) bool) verb {
	return items(func(x *exchange, items []any) []any {
		for _, deleted := range x.memory.all("deleted") {
			if row, ok := deleted.(fields); ok && fits(x, row) {
				items = append(items, row)
			}
		}
		return items
	})
}

func anyRow(*exchange, fields) bool { return true }

// mayShow reports whether the filter may show the row if it has the value that is asked for.
func (f filter) mayShow(x *exchange, row fields) bool {
	return (fmt.Sprint(row[f.field]) == x.param(f.Key)) != (f.Kind == spec.Exclude)
}

// keep answers a deletion as if it were done, and keeps the resource.
func keep(x *exchange) {
	if row, ok := x.rowByID(x.reader(), x.ID); ok {
		x.show(row)
	}
}

// showAnother answers with another row of the list under the id.
func showAnother(x *exchange) {
	known := x.listFor(listOf(x.Operation), x.reader())
	if i := slices.IndexFunc(known, func(r row) bool { return r.text("id") != x.ID }); i >= 0 && x.served() {
		other := copyOf(known[i].fields).(fields)
		other["id"] = x.ID
		x.show(other)
	}
}

// take hides others with the deleted resource, which is at i in the order of time.
func take(of func(ids []string, i int) []string) verb {
	return func(x *exchange) {
		ids := x.idsInOrder()
		if i, found := slices.BinarySearch(ids, x.ID); found && x.served() {
			for _, victim := range of(ids, i) {
				x.memory.put("taken "+victim, true)
			}
		}
	}
}

// idsInOrder returns the ids of the resources in the order of time, without what is taken.
func (x *exchange) idsInOrder() []string {
	var ids []string
	for _, r := range x.listFor(listOf(x.Operation), x.reader()) {
		if id := r.text("id"); !x.memory.has("taken "+id) || id == x.ID {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
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
