package faults

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// touchesLate is what late quirks touch: when a change shows.
const touchesLate = "when changes show"

// lateQuirks show a change in another view only after a third of the time that the
// profile allows for it.
func lateQuirks() []Quirk {
	late := func(id, doc string, apply func(*Target, *delayed) Middleware, unassessed ...string) Quirk {
		return Quirk{ID: "late/" + id, Allowed: spec.OpenPointVisibility, Doc: doc, Touches: []string{touchesLate, "create", "delete", "accounts", touchesRows}, Unassessed: unassessed,
			Apply: func(a *Target) Middleware {
				return apply(a, a.late())
			}}
	}
	return []Quirk{
		late("created-in-list", "lists a created test only after a while", func(_ *Target, d *delayed) Middleware {
			return Chain(d.whenAnswered(spec.CreatePlacementTest, createdID), onPages(spec.ListPlacementTests, func(row map[string]any) bool { return !d.hides(textOf(row, "id")) }))
		}),
		late("created-in-filters", "lists a created test under a filter only after a while, and in the whole list at once", func(a *Target, d *delayed) Middleware {
			d.by = a.Profile.Visibility() * 3 / 4 // longer than others: specs create tests while others look again
			hiding := onPages(spec.ListPlacementTests, func(row map[string]any) bool { return !d.hides(textOf(row, "id")) })
			return Chain(d.whenAnswered(spec.CreatePlacementTest, createdID), func(next Handler) Handler {
				filtered := hiding(next)
				return func(r Request) (Response, error) {
					if r.Query.Has(profile.ParamSearch) || r.Query.Has(profile.ParamStatus) {
						return filtered(r)
					}
					return next(r)
				}
			})
		}),
		late("created-in-get", "finds a created test by its id only after a while", func(_ *Target, d *delayed) Middleware {
			return Chain(d.whenAnswered(spec.CreatePlacementTest, createdID),
				where(spec.GetPlacementTest, func(r Request) bool { return d.hides(r.ID) }, refusing(http.StatusNotFound)))
		}),
		{ID: "late/recipients", Allowed: "Resources and their fields: nothing says when the recipients of a test are known", Touches: []string{touchesLate, "create", "delete"},
			Unassessed: []string{"SHAPE-INBOX_PLACEMENT_TEST-RECIPIENTS.ITEM-* on inbox-placement-tests.create"},
			Doc:        "shows the recipients of a created test only in the response to its deletion", Apply: alike(recipientsLast)},
		late("found-now-and-then", "finds a created test by its id at every second request for a while", func(_ *Target, d *delayed) Middleware {
			return Chain(d.whenAnswered(spec.CreatePlacementTest, createdID), func(next Handler) Handler {
				var asked atomic.Int64
				return where(spec.GetPlacementTest, func(r Request) bool { return d.hides(r.ID) && asked.Add(1)%2 == 0 }, refusing(http.StatusNotFound))(next)
			})
		}),
		late("deleted", "shows a deleted test for a while", deletedLater),
		late("lists-cached", "keeps each page of a list for a while", (*Target).cachesPages),
		late("deletable", "finds a created test for a deletion only after a while", func(a *Target, d *delayed) Middleware {
			return Chain(d.whenAnswered(spec.CreatePlacementTest, createdID), func(next Handler) Handler {
				return func(r Request) (Response, error) {
					if _, valid := a.isValidKey(r); valid && r.Operation == spec.DeletePlacementTest && d.hides(r.ID) {
						return refusal(http.StatusNotFound), nil
					}
					return next(r)
				}
			})
		}, "RATE-NO-EFFECT on inbox-placement-tests.delete"),
		late("moved", "finds a moved account in its new workspace only after a while", func(a *Target, d *delayed) Middleware {
			return func(next Handler) Handler {
				return func(r Request) (Response, error) {
					if r.Operation != spec.MoveAccounts {
						return next(r)
					}
					emails := emailsIn(r)
					if _, valid := a.isValidKey(r); valid && slices.ContainsFunc(emails, d.hides) {
						return refusal(http.StatusNotFound), nil
					}
					answer, err := next(r)
					if err == nil && answer.Status == http.StatusOK {
						d.begin(emails...)
					}
					return answer, err
				}
			}
		}, "RATE-NO-EFFECT on accounts.move"),
	}
}

// recipientsLast hides the recipients of created tests until their deletion.
func recipientsLast(next Handler) Handler {
	made := &creations{}
	hidden := []Middleware{made.watch}
	for _, view := range testViews {
		hidden = append([]Middleware{onRows(view, func(_ Request, rows []map[string]any) {
			for _, row := range rows {
				if made.sent(textOf(row, "id"), "name") != nil {
					row["recipients"] = []any{}
				}
			}
		})}, hidden...)
	}
	return Chain(hidden...)(next)
}

