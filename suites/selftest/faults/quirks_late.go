package faults

import (
	"net/http"
	"slices"
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
			on(spec.GetPlacementTest, hiddenID, refuse(http.StatusNotFound))),
		quirk("late/recipients", "Resources and their fields: nothing says when the recipients of a test are known", "when changes show, create, delete",
			"shows the recipients of a created test only in the response to its deletion",
			on(spec.ListPlacementTests, always, hideRecipients), on(spec.GetPlacementTest, always, hideRecipients),
			on(spec.CreatePlacementTest, always, hideRecipients), on(spec.CreatePlacementTest, served, noteCreated),
		).but("SHAPE-INBOX_PLACEMENT_TEST-RECIPIENTS.ITEM-* on inbox-placement-tests.create"),
		late("found-now-and-then", "finds a created test by its id at every second request for a while",
			on(spec.GetPlacementTest, all(hiddenID, func(x *exchange) bool { return x.memory.count("gets")%2 == 0 }), refuse(http.StatusNotFound))),
		late("deleted", "shows a deleted test for a while", deletedLater...),
		late("lists-cached", "keeps each page of a list for a while", when(all(paged, uncounted), cachePage)),
		late("deletable", "finds a created test for a deletion only after a while",
			on(spec.DeletePlacementTest, all(validKey, hiddenID), refuse(http.StatusNotFound)),
		).but("RATE-NO-EFFECT on inbox-placement-tests.delete"),
		late("moved", "finds a moved account in its new workspace only after a while",
			on(spec.MoveAccounts, all(validKey, hiddenAccount), refuse(http.StatusNotFound)), on(spec.MoveAccounts, served, noteMoved),
		).but("RATE-NO-EFFECT on accounts.move"),
	}
}

// note notes that what the name stands for changes now.
func (x *exchange) note(name string) { x.memory.put("changed "+name, time.Now()) }

// sinceChange returns how long ago that changed: very long if it never did.
func (x *exchange) sinceChange(name string) time.Duration {
	at, _ := x.memory.get("changed " + name)
	changed, _ := at.(time.Time)
	return time.Since(changed)
}

// hiddenFor reports whether the thing changed so recently that it does not show yet: a third
// of the time that the profile allows.
func hiddenFor(x *exchange, name string) bool { return x.sinceChange(name) < x.Profile.Visibility()/3 }

func hiddenID(x *exchange) bool                      { return hiddenFor(x, x.ID) }
func hiddenRow(x *exchange, row map[string]any) bool { return hiddenFor(x, textOf(row, "id")) }
func noteCreated(x *exchange)                        { x.note(textOf(x.body(), "id")) }

// hiddenAccount is a move of an account that has just moved.
func hiddenAccount(x *exchange) bool {
	return slices.ContainsFunc(x.accounts(), func(email string) bool { return hiddenFor(x, email) })
}

func noteMoved(x *exchange) {
	for _, email := range x.accounts() {
		x.note(email)
	}
}

// accounts returns the accounts that a move names.
func (x *exchange) accounts() (emails []string) {
	items, _ := x.sent()["emails"].([]any)
	for _, item := range items {
		if email, ok := item.(string); ok {
			emails = append(emails, email)
		}
	}
	return emails
}

// hideRecipients hides the recipients of the tests that were created.
var hideRecipients = rows(eachRow, func(x *exchange, row map[string]any) {
	if x.memory.has("changed " + textOf(row, "id")) {
		row["recipients"] = []any{}
	}
})

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
var deletedLater = []rule{on(anyOperation, always, deleteDue), on(spec.DeletePlacementTest, validKey, deleteLater)}

// noSuchTest is a version 7 UUID from before the service existed.
const noSuchTest = "00000000-0001-7000-8000-000000000001"

// postponed is a deletion to be done.
type postponed struct {
	Request
	until time.Time
}

func deleteLater(x *exchange) {
	key, _ := x.asker()
	if permitted, _ := x.ask(x.naming(noSuchTest)); permitted.Status != http.StatusNotFound {
		return
	}
	if shown, ok := x.ask(x.redirected(spec.GetPlacementTest, x.ID).withToken(x.key(key.Workspace))); ok {
		x.postpone(x.Request)
		x.reply(shown)
	}
}

func (x *exchange) postpone(deletion Request) {
	x.memory.update("deletions", func(value any) any {
		waiting, _ := value.([]postponed)
		if slices.ContainsFunc(waiting, func(p postponed) bool { return p.ID == deletion.ID }) {
			return waiting
		}
		return append(waiting, postponed{deletion, time.Now().Add(x.Profile.Visibility() / 3)})
	})
}

func deleteDue(x *exchange) {
	var due []postponed
	x.memory.update("deletions", func(value any) any {
		var rest []postponed
		waiting, _ := value.([]postponed)
		for _, p := range waiting {
			if time.Now().Before(p.until) {
				rest = append(rest, p)
			} else {
				due = append(due, p)
			}
		}
		return rest
	})
	for _, p := range due {
		p.ctx = x.ctx // its own has ended
		if answer, err := x.next(p.Request); err != nil || answer.Status == http.StatusTooManyRequests {
			x.postpone(p.Request)
		}
	}
}
