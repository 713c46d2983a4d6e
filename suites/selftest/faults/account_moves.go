package faults

import (
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// adminDefects make moves with a key that has no right to move, or between workspaces of
// different admin workspaces (Authentication, rule 4).
func adminDefects() []Defect {
	outside := kind{spec.AdminSame, "a source below another admin workspace", across("source_workspace_id", true), success, 500}
	defects := mishandled(outside)
	for _, k := range []kind{
		{spec.AdminKey, "the key of an unrelated workspace", asks(dataset.Second), success, 500},
		{spec.AdminKey, "the key of a sub-workspace", either(asks(dataset.SubA), asks(dataset.SubB)), allow, 500},
		{spec.AdminSame, "a destination below another admin workspace", across("destination_workspace_id", true), success, 500},
		{spec.AdminSame, "a destination that does not exist", across("destination_workspace_id", false), success, 500},
		{spec.IsolationAccounts, "the key of another admin workspace", asks(dataset.OutsiderAdmin), success, 500},
	} {
		defects = slices.Concat(defects, mishandled(k), onEach(k.breaks, "refuses "+k.who+" but moves the accounts", movedAnyway(k.fits, 403)...))
	}
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
