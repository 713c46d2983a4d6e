package faults

import (
	"fmt"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// lateQuirks show a change in another view only after a while.
func lateQuirks() []Quirk {
	late := func(id, doc string, rules ...rule) Quirk {
		return quirk("late/"+id, spec.OpenPointVisibility, "when changes show, create, delete, accounts, rows", doc,
			append(rules, on(spec.CreatePlacementTest, served, noteCreated))...)
	}
	return []Quirk{
		late("created-in-list", "lists a created test only after a while", on(spec.ListPlacementTests, always, hide(hiddenRow))),
		// Longer than others: specs create tests while others look again.
		late("created-in-filters", "lists a created test under a filter only after a while, and in the whole list at once",
			on(spec.ListPlacementTests, filtered, hide(func(x *exchange, row map[string]any) bool {
				return x.sinceChange(textOf(row, "id")) < x.Profile.Visibility()*3/4
			}))),
		late("created-in-get", "finds a created test by its id only after a while",
			on(spec.GetPlacementTest, hiddenID, refuse(404))),
		late("issues-in-list", "finds at once that a created test without an issue cannot be sent, and lists that only after a while",
			when(all(shows(placementTest), not(creates)), rows(eachRow, func(x *exchange, row map[string]any) {
				if issue := row["not_sending_status"]; issue != nil && issue != "" || !x.memory.has("changed "+textOf(row, "id")) {
					return
				}
				row["not_sending_status"] = "daily_limits_hit"
				if x.Operation == spec.ListPlacementTests && hiddenRow(x, row) {
					row["not_sending_status"] = ""
				}
			}))),
		quirk("late/recipients", "Resources and their fields: nothing says when the recipients of a test are known", "when changes show, create, delete",
			"shows the recipients of a created test only in the response to its deletion",
			when(not(deletes), rows(eachRow, func(x *exchange, row map[string]any) {
				if x.memory.has("changed " + textOf(row, "id")) {
					row["recipients"] = []any{}
				}
			})), on(spec.CreatePlacementTest, served, noteCreated),
		).but("SHAPE-INBOX_PLACEMENT_TEST-RECIPIENTS.ITEM-* on inbox-placement-tests.create"),
		late("found-now-and-then", "finds a created test by its id at every second request for a while",
			on(spec.GetPlacementTest, all(hiddenID, func(x *exchange) bool { return x.memory.count("gets")%2 == 0 }), refuse(404))),
		late("deleted", "shows a deleted test for a while", deletedLater...),
		late("lists-cached", "keeps each page of a list for a while", when(all(paged, uncounted), cachePage)),
		late("deletable", "finds a created test for a deletion only after a while",
			on(spec.DeletePlacementTest, all(validKey, hiddenID), refuse(404)),
		).but("RATE-NO-EFFECT on inbox-placement-tests.delete"),
		late("moved", "finds a moved account in its new workspace only after a while",
			on(spec.MoveAccounts, all(validKey, func(x *exchange) bool { return hiddenFor(x, x.sent()["emails"]) }), refuse(404)),
			on(spec.MoveAccounts, served, func(x *exchange) { x.note(x.sent()["emails"]) }),
		).but("RATE-NO-EFFECT on accounts.move"),
	}
}

// note notes that something changes now.
func (x *exchange) note(what any) { x.memory.put(fmt.Sprint("changed ", what), time.Now()) }

// sinceChange returns how long ago that changed: very long if it never did.
func (x *exchange) sinceChange(what any) time.Duration {
	at, _ := x.memory.get(fmt.Sprint("changed ", what))
	changed, _ := at.(time.Time)
	return time.Since(changed)
}

// hiddenFor reports whether the thing changed so recently that it does not show yet: a third
// of the time that the profile allows.
func hiddenFor(x *exchange, what any) bool { return x.sinceChange(what) < x.Profile.Visibility()/3 }

func hiddenID(x *exchange) bool                      { return hiddenFor(x, x.ID) }
func hiddenRow(x *exchange, row map[string]any) bool { return hiddenFor(x, textOf(row, "id")) }
func noteCreated(x *exchange)                        { x.note(textOf(x.body(), "id")) }

// uncounted is a request with a key whose requests need not reach the target.
func uncounted(x *exchange) bool { return validKey(x) && !asks(dataset.Limited)(x) }

// cachePage answers a request for a page as the same request was answered a while ago.
func cachePage(x *exchange) {
	request := x.Operation + " " + x.token() + " " + x.Query.Encode()
	if page, kept := x.memory.get("page " + request); kept && hiddenFor(x, request) {
		x.reply(page.(Response))
		return
	}
	if x.served() {
		x.memory.put("page "+request, x.answer)
		x.note(request)
	}
}

// deletedLater answers a deletion that the target would accept as if it were done. It is
// done after a while, with the first request after that.
var deletedLater = []rule{on(spec.DeletePlacementTest, validKey, deleteLater), on(anyOperation, always, deleteDue)}

// noSuchTest is a version 7 UUID from before the service existed.
const noSuchTest = "00000000-0001-7000-8000-000000000001"

func deleteLater(x *exchange) {
	key, _ := x.asker()
	if permitted, _ := x.ask(x.withID(noSuchTest)); permitted.Status != 404 {
		return
	}
	if shown, ok := x.ask(x.redirected(spec.GetPlacementTest, x.ID).withToken(x.key(key.Workspace))); ok {
		if !hiddenFor(x, "deletion "+x.ID) {
			x.note("deletion " + x.ID)
			x.memory.add("deletions", x.Request)
		}
		x.reply(shown)
	}
}

func deleteDue(x *exchange) {
	for _, deletion := range x.memory.all("deletions") {
		r := deletion.(Request)
		if hiddenFor(x, "deletion "+r.ID) || x.memory.has("done "+r.ID) {
			continue
		}
		r.ctx = x.ctx // its own has ended
		if answer, err := x.next(r); err == nil && answer.Status != 429 {
			x.memory.put("done "+r.ID, true)
		}
	}
}
