package faults

import (
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// adminDefects make moves with a key that has no right to move, or between workspaces of
// different admin workspaces (Authentication, rule 4).
func adminDefects() []Defect {
	var defects []Defect
	add := func(breaks spec.ID, id, doc string, rules ...rule) {
		defects = append(defects, defect(breaks, spec.MoveAccounts, id, doc, rules...))
	}
	mistakes := func(breaks spec.ID, id, what string, by occasion) {
		add(breaks, id+"-told-success", "reports success for "+what+" without acting", when(by, success))
		add(breaks, id+"-500", "answers 500 to "+what, when(by, refuse(500)))
		add(breaks, id+"-refused-but-moved", "refuses "+what+" but makes it", movedAnyway(by, 403)...)
	}
	mistakes(spec.AdminKey, "stranger-key", "a move with the key of an unrelated workspace", asks(dataset.Second))
	add(spec.AdminKey, "sub-workspace-served", "lets every workspace of an admin workspace move accounts", when(either(asks(dataset.SubA), asks(dataset.SubB)), allow))
	mistakes(spec.AdminSame, "destination-outside", "a move into a workspace of another admin workspace", across("destination_workspace_id", true))
	add(spec.AdminSame, "source-outside-told-success", "reports success for a move out of a workspace of another admin workspace", when(across("source_workspace_id", true), success))
	add(spec.AdminSame, "destination-unknown-told-success", "reports success for a move to nowhere", when(across("destination_workspace_id", false), success))
	add(spec.AdminSame, "source-unknown-told-success", "reports success for a move from nowhere", when(across("source_workspace_id", false), success))
	mistakes(spec.IsolationAccounts, "other-admin-key", "a move with the key of another admin workspace", asks(dataset.OutsiderAdmin))
	add(spec.IsolationAccounts, "other-admin-key-served", "lets every admin workspace move all accounts", when(asks(dataset.OutsiderAdmin), allow))
	return defects
}

// across is a move by the admin workspace whose field names a workspace that is not below it:
// one that the profile knows, or one that does not exist.
func across(field string, known bool) occasion {
	return func(x *exchange) bool {
		id := textOf(x.sent(), field)
		admin := x.Profile.AdminOf(id)
		return asks(dataset.Admin)(x) && isUUID(id) && admin != x.home().ID && known == (admin != "")
	}
}

// someUnknown is a move that names an account that the profile does not know.
func someUnknown(x *exchange) bool {
	return slices.ContainsFunc(emailsIn(x), func(email string) bool {
		return !slices.Contains(x.Profile.Workspaces[dataset.SubA].Accounts, email)
	})
}

// movedAnyway refuses a move, after which the accounts seem to be gone. The target receives
// no move: it would refuse some of them.
func movedAnyway(by occasion, status int) []rule {
	return []rule{
		when(by, func(x *exchange) {
			for _, place := range places(x) {
				x.memory.put(place, true)
			}
			refuse(status)(x)
		}),
		when(func(x *exchange) bool { return validKey(x) && slices.ContainsFunc(places(x), x.memory.has) }, refuse(404)),
	}
}

// places returns where a move takes its accounts from.
func places(x *exchange) []string {
	from := emailsIn(x)
	for i := range from {
		from[i] += " in " + textOf(x.sent(), "source_workspace_id")
	}
	return from
}
