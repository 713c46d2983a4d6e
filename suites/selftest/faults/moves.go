package faults

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// moveDefects change another campaign, lead or account than the named one, or change more
// than was asked for.
func moveDefects() []Defect {
	return slices.Concat(variableDefects(), leadDefects(), accountDefects())
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
	return on(anyOperation, concerned, rows(eachRow, func(x *exchange, row map[string]any) {
		for field := range row {
			if value, ok := x.memory.get("altered " + textOf(row, "id") + " " + field); ok {
				row[field] = value
			}
		}
	}))
}

// noteChange counts the changes that vanish follows.
func noteChange(x *exchange) {
	if x.served() {
		x.memory.count("changes")
	}
}

// vanish removes a row of a list with each change: the first one, or the last.
func vanish(list string, last bool) rule {
	end := firstPage
	if last {
		end = noCursor
	}
	return on(list, all(end, func(x *exchange) bool { return !x.Query.Has("sort_order") }), items(func(x *exchange, items []any) []any {
		most := min(x.memory.counted("changes"), len(items))
		if last {
			return items[:len(items)-most]
		}
		return items[most:]
	}))
}

// numbered gives a field another valid value with each answer.
func numbered(field string) verb {
	return rows(eachRow, func(x *exchange, row map[string]any) {
		n := x.memory.count("answers")
		if row[field] = fmt.Sprint(row[field], " ", n); field == "timestamp_created" {
			row[field] = written(time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC))
		}
	})
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
func repeatFirst(x *exchange) {
	if kept, ok := x.memory.get("first"); ok {
		reply(kept.(Response))(x)
	} else if x.served() {
		x.memory.put("first", x.answer)
	}
}

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

func variableDefects() []Defect {
	adds := func(id, doc string, rules ...rule) Defect {
		return defect(spec.VariablesCampaign, spec.AddCampaignVariables, id, doc, rules...)
	}
	otherID := set("id", ofText(anotherID))
	return []Defect{
		adds("to-another-campaign", "adds the variables to another campaign",
			when(always, swapID(func(x *exchange) string { return besides(campaigns(x), x.ID) }))),
		adds("renames", "adds to the name of the campaign with each request", when(served, numbered("name"))),
		adds("creates-again", "shows the time of the request as that of the creation", when(served, numbered("timestamp_created"))),
		adds("answers-first-campaign", "answers with the first campaign that it changed", when(always, repeatFirst)),
		adds("answers-another-id", "answers with the campaign under a different id", when(served, otherID)),
		adds("several-answer-another-id", "does so when several variables are added", when(several("variables"), otherID)),
		adds("one-answers-another-id", "does so when one variable is added", when(not(several("variables")), otherID)),
		adds("renames-the-next", "puts the name of a changed campaign into the next one of the profile",
			altered("Campaign"), when(served, intoNext("name", campaigns))),
		adds("takes-first-subsequence", "also removes the first subsequence", vanish(spec.ListSubsequences, false), when(always, noteChange)),
		adds("takes-last-order", "also removes the last order", vanish(spec.ListDFYOrders, true), when(always, noteChange)),
	}
}

