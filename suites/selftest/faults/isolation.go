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
	upperCase := func(x *exchange) bool { return x.names() != strings.ToLower(x.names()) }
	foreignSubsequence := namesForeign("subsequence_id", func(w profile.Workspace) []string { return w.Subsequences })
	foreignCampaign := namesForeign("campaign_id", func(w profile.Workspace) []string { return w.Campaigns })
	second := func(x *exchange) string { return x.Profile.Workspaces[dataset.Second].ID }
	nobody := func(x *exchange) string { return anotherID(x.home().ID) }
	defects := slices.Concat(
		onEach(spec.IsolationOwner, "owned-by-another", "names another workspace as the owner", when(served, owned(eachRow, second))),
		onEach(spec.IsolationOwner, "owned-by-nobody", "names a workspace that does not exist as the owner", when(served, owned(eachRow, nobody))),
		onLists(spec.IsolationOwner, "last-row-owned-by-another", "names another workspace as the owner of the last row", when(noCursor, owned(lastRow, second))),
		onEach(spec.IsolationID, "serves-foreign-id", "serves another workspace's resource", when(foreign, standIn(dataset.Second))),
		onEach(spec.IsolationID, "serves-foreign-id-in-upper-case", "serves it if the id has upper case letters", when(all(upperCase, foreign), standIn(dataset.Second))),
		onEach(spec.IsolationID, "500-for-foreign-id", "answers 500 for it", when(foreign, refuse(500))),
		onEach(spec.IsolationID, "serves-unrelated-workspace", "serves a workspace below another admin workspace, too", when(unrelated, standIn(dataset.Main))),
		[]Defect{
			defect(spec.IsolationID, spec.GetPlacementTest, "serves-foreign-id-with-metadata", "serves another workspace's test with its metadata",
				when(all(has("with_metadata"), foreign), standIn(dataset.Second))),
			defect(spec.IsolationSubsequence, spec.MoveLead, "to-foreign-subsequence", "moves a lead to another workspace's subsequence",
				when(foreignSubsequence, standIn(dataset.Main))),
			defect(spec.IsolationSubsequence, spec.MoveLead, "500-for-foreign-subsequence", "answers 500 for another workspace's subsequence",
				when(foreignSubsequence, refuse(500))),
			defect(spec.IsolationCreate, spec.CreatePlacementTest, "in-another-workspace", "creates a test of the second workspace in the main one",
				when(asks(dataset.Second), then(withKey(dataset.Main), owned(eachRow, second)))),
			defect(spec.IsolationCreate, spec.CreatePlacementTest, "for-a-foreign-campaign", "creates a test for a campaign of another workspace",
				when(foreignCampaign, put("campaign_id", func(x *exchange, _ any) any { return first(campaigns(x)) }))),
		},
	)
	// The row names the workspace that sees it as its owner, so that only a comparison of the
	// lists of these two reveals it.
	for _, l := range []struct {
		id, from, to string
		page         occasion
	}{
		{"first-page-leaks-a-row", dataset.Second, dataset.Main, firstPage},
		{"last-page-leaks-a-row", dataset.Second, dataset.Main, noCursor},
		{"leaks-a-row-to-another", dataset.Main, dataset.Second, noCursor},
		{"leaks-a-row-to-sub-workspace", dataset.Main, dataset.SubA, noCursor},
		{"leaks-a-row-of-sub-workspace", dataset.Outsider, dataset.Second, noCursor},
	} {
		defects = append(defects, onEach(spec.IsolationList, l.id, "shows a row of "+l.from+" in the list of "+l.to, when(all(asks(l.to), l.page), leak(l.from)))...)
	}
	for _, f := range filterTable {
		defects = append(defects, defect(spec.IsolationFilter, f.operation, f.name()+"-reaches-another", "also finds a row of another workspace by "+f.field,
			when(all(asks(dataset.Main), f.set, noCursor), leak(dataset.Second))))
	}
	for _, op := range spec.IsolationUntouched.Operations() {
		defects = append(defects,
			// The row only seems to be gone: a profile lends the second workspace's rows for reading.
			defect(spec.IsolationUntouched, op.ID, "refuses-and-deletes", "refuses to delete another workspace's resource but deletes it",
				when(all(foreign, refused), func(x *exchange) { x.memory.put("gone "+x.ID, true) }),
				on(spec.GetPlacementTest, remembered("gone "), refuse(404)),
				on(listOf(op.ID), served, hide(func(x *exchange, row map[string]any) bool { return x.memory.has("gone " + textOf(row, "id")) }))),
			defect(spec.IsolationUntouched, op.ID, "refuses-unrelated-and-deletes", "refuses an unrelated workspace a deletion but makes it",
				when(all(unrelated, refused), carryOut)))
	}
	return defects
}

// ownedBy is a request for a resource of the role's workspace.
func ownedBy(role string) occasion { return func(x *exchange) bool { return x.owns(role) } }

// namesForeign is a request of the main workspace whose body names one of the second one's ids.
func namesForeign(field string, ids func(profile.Workspace) []string) occasion {
	return func(x *exchange) bool {
		return asks(dataset.Main)(x) && slices.Contains(ids(x.Profile.Workspaces[dataset.Second]), textOf(x.sent(), field))
	}
}

// owned names a workspace as the owner of rows.
func owned(choose choice, workspace func(x *exchange) string) verb {
	return rows(choose, func(x *exchange, row map[string]any) { claim(x.Operation, row, workspace(x)) })
}

// leak adds a row to a page that the role's workspace would see.
func leak(from string) verb {
	return items(func(x *exchange, items []any) []any {
		r := x.withToken(x.key(from))
		r.Query.Del(x.named(profile.ParamStartingAfter))
		theirs, _ := x.ask(r)
		for _, row := range lastRow(rowsIn(x.Operation, decodedOrNil(theirs.Body))) {
			claim(x.Operation, row, x.home().ID)
			items = append(items, row)
		}
		return items
	})
}
