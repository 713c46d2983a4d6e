package faults

import (
	"fmt"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// moveDefects change another campaign, lead or account than the named one, or change more
// than was asked for.
func moveDefects() []Defect {
	return slices.Concat(moveMistakes.on("", altered("Campaign"), altered("Lead"), altered("Subsequence")), accountDefects(),
		onEach(spec.LeadMoveSubsequence, "also removes the last label", vanish(spec.ListLeadLabels)...))
}

// alter makes later views of a row show another value, where a rule of altered shows it.
func (x *exchange) alter(id, field string, value any) {
	x.memory.put("altered", true)
	x.memory.put("altered "+id+" "+field, value)
}

// altered shows in every view of the resource what alter put into its rows.
func altered(resource string) rule {
	concerned := func(x *exchange) bool {
		return x.memory.has("altered") && spec.MustOperation(x.Operation).Resource == resource
	}
	return on(anyOperation, concerned, rows(eachRow, func(x *exchange, row fields) {
		for field := range row {
			if value, ok := x.memory.get("altered " + textOf(row, "id") + " " + field); ok {
				row[field] = value
			}
		}
	}))
}

// vanish removes the last row of a list with each change.
func vanish(list string) []rule {
	return []rule{
		when(served, func(x *exchange) { x.memory.count("vanished") }),
		on(list, all(noCursor, not(has(profile.ParamSortOrder))), items(func(x *exchange, items []any) []any {
			return items[:max(0, len(items)-x.memory.counted("vanished"))]
		})),
	}
}

// numbered counts the answers in a field.
func numbered(field string) verb {
	return rows(eachRow, func(x *exchange, row fields) { row[field] = fmt.Sprint(row[field], " ", x.memory.count("answers")) })
}

// intoNext puts the field of a changed resource, with the number of changes, into the one
// after it in the profile.
func intoNext(field string, ids func(x *exchange) []string) verb {
	return func(x *exchange) {
		known := ids(x)
		value := textOf(x.body(), field)
		if i := slices.Index(known, textOf(x.body(), "id")); value != "" && i >= 0 && len(known) > 1 {
			x.alter(known[(i+1)%len(known)], field, fmt.Sprint(value, x.memory.count("changes")))
		}
	}
}

// repeatFirst repeats the answer to the first request.
var repeatFirst = keepAnswerTo(func(*exchange) string { return "" }, served)

// besides returns the id after another, or the same id if it is the only one.
func besides(ids []string, id string) string {
	if len(ids) == 0 {
		return id
	}
	return ids[(slices.Index(ids, id)+1)%len(ids)]
}

func campaigns(x *exchange) []string { return x.Profile.Workspaces[dataset.Main].Campaigns }
func leads(x *exchange) []string     { return x.Profile.Workspaces[dataset.Main].Leads }

// several is a body with a list of more than one entry.
func several(field string) occasion {
	return sends(field, func(v any) bool { items, ok := v.([]any); return ok && len(items) > 1 })
}

// moveMistakes are of changes that answer with the changed resource.
var moveMistakes = mistakes{
	spec.VariablesCampaign: {
		{"adds the variables to another campaign", always, swapID(func(x *exchange) string { return besides(campaigns(x), x.ID) })},
		{"adds to the name of the campaign with each request", served, numbered("name")},
		{"answers with the first campaign that it changed", always, repeatFirst},
		{"answers with the campaign under a different id if several variables are added", several("variables"), set("id", ofText(anotherID))},
		{"puts the name of a changed campaign into the next one of the profile", served, intoNext("name", campaigns)},
	},
	spec.LeadMoveLead: {
		{"moves another lead", always, put("id", func(x *exchange, id any) any { return besides(leads(x), fmt.Sprint(id)) })},
		{"answers with the first lead that it moved", always, repeatFirst},
		{"answers with the lead under a different id", served, set("id", ofText(anotherID))},
		{"puts the email of a moved lead into the next one of the profile", served, intoNext("email", leads)},
		{"changes the first name of a lead with each move", served, numbered("first_name")},
	},
	spec.LeadMoveSubsequence: {
		{"answers with a lead as it was after its first move", always, repeatFirst},
		{"answers with a different subsequence_id", served, set("subsequence_id", ofText(anotherID))},
		{"answers without subsequence_id", served, set("subsequence_id", leftOut)},
		{"answers with the lead as it was before the move", served, rows(eachRow, func(x *exchange, row fields) {
			place := "place of " + textOf(row, "id")
			before, known := x.memory.get(place)
			x.memory.put(place, row["subsequence_id"])
			if row["subsequence_id"] = before; !known {
				delete(row, "subsequence_id")
			}
		})},
		{"puts the email of a moved lead into the name of its subsequence", served, func(x *exchange) {
			if email := textOf(x.body(), "email"); email != "" {
				x.alter(textOf(x.sent(), "subsequence_id"), "name", email)
			}
		}},
	},
}

// accountDefects report success for a move that is incomplete. They leave every account where
// it can be found.
func accountDefects() []Defect {
	only := func(of func(emails []any) []any) verb {
		return put("emails", func(_ *exchange, sent any) any { return of(sent.([]any)) })
	}
	// The first move of an account is skipped, too: that is invisible, and could not be rolled
	// back.
	once := func(x *exchange) {
		success(x)
		for _, email := range emailsIn(x) {
			if x.memory.count("moved "+email) > 1 {
				refuse(409)(x)
			}
		}
	}
	fromHome := func(x *exchange) bool {
		source := textOf(x.sent(), "source_workspace_id")
		for _, w := range x.Profile.Workspaces {
			if w.ID == source && slices.ContainsFunc(w.Accounts, func(email string) bool { return slices.Contains(emailsIn(x), email) }) {
				return true
			}
		}
		return false
	}
	return mistakes{spec.AccountsMoved: {
		{"reports success for the first move of an account without moving it", fromHome, success},
		{"refuses to move an account twice", always, once},
		{"moves only the first of several accounts", several("emails"), only(func(emails []any) []any { return emails[:1] })},
		{"moves all but the last of several accounts", several("emails"), only(func(emails []any) []any { return emails[:len(emails)-1] })},
	}}.on("")
}

// emailsIn returns the accounts that a move names.
func emailsIn(x *exchange) (emails []string) {
	items, _ := x.sent()["emails"].([]any)
	for _, item := range items {
		if email, ok := item.(string); ok {
			emails = append(emails, email)
		}
	}
	return emails
}
