package faults

import (
	"cmp"
	"net/http"
	"slices"

	"outreach.example/conformance/spec"
)

// pageDefects break the rules of the section Pagination on every list. Most
// serve the list themselves, from the target's rows, with one error.
func pageDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		if op.Answer != spec.Page {
			continue
		}
		for _, w := range slices.Concat(limitDamages, walkDamages, cursorDamages) {
			if p := (spec.Pair{Requirement: w.breaks, Operation: op.ID}); spec.Has(p) {
				defects = append(defects, Defect{op.ID + "/" + w.name, p, w.doc,
					func(a *Target) Middleware { return a.paged(op.ID, w.paging) }})
			}
		}
		for _, l := range refusedLimits {
			defects = append(defects, Defect{op.ID + "/" + l.name, spec.Pair{Requirement: l.breaks, Operation: op.ID}, l.doc,
				func(*Target) Middleware { return where(op.ID, l.fits, refusing(l.status)) }})
		}
	}
	return slices.Concat(defects, changeDefects(), sortDefects(), rowsOnceDefects())
}

// pageDamage is one error in serving a list.
type pageDamage struct {
	name, breaks, doc string
	paging            paging
}

// limitDamages misread the limit.
var limitDamages = []pageDamage{
	{"limit-taken-for-ten", "PAGE-LIMIT-HONOURED", "serves ten rows per page for any limit", sized(askedFor, 10)},
	{"limit-exceeded-by-one", "PAGE-LIMIT-HONOURED", "serves one row more than the limit", paging{before: when(askedFor, oneMore)}},
	{"highest-limit-exceeded", "PAGE-LIMIT-HONOURED", "serves one row more than a limit of 100",
		paging{before: when(limitIs("100"), oneMore)}},
	{"lowest-limit-exceeded", "PAGE-LIMIT-HONOURED", "serves two rows for a limit of one", paging{before: when(limitIs("1"), oneMore)}},
	{"limit-rounded-up", "PAGE-LIMIT-HONOURED", "rounds a limit up to whole tens",
		paging{before: when(askedFor, func(s *page) { s.size = (s.size + 9) / 10 * 10 })}},
	{"limit-exceeded-behind-first-page", "PAGE-LIMIT-HONOURED", "serves one row more than the limit on every page but the first",
		paging{before: when(both(askedFor, not(firstPage)), oneMore)}},
	{"last-pages-joined", "PAGE-LIMIT-HONOURED", "merges a partial last page into the previous one",
		paging{before: when(both(askedFor, lastButOne), func(s *page) { s.size = len(s.list) - s.from })}},

	{"no-limit-serves-all", "PAGE-LIMIT-ABSENT", "serves the whole list when no limit is sent", sized(noLimit, everything)},
	{"no-limit-serves-101", "PAGE-LIMIT-ABSENT", "serves 101 rows when no limit is sent", sized(noLimit, 101)},

	{"limit-0-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "treats a limit of 0 as none and serves the whole list",
		sized(limitIs("0"), everything)},
	{"limit-below-0-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "serves the whole list for a negative limit", sized(limitIs("-1"), everything)},
	{"limit-101-served", "PAGE-LIMIT-OUT-OF-RANGE", "serves 101 rows for a limit of 101", sized(limitIs("101"), 101)},
	{"limit-1000-served", "PAGE-LIMIT-OUT-OF-RANGE", "serves up to 1000 rows for a limit of 1000", sized(limitIs("1000"), 1000)},
	{"empty-limit-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "serves the whole list for an empty limit", sized(emptyLimit, everything)},
	{"limit-in-words-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "serves the whole list for a limit that is not a number",
		sized(wordy, everything)},
}

// refusedLimits are limits that are wrongly refused or cause a server error.
var refusedLimits = []struct {
	name, breaks, doc string
	fits              func(Request) bool
	status            int
}{
	{"limit-1-refused", "PAGE-LIMIT-ACCEPTED", "refuses a limit of 1", limitSent("1"), http.StatusBadRequest},
	{"limit-100-refused", "PAGE-LIMIT-ACCEPTED", "refuses a limit of 100", limitSent("100"), http.StatusBadRequest},
	{"limit-99-refused", "PAGE-LIMIT-ACCEPTED", "refuses a limit above 50 that is not 100", limitSent("99"), http.StatusUnprocessableEntity},
	{"odd-limit-breaks-down", "PAGE-LIMIT-ACCEPTED", "returns 500 for an odd limit",
		func(r Request) bool { return sizeOf(r.Query.Get("limit"))%2 == 1 && r.Query.Has("limit") }, http.StatusInternalServerError},
	{"no-limit-refused", "PAGE-LIMIT-ABSENT", "requires a limit", func(r Request) bool { return !r.Query.Has("limit") },
		http.StatusBadRequest},
	{"limit-0-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a limit of 0", limitSent("0"), http.StatusInternalServerError},
	{"limit-below-0-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a negative limit", limitSent("-1"),
		http.StatusInternalServerError},
	{"blank-limit-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a blank limit", limitSent(" "), http.StatusInternalServerError},
	{"control-limit-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a control character in a limit", limitSent("\x00"), http.StatusInternalServerError},
	{"huge-limit-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 502 for a limit that overflows",
		func(r Request) bool { return len(r.Query.Get("limit")) > 18 }, http.StatusBadGateway},
	{"fraction-limit-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a fractional limit", limitSent("1.5"),
		http.StatusInternalServerError},
	{"limit-in-words-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a limit that is not a number", limitSent("ten"),
		http.StatusInternalServerError},
}

// cursorDamages use illegal cursors.
var cursorDamages = []pageDamage{
	{"cursor-a-position", "PAGE-CURSOR-VALUE", "uses positions as cursors", paging{form: numberCursor}},
	{"cursor-opaque", "PAGE-CURSOR-VALUE", "uses encoded objects as cursors", paging{form: opaqueCursor}},
	{"cursor-a-urn", "PAGE-CURSOR-VALUE", "uses URNs of UUIDs as cursors", paging{form: urnCursor}},
	{"cursor-without-dashes", "PAGE-CURSOR-VALUE", "uses UUIDs without dashes as cursors", paging{form: undashedCursor}},
	{"cursor-an-addressee", "PAGE-CURSOR-VALUE", "uses email addresses with a display name as cursors", paging{form: addresseeCursor}},
	{"cursor-a-link", "PAGE-CURSOR-VALUE", "uses URLs as cursors", paging{form: linkCursor}},
	{"late-cursor-a-position", "PAGE-CURSOR-VALUE", "uses positions as cursors later in the list",
		paging{form: late(uuidCursor, numberCursor)}},

	{"cursor-a-uuid", "PAGE-CURSOR-TIMESTAMP", "uses UUIDs as cursors of a timestamp-based list", paging{form: uuidCursor}},
	{"cursor-an-email", "PAGE-CURSOR-TIMESTAMP", "uses email addresses as cursors of a timestamp-based list", paging{form: emailCursor}},
	{"cursor-an-epoch", "PAGE-CURSOR-TIMESTAMP", "uses milliseconds since 1970 as cursors", paging{form: epochCursor}},
	{"cursor-a-date", "PAGE-CURSOR-TIMESTAMP", "uses dates without a time as cursors", paging{form: dateCursor}},
	{"late-cursor-a-uuid", "PAGE-CURSOR-TIMESTAMP", "uses UUIDs as cursors later in a timestamp-based list",
		paging{form: late(timestampCursor, uuidCursor)}},
}

// walkDamages break the sequence of pages.
var walkDamages = []pageDamage{
	{"last-page-leads-to-itself", "PAGE-WALK-ENDS", "links the last page to itself",
		paging{after: when(lastPage, func(s *page) { s.next = s.from })}},
	{"full-last-page-leads-to-itself", "PAGE-WALK-ENDS", "links the last page to itself if the number of rows is a multiple of the limit",
		paging{after: when(both(lastPage, isMultiple), func(s *page) { s.next = s.from })}},
	{"last-page-leads-to-first", "PAGE-WALK-ENDS", "links the last page to the first", paging{after: when(lastPage, backToFirst)}},
	{"small-pages-lead-to-first", "PAGE-WALK-ENDS", "links the last of many small pages to the first",
		paging{after: when(both(small, lastPage), backToFirst)}},
	{"last-row-for-ever", "PAGE-WALK-ENDS", "repeats its last row forever, each time with a new cursor",
		paging{after: when(lastPage, func(s *page) {
			s.next = max(0, len(s.list)-1)
			s.mark++
		})}},
	{"walk-stuck-half-way", "PAGE-WALK-ENDS", "links a page in the middle to itself",
		paging{after: when(crossing(1, 2), func(s *page) { s.next = s.from })}},

	{"row-repeated-at-boundary", "PAGE-WALK-ONCE", "starts each page with the last row of the previous page", paging{after: repeatLast}},
	{"row-repeated-on-small-pages", "PAGE-WALK-ONCE", "starts each small page with the last row of the previous page",
		paging{after: when(small, repeatLast)}},
	{"row-repeated-without-limit", "PAGE-WALK-ONCE", "starts each page with the last row of the previous page when no limit is sent",
		paging{after: when(not(askedFor), repeatLast)}},
	{"row-repeated-once", "PAGE-WALK-ONCE", "repeats one row at a page boundary deep in the list",
		paging{after: when(crossing(3, 4), repeatLast)}},
	{"row-doubled-in-page", "PAGE-WALK-ONCE", "shows the first row of a page deep in the list twice",
		paging{after: when(both(crossing(3, 4), several), func(s *page) {
			s.next--
			s.rows = slices.Concat(s.rows[:1], s.rows[:len(s.rows)-1])
		})}},
	{"first-row-again-at-the-end", "PAGE-WALK-ONCE", "shows its first row again on the last of many small pages",
		paging{after: when(both(small, both(lastPage, roomLeft)), func(s *page) { s.rows = slices.Concat(s.rows, s.list[:1]) })}},

	{"row-skipped-at-boundary", "PAGE-WALK-COMPLETE", "skips a row between two pages", paging{after: skipNext}},
	{"row-skipped-on-small-pages", "PAGE-WALK-COMPLETE", "skips a row between two small pages", paging{after: when(small, skipNext)}},
	{"row-skipped-on-pages-of-50", "PAGE-WALK-COMPLETE", "skips a row between two pages of 50", paging{after: when(limitIs("50"), skipNext)}},
	{"row-skipped-on-pages-of-10", "PAGE-WALK-COMPLETE", "skips a row between two pages of 10", paging{after: when(limitIs("10"), skipNext)}},
	{"row-skipped-on-pages-of-20", "PAGE-WALK-COMPLETE", "skips a row between two pages of 20", paging{after: when(limitIs("20"), skipNext)}},
	{"row-skipped-on-pages-of-25", "PAGE-WALK-COMPLETE", "skips a row between two pages of 25", paging{after: when(limitIs("25"), skipNext)}},
	{"row-skipped-without-limit", "PAGE-WALK-COMPLETE", "skips a row between two pages when no limit is sent",
		paging{after: when(not(askedFor), skipNext)}},
	{"row-skipped-once", "PAGE-WALK-COMPLETE", "skips one row at a page boundary deep in the list",
		paging{after: when(crossing(3, 4), skipNext)}},
	{"row-left-over-lost", "PAGE-WALK-COMPLETE", "ends the list if one row is left after a page", paging{after: when(oneLeft, endWalk)}},
	{"last-row-left-out", "PAGE-WALK-COMPLETE", "omits its last row with small pages", paging{before: when(small, withoutLast)}},
	{"page-short-of-a-row", "PAGE-WALK-COMPLETE", "drops a row from a page with the maximum limit",
		paging{after: when(both(limitIs("100"), several), func(s *page) { s.rows = slices.Delete(slices.Clone(s.rows), 1, 2) })}},
	{"walk-ends-early", "PAGE-WALK-COMPLETE", "returns no cursor with a full small page deep in the list",
		paging{after: when(both(small, crossing(3, 4)), endWalk)}},
	{"walk-of-twenty-pages", "PAGE-WALK-COMPLETE", "ends every walk after 20 pages", paging{after: func(s *page) {
		if s.mark++; s.mark == 20 {
			endWalk(s)
		}
	}}},

	{"small-pages-backwards", "PAGE-WALK-SEQUENCE", "returns small pages in reverse order", paging{before: backwards(small)}},
	{"full-pages-backwards", "PAGE-WALK-SEQUENCE", "returns pages with the maximum limit in reverse order",
		paging{before: backwards(limitIs("100"))}},
	{"pages-without-limit-backwards", "PAGE-WALK-SEQUENCE", "returns rows in reverse order when no limit is sent",
		paging{before: backwards(not(askedFor))}},

	{"two-rows-swapped", "PAGE-ORDER", "shows two neighbouring rows deep in the list in the wrong order", reordered(swapAt(3, 4))},
	{"last-rows-swapped", "PAGE-ORDER", "shows its last two rows in the wrong order", reordered(swapAt(1, 1))},
	{"first-row-last", "PAGE-ORDER", "shows the first row last", reordered(firstLast)},
	{"second-half-backwards", "PAGE-ORDER", "reverses the order halfway", reordered(func(rows []listRow) []listRow {
		return slices.Concat(rows[:len(rows)/2], reversed(rows[len(rows)/2:]))
	})},
	{"sorted-by-end-of-id", "PAGE-ORDER", "sorts by the random part of the ids", reordered(func(rows []listRow) []listRow {
		return slices.SortedStableFunc(slices.Values(rows), func(a, b listRow) int { return cmp.Compare(endOfID(a), endOfID(b)) })
	})},
	{"tens-backwards", "PAGE-ORDER", "reverses each group of ten rows", reordered(func(rows []listRow) []listRow {
		var all []listRow
		for ten := range slices.Chunk(rows, 10) {
			all = append(all, reversed(ten)...)
		}
		return all
	})},
}

// condition selects the pages to damage.
type condition func(*page) bool

func askedFor(s *page) bool   { return s.limit != "" }
func noLimit(s *page) bool    { return !s.request.Query.Has("limit") }
func firstPage(s *page) bool  { return s.first }
func lastPage(s *page) bool   { return s.next >= len(s.list) && !s.first }
func isMultiple(s *page) bool { return len(s.list)%s.size == 0 }
func emptyLimit(s *page) bool { return s.request.Query.Has("limit") && s.limit == "" }
func lastButOne(s *page) bool { rest := len(s.list) - s.from; return rest > s.size && rest < 2*s.size }
func small(s *page) bool      { return s.size < 10 }
func several(s *page) bool    { return len(s.rows) > 1 }
func roomLeft(s *page) bool   { return len(s.rows) < s.size }
func wordy(s *page) bool      { return s.limit != "" && (s.limit[0] < '-' || s.limit[0] > '9') }

func limitIs(limit string) condition { return func(s *page) bool { return s.limit == limit } }

// limitSent is limitIs for requests that no paging handles.
func limitSent(limit string) func(Request) bool {
	return func(r Request) bool { return r.Query.Get("limit") == limit }
}

// crossing matches a page that passes a part of the list and is not its last.
func crossing(part, of int) condition {
	return func(s *page) bool {
		at := len(s.list) * part / of
		return s.from < at && at <= s.next && s.next < len(s.list)
	}
}

func not(c condition) condition     { return func(s *page) bool { return !c(s) } }
func both(a, b condition) condition { return func(s *page) bool { return a(s) && b(s) } }

// when restricts a change to some pages.
func when(c condition, do func(*page)) func(*page) {
	return func(s *page) {
		if c(s) {
			do(s)
		}
	}
}

// sized gives some pages another size.
func sized(c condition, size int) paging {
	return paging{before: when(c, func(s *page) { s.size = size })}
}

func oneMore(s *page) { s.size++ }

// repeatLast starts the next page with the last row of this one. A page of one
// row must advance, or the walk would not end.
func repeatLast(s *page) {
	if len(s.rows) > 1 && s.next < len(s.list) {
		s.next--
	}
}

func skipNext(s *page) { s.next++ }

func oneLeft(s *page) bool { return s.next == len(s.list)-1 }

func endWalk(s *page) { s.next = len(s.list) }

func backToFirst(s *page) { s.next = 0 }

// backwards reverses whole walks: those that begin with a matching page.
func backwards(c condition) func(*page) {
	return func(s *page) {
		if s.first && c(s) {
			s.mark = 1
		}
		if s.mark == 1 {
			otherWay(s)
		}
	}
}

// reordered changes the order of rows, equally for every page size.
func reordered(order func([]listRow) []listRow) paging {
	return paging{before: func(s *page) {
		if len(s.list) > 2 {
			s.list = order(s.list)
		}
	}}
}

// swapAt swaps the two rows before a part of the list.
func swapAt(part, of int) func([]listRow) []listRow {
	return func(rows []listRow) []listRow {
		rows = slices.Clone(rows)
		at := max(2, len(rows)*part/of)
		rows[at-2], rows[at-1] = rows[at-1], rows[at-2]
		return rows
	}
}

// firstLast moves the first row to the end.
func firstLast(rows []listRow) []listRow { return slices.Concat(rows[1:], rows[:1]) }

// endOfID returns the part of a UUID without time.
func endOfID(r listRow) string {
	id := r.text("id")
	return id[max(0, len(id)-12):]
}

// rowsOnceDefects show a row of a list without pages again.
func rowsOnceDefects() []Defect {
	const list = spec.ListPhoneNumbers
	again := func(damage, doc string, rows func([]any) []any) Defect {
		return breaking("LIST-ROWS-ONCE", list, damage, doc, onBody(list, http.StatusOK, func(_ Request, body any) any {
			if items, ok := body.([]any); ok && len(items) > 0 {
				return rows(items)
			}
			return body
		}))
	}
	return []Defect{
		again("last-row-twice", "shows its last row twice", func(items []any) []any { return append(items, items[len(items)-1]) }),
		again("first-row-again", "shows its first row again at the end", func(items []any) []any { return append(items, items[0]) }),
	}
}

// sortDefects sort the placement tests wrongly on request.
func sortDefects() []Defect {
	const list = spec.ListPlacementTests
	var defects []Defect
	for _, s := range []struct{ order, requirement string }{{"asc", "SORT-ASC"}, {"desc", "SORT-DESC"}} {
		asked := func(page *page) bool { return page.request.Query.Get("sort_order") == s.order }
		for _, d := range sortDamages {
			defects = append(defects, Defect{list + "/sorted-" + s.order + "-" + d.name, spec.Pair{Requirement: s.requirement, Operation: list},
				d.doc + " for sort_order=" + s.order,
				func(a *Target) Middleware {
					return a.paged(list, paging{before: when(asked, d.before), after: when(asked, d.after)})
				}})
		}
	}
	return defects
}

var sortDamages = []struct {
	name, doc     string
	before, after func(*page)
}{
	{"the-other-way", "sorts in the opposite order", otherWay, asItIs},
	{"page-by-page", "sorts each page separately", otherWay, func(s *page) { s.rows = reversed(s.rows) }},
	{"small-pages-the-other-way", "sorts small pages in the opposite order", when(small, otherWay), asItIs},
	{"the-other-way-under-search", "sorts what a search finds in the opposite order", when(queried("search"), otherWay), asItIs},
	{"the-other-way-under-status", "sorts the rows of a status in the opposite order", when(queried("status"), otherWay), asItIs},
	{"the-other-way-under-both", "sorts the rows of a status that a search finds in the opposite order",
		when(func(s *page) bool { return queried("search")(s) && queried("status")(s) }, otherWay), asItIs},
	{"rows-swapped", "shows two rows deep in the list in the wrong order", reordered(swapAt(3, 4)).before, asItIs},
	{"first-row-last", "shows the first row last", reordered(firstLast).before, asItIs},
	{"last-row-lost", "omits the last row", withoutLast, asItIs},
	{"row-skipped", "skips a row between two pages", asItIs, skipNext},
	{"row-repeated", "starts each page with the last row of the previous page", asItIs, repeatLast},
	{"row-skipped-under-search", "skips a row between two pages of a search", asItIs, when(queried("search"), skipNext)},
	{"row-repeated-under-search", "starts each page of a search with the last row of the previous page", asItIs, when(queried("search"), repeatLast)},
	{"row-skipped-under-status", "skips a row between two pages of a status", asItIs, when(queried("status"), skipNext)},
	{"row-repeated-under-status", "starts each page of a status with the last row of the previous page", asItIs, when(queried("status"), repeatLast)},
}

// queried reports whether the request has the parameter.
func queried(name string) condition { return func(s *page) bool { return s.request.Query.Has(name) } }

func asItIs(*page) {}

func otherWay(s *page) { s.list = reversed(s.list) }

func withoutLast(s *page) { s.list = s.list[:max(0, len(s.list)-1)] }
