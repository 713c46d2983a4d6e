package faults

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// What page quirks touch.
const (
	touchesLimit  = "limit"
	touchesCursor = "cursor"
	touchesTexts  = "texts of rows" // a search may find a row by a text that another quirk hides
)

// pageQuirks read the limit in legal ways.
func pageQuirks() []Quirk {
	limits := func(id, allowed, doc string, change func(limit string) string) Quirk {
		return Quirk{ID: "pages/" + id, Allowed: allowed, Doc: doc, Touches: []string{touchesLimit}, Apply: alike(asked(isList, func(r *Request) {
			if limit := change(r.Query.Get("limit")); limit != "" {
				r.Query.Set("limit", limit)
			} else {
				r.Query.Del("limit")
			}
		}))}
	}
	inRange := func(change func(int) int) func(string) string {
		return func(limit string) string {
			n := sizeOf(limit)
			if limit == "" || n == 0 {
				return limit
			}
			return strconv.Itoa(change(n))
		}
	}
	var quirks []Quirk
	for _, n := range []string{"1", "7", "100"} {
		quirks = append(quirks, limits("default-"+n, spec.OpenPointDefaultLimit, "returns "+n+" rows per page when no limit is sent",
			func(limit string) string {
				if limit == "" {
					return n
				}
				return limit
			}))
	}
	return append(quirks,
		limits("limit-clamped", spec.OpenPointLimitRange, "clamps an out-of-range limit", func(limit string) string {
			n, err := strconv.ParseFloat(limit, 64)
			switch {
			case limit == "" || sizeOf(limit) > 0:
				return limit
			case err != nil:
				return "100"
			default:
				return strconv.Itoa(int(min(max(n, 1), 100)))
			}
		}),
		limits("limit-ignored", spec.OpenPointLimitRange, "ignores an out-of-range limit", func(limit string) string {
			if sizeOf(limit) == 0 {
				return ""
			}
			return limit
		}),
		limits("one-short", spec.OpenPointShortPages, "returns one row fewer per page than the limit allows",
			inRange(func(n int) int { return max(1, n-1) })),
		limits("small", spec.OpenPointShortPages, "never returns more than 25 rows per page", inRange(func(n int) int { return min(n, 25) })),
		limits("uneven", spec.OpenPointShortPages, "returns a varying number of rows per page below the limit",
			inRange(func(n int) int { return 1 + n*2/3 - n%5*n/12 })),
	)
}

// cursorQuirks use other kinds of cursors and other ends of a list.
func cursorQuirks() []Quirk {
	end := func(id, doc string, cursor any) Quirk {
		return Quirk{ID: "pages/last-cursor-" + id, Allowed: spec.OpenPointLastCursor, Doc: doc, Touches: []string{touchesCursor},
			Apply: alike(onPage(func(_ Request, page map[string]any) {
				if text, _ := page["next_starting_after"].(string); text == "" {
					page["next_starting_after"] = cursor
				}
			}))}
	}
	kind := func(id, doc string, write cursorForm) Quirk {
		return Quirk{ID: "pages/cursor-" + id, Allowed: spec.OpenPointCursorKind, Doc: doc, Touches: []string{touchesCursor},
			Apply: func(a *Target) Middleware { return a.recursor(write) }}
	}
	extra := func(id, doc string, again bool) Quirk {
		return Quirk{ID: "pages/" + id, Allowed: spec.OpenPointLastCursor, Doc: doc, Touches: []string{touchesCursor},
			Apply: func(a *Target) Middleware { return a.endingEmpty(again) }}
	}
	deleted := func(id, doc string, status int, inner func(*Target) Middleware) Quirk {
		return Quirk{ID: "pages/deleted-cursor-" + id, Allowed: spec.OpenPointDeletedCursor, Doc: "refuses a cursor whose row was deleted" + doc,
			Touches: []string{touchesCursor, touchesRows, touchesLate, "delete"}, Apply: func(a *Target) Middleware {
				return Chain(a.refusesDeleted(spec.ListPlacementTests, status), a.refusesDeleted(spec.ListSubsequences, status), inner(a))
			}}
	}
	return append(filteringQuirks(), []Quirk{
		deleted("refused", "", http.StatusBadRequest, alike(Chain())),
		deleted("not-found", ", and sorts every list newest first by default", http.StatusNotFound,
			func(a *Target) Middleware { return anchored{target: a, serves: isList, descending: true}.apply }),
		deleted("before-the-list", ", and shows the deleted row for a while", http.StatusUnprocessableEntity, func(a *Target) Middleware {
			return deletedLater(a, a.late())
		}),
		end("null", "shows a null cursor on the last page", nil),
		end("empty", "shows an empty cursor on the last page", ""),
		extra("empty-last-page", "ends every list with an empty page", false),
		extra("empty-last-page-with-cursor", "ends every list with an empty page that has a cursor", true),
		kind("uuid", "uses UUIDs as cursors", uuidCursor),
		kind("timestamp", "uses timestamps as cursors", timestampCursor),
		kind("email", "uses email addresses with a plus sign as cursors", plusCursor),
	}...)
}