func leadDefects() []Defect {
	moves := func(requirement spec.ID, id, doc string, rules ...rule) Defect {
		return defect(requirement, spec.MoveLead, id, doc, rules...)
	}
	const lead, subsequence = spec.LeadMoveLead, spec.LeadMoveSubsequence
	// place shows the subsequence that the fault remembers of the lead instead of the new one.
	place := func(of func(x *exchange, id, now string) any) verb {
		return rows(eachRow, func(x *exchange, row map[string]any) {
			setMember(row, "subsequence_id")(of(x, textOf(row, "id"), textOf(row, "subsequence_id")))
		})
	}
	return []Defect{
		moves(lead, "moves-another-lead", "moves another lead",
			when(always, put("id", func(x *exchange, id any) any { return besides(leads(x), fmt.Sprint(id)) }))),
		moves(lead, "answers-first-lead", "answers with the first lead that it moved", when(always, repeatFirst)),
		moves(lead, "answers-another-lead-id", "answers with the lead under a different id", when(served, set("id", ofText(anotherID)))),
		moves(lead, "changes-email-of-next", "puts the email of a moved lead into the next one of the profile",
			altered("Lead"), when(served, intoNext("email", leads))),
		moves(lead, "renames", "changes the first name of a lead with each move", when(served, numbered("first_name"))),
		moves(subsequence, "answers-first-subsequence", "answers with a lead as it was after its first move", when(always, repeatFirst)),
		moves(subsequence, "subsequence-other-id", "answers with a different subsequence_id", when(served, set("subsequence_id", ofText(anotherID)))),
		moves(subsequence, "subsequence-left-out", "answers without subsequence_id", when(served, set("subsequence_id", leftOut))),
		moves(subsequence, "answers-as-before", "answers with the lead as it was before the move",
			when(served, place(func(x *exchange, id, now string) any {
				before, known := x.memory.get("place " + id)
				x.memory.put("place "+id, now)
				if !known {
					return removed{}
				}
				return before
			}))),
		moves(subsequence, "not-back", "leaves a lead where it is if it was in the subsequence before",
			when(served, place(func(x *exchange, id, now string) any {
				at := any(now)
				if x.memory.has("been " + id + now) {
					at, _ = x.memory.get("place " + id)
				}
				x.memory.put("been "+id+now, true)
				x.memory.put("place "+id, at)
				return at
			}))),
		moves(subsequence, "renames-subsequence", "puts the email of a moved lead into the name of its subsequence",
			altered("Subsequence"), when(served, func(x *exchange) {
				if email := textOf(x.body(), "email"); email != "" {
					x.alter(textOf(x.sent(), "subsequence_id"), "name", email)
				}
			})),
		moves(subsequence, "takes-last-of-lists", "also removes the last list of leads", vanish(listOfResource("LeadList"), true), when(always, noteChange)),
	}
}

// listOfResource returns the list of a resource.
func listOfResource(resource string) string {
	i := slices.IndexFunc(spec.Operations(), func(op spec.Operation) bool { return op.Resource == resource && op.Answer != spec.One })
	return spec.Operations()[i].ID
}

// accountDefects report success for a move that is incomplete. They leave every account where
// it can be found.
func accountDefects() []Defect {
	moves := func(id, doc string, o occasion, v verb) Defect {
		return defect(spec.AccountsMoved, spec.MoveAccounts, id, doc, when(o, v))
	}
	only := func(of func(emails []any) []any) verb {
		return put("emails", func(_ *exchange, sent any) any { return of(sent.([]any)) })
	}
	// movedBefore counts a move. The first one is skipped, too: that is invisible, and could
	// not be rolled back.
	once := func(x *exchange) {
		for _, email := range emailsIn(x) {
			if x.memory.count("moved "+email) > 1 {
				refuse(http.StatusConflict)(x)
				return
			}
		}
		success(x)
	}
	return []Defect{
		moves("stays-home", "reports success for the first move of an account without moving it", func(x *exchange) bool {
			source := textOf(x.sent(), "source_workspace_id")
			for _, w := range x.Profile.Workspaces {
				if w.ID == source && slices.ContainsFunc(w.Accounts, func(email string) bool { return slices.Contains(emailsIn(x), email) }) {
					return true
				}
			}
			return false
		}, success),
		moves("moves-once", "refuses to move an account twice", always, once),
		moves("moves-first-only", "moves only the first of several accounts", several("emails"), only(func(emails []any) []any { return emails[:1] })),
		moves("moves-all-but-last", "moves all but the last of several accounts", several("emails"),
			only(func(emails []any) []any { return emails[:len(emails)-1] })),
	}
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
