package faults

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// isolationDefects let a workspace see or change what belongs to another one. They leave
// nothing of the other one deleted.
func isolationDefects() []Defect {
	foreign := all(asks(dataset.Main), ownedBy(dataset.Second))
	unrelated := all(asks(dataset.Outsider), ownedBy(dataset.Main))
	// A server may read a test with its metadata elsewhere, and compare ids as texts.
	inOtherForm := func(x *exchange) bool {
		if x.Operation == spec.GetPlacementTest {
			return x.Query.Has("with_metadata")
		}
		return x.resourceID() != strings.ToLower(x.resourceID())
	}
	second := func(x *exchange) string { return x.Profile.Workspaces[dataset.Second].ID }
	nobody := func(x *exchange) string { return anotherID(x.home().ID) }
	leaks := func(from, to string) []Defect {
		return onEach(spec.IsolationList, "shows a row of "+from+" in the list of "+to, when(all(asks(to), noCursor), leak(from)))
	}
	defects := slices.Concat(
		leaks(dataset.Second, dataset.Main), leaks(dataset.Outsider, dataset.Second),
		onEach(spec.IsolationOwner, "names another workspace as the owner of the last row", when(noCursor, owned(nobody))),
		mishandled(
			kind{spec.IsolationID, "another workspace's id", foreign, standIn(dataset.Second), 500},
			kind{spec.IsolationID, "the main workspace's id for an unrelated workspace", unrelated, standIn(dataset.Main), 500},
			kind{spec.IsolationSubsequence, "another workspace's subsequence", namesForeign("subsequence_id"), standIn(dataset.Main), 500}),
		onEach(spec.IsolationID, "serves it in upper case letters, or with metadata", when(all(inOtherForm, foreign), standIn(dataset.Second))),
		onEach(spec.IsolationCreate, "creates a test of the second workspace in the main one",
			when(asks(dataset.Second), then(withKey(dataset.Main), owned(second)))),
		onEach(spec.IsolationCreate, "creates a test for a campaign of another workspace",
			when(namesForeign("campaign_id"), put("campaign_id", func(x *exchange, _ any) any { return first(campaigns(x)) }))),
	)
	for _, f := range filtersIn("") {
		defects = append(defects, defect(spec.IsolationFilter, f.operation, "also finds a row of another workspace by the filter "+f.Word,
			when(all(asks(dataset.Main), f.isUsed, noCursor), leak(dataset.Second))))
	}
	return append(defects, mistakes{spec.IsolationUntouched: {
		// The row only seems to be gone: a profile lends the second workspace's rows for reading.
		{"refuses to delete another workspace's resource but deletes it", all(foreign, refused), func(x *exchange) { x.memory.put("gone "+x.ID, true) }},
		{"refuses an unrelated workspace a deletion but makes it", all(unrelated, refused), carryOut},
	}}.on("", on(get, remembered("gone "), refuse(404)),
		on(itsList, served, hide(func(x *exchange, row fields) bool { return x.memory.has("gone " + textOf(row, "id")) })))...)
}

// namesForeign is a request of the main workspace whose body names something of the second one.
func namesForeign(field string) occasion {
	return func(x *exchange) bool {
		return asks(dataset.Main)(x) && slices.ContainsFunc(x.Profile.Workspaces[dataset.Second].Entries(), func(e profile.Entry) bool {
			return slices.Contains(e.IDs, textOf(x.sent(), field))
		})
	}
}

// owned names a workspace as the owner of the last row.
func owned(workspace func(x *exchange) string) verb {
	return rows(lastRow, func(x *exchange, row fields) { claim(x.Operation, row, workspace(x)) })
}

// leak adds a row to a page that the role's workspace would see. The row names the workspace
// that asks as its owner, so that only a comparison with the list of the other reveals it.
func leak(from string) verb {
	return items(func(x *exchange, items []any) []any {
		r := x.withToken(x.key(from))
		r.Query.Del(x.parameterName(profile.ParamStartingAfter))
		theirs, _ := x.ask(r)
		for _, row := range lastRow(rowsIn(x.Operation, decodedOrNil(theirs.Body))) {
			claim(x.Operation, row, x.home().ID)
			items = append(items, row)
		}
		return items
	})
}