// refusesDeleted refuses a cursor whose row was deleted, if the request is valid otherwise.
func (a *Target) refusesDeleted(list string, status int) Middleware {
	return outdated(list, a.parameter(list, profile.ParamStartingAfter), (*changes).removed, func(next Handler, r Request) (Response, error) {
		answer, err := next(r)
		if err == nil && answer.Status == http.StatusOK {
			answer = refusal(status)
		}
		return answer, err
	})
}

// filteringQuirks read a page of the whole list and select its rows then: pages are short or
// empty, and lead on.
func filteringQuirks() []Quirk {
	return []Quirk{{ID: "pages/filtered-after-cutting", Allowed: spec.OpenPointShortPages, Doc: "filters each page of the whole list, so that a page without matches leads on",
		Touches: []string{touchesRows, touchesCursor},
		Apply: func(a *Target) Middleware {
			filtered := func(r Request) bool { return isList(r) && slices.ContainsFunc(a.filtersOf(r.Operation), r.Query.Has) }
			return anchored{target: a, serves: filtered, filtersPages: true}.apply
		}}}
}

// plusCursor tests clients that put a cursor into a query: a plus must be
// escaped.
func plusCursor(n int) string { return fmt.Sprintf("page+%x@cursors.example", n) }

// isTimed reports whether the specification requires a timestamp cursor.
func isTimed(operation string) bool {
	return operation == spec.ListLeadLabels || operation == spec.ListLeadLists
}

// onPage changes the page in every 200 answer of a list.
func onPage(change func(Request, map[string]any)) Middleware {
	return onAll(func(r Request, answer Response) Response {
		if answer.Status != http.StatusOK || !isList(r) {
			return answer
		}
		body, _ := decodeAround(spec.MustOperation(r.Operation), answer.Body, asWritten)
		page, ok := body.(map[string]any)
		if !ok {
			return answer
		}
		change(r, page)
		answer.Body = encode(page)
		return answer
	})
}

// aliases maps names to originals.
type aliases struct {
	mu sync.Mutex
	of map[string]string
}

func (a *aliases) set(alias, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]string{}
	}
	a.of[alias] = name
}

func (a *aliases) get(alias string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, ok := a.of[alias]
	return name, ok
}

// hashed returns a 40-bit hash: small enough for a timestamp within 35 years.
func hashed(text string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return int(h.Sum64() >> 24)
}

// recursor replaces the target's cursors with one kind, if the kind is free.
func (a *Target) recursor(write cursorForm) Middleware {
	return func(next Handler) Handler {
		var given aliases
		written := onPage(func(r Request, page map[string]any) {
			if cursor, _ := page["next_starting_after"].(string); cursor != "" && !isTimed(r.Operation) {
				ours := write(hashed(r.Operation + cursor))
				given.set(r.Operation+ours, cursor)
				page["next_starting_after"] = ours
			}
		})
		read := asked(isList, func(r *Request) {
			name := a.cursorName(*r)
			if cursor, ok := given.get(r.Operation + r.Query.Get(name)); ok {
				r.Query.Set(name, cursor)
			}
		})
		return Chain(written, read)(next)
	}
}

// endingEmpty adds an empty page after the last, which may link to itself.
func (a *Target) endingEmpty(again bool) Middleware {
	final := func(operation string) string {
		if isTimed(operation) {
			return "2099-12-31T23:59:59.999Z"
		}
		return "ffffffff-ffff-7fff-bfff-ffffffffffff"
	}
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if !isList(r) {
				return next(r)
			}
			name := a.cursorName(r)
			atEnd := r.Query.Get(name) == final(r.Operation)
			if atEnd {
				r = r.clone()
				r.Query.Del(name)
			}
			answer, err := next(r)
			rows, cursor, ok := pageIn(answer)
			switch {
			case err != nil || !ok:
				return answer, err
			case atEnd && again:
				return pageOf(nil, final(r.Operation)), nil
			case atEnd:
				return pageOf(nil, ""), nil
			case cursor == "":
				return pageOf(rows, final(r.Operation)), nil
			}
			return answer, nil
		}
	}
}

// filters returns the request's parameters without those of paging.
func (a *Target) filters(r Request) url.Values {
	filters := r.clone().Query
	for _, name := range []string{"limit", a.cursorName(r), profile.ParamSortOrder} {
		filters.Del(name)
	}
	return filters
}