// delayed remembers when things changed.
type delayed struct {
	by time.Duration

	mu    sync.Mutex
	since map[string]time.Time
}

// late returns a delay of a third of the time that the profile allows.
func (a *Target) late() *delayed {
	return &delayed{by: a.Profile.Visibility() / 3, since: map[string]time.Time{}}
}

// begin notes that the things have changed now.
func (d *delayed) begin(names ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		d.since[name] = time.Now()
	}
}

// hides reports whether the thing changed so recently that it does not show yet.
func (d *delayed) hides(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, changed := d.since[name]
	return changed && time.Since(at) < d.by
}

// cachesPages answers a request for a page as the same request was answered a while ago.
// A key with a rate limit is counted first.
func (a *Target) cachesPages(d *delayed) Middleware {
	var mu sync.Mutex
	pages := map[string]Response{}
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if key, ok := a.keyOf(r); !ok || !isList(r) || key.Workspace == dataset.Limited {
				return next(r)
			}
			asked := r.Operation + " " + r.Header.Get("Authorization") + " " + r.Query.Encode()
			mu.Lock()
			page, kept := pages[asked]
			mu.Unlock()
			if kept && d.hides(asked) {
				return page, nil
			}
			page, err := next(r)
			if err == nil && page.Status == http.StatusOK {
				d.begin(asked)
				mu.Lock()
				pages[asked] = page
				mu.Unlock()
			}
			return page, err
		}
	}
}

// whenAnswered begins the delay of what a 200 answer of the operation names.
func (d *delayed) whenAnswered(operation string, name func(Response) string) Middleware {
	return onAnswer(operation, http.StatusOK, func(_ Request, answer Response) Response {
		d.begin(name(answer))
		return answer
	})
}

func createdID(answer Response) string {
	row, _ := decode(answer.Body)
	return textOf(row, "id")
}

// emailsIn returns the accounts that a move names.
func emailsIn(r Request) (emails []string) {
	body, _ := objectIn(r)
	items, _ := body["emails"].([]any)
	for _, item := range items {
		if email, ok := item.(string); ok {
			emails = append(emails, email)
		}
	}
	return emails
}

// onPages leaves out the rows of an operation's pages that do not fit. Instead of an empty
// page, which would end the walk, it shows the next one.
func onPages(operation string, fits func(row map[string]any) bool) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			for {
				answer, err := next(r)
				if err != nil || r.Operation != operation || answer.Status != http.StatusOK {
					return answer, err
				}
				body, _ := decode(answer.Body)
				page, ok := body.(map[string]any)
				items, listed := page["items"].([]any)
				if !ok || !listed {
					return answer, nil
				}
				left := slices.DeleteFunc(slices.Clone(items), func(item any) bool {
					row, isRow := item.(map[string]any)
					return isRow && !fits(row)
				})
				if cursor, _ := page["next_starting_after"].(string); len(left) == 0 && len(items) > 0 && cursor != "" {
					r = r.clone()
					r.Query.Set("starting_after", cursor)
					continue
				}
				page["items"] = left
				answer.Header = answer.Header.Clone()
				answer.Body = encode(page)
				return answer, nil
			}
		}
	}
}

// deletedLater answers a deletion that the target would accept as if it were done. It is
// done after a while, with the first request after that.
func deletedLater(a *Target, d *delayed) Middleware {
	var mu sync.Mutex
	waiting := map[string]Request{}
	due := func() (all []Request) {
		mu.Lock()
		defer mu.Unlock()
		for id, r := range waiting {
			if !d.hides(id) {
				all = append(all, r)
				delete(waiting, id)
			}
		}
		return all
	}
	later := func(r Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, known := waiting[r.ID]; !known {
			d.begin(r.ID)
			waiting[r.ID] = r.clone()
		}
	}
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			for _, deletion := range due() {
				if answer, err := next(deletion); err != nil || answer.Status == http.StatusTooManyRequests {
					later(deletion)
				}
			}
			if r.Operation != spec.DeletePlacementTest {
				return next(r)
			}
			key, _ := a.keyOf(r)
			permitted, err := next(r.naming(neverIssued))
			if err != nil || permitted.Status != http.StatusNotFound {
				return next(r)
			}
			shown, err := next(r.redirected(spec.GetPlacementTest, r.ID).withToken(a.key(key.Workspace)))
			if err != nil || shown.Status != http.StatusOK {
				return next(r)
			}
			later(r)
			return shown, nil
		}
	}
}
