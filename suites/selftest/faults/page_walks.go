package faults

import (
	"cmp"
	"slices"
)

// walkDamages break the sequence of pages.
var walkDamages = []pageDamage{
	{"last-page-leads-to-itself", "PAGE-WALK-ENDS", "links the last page to itself", paging{after: when(lastPage, func(s *page) { s.next = s.from })}},
	{"last-page-leads-to-first", "PAGE-WALK-ENDS", "links the last page to the first", paging{after: when(lastPage, backToFirst)}},
	{"small-pages-lead-to-first", "PAGE-WALK-ENDS", "links the last of many small pages to the first", paging{after: when(both(small, lastPage), backToFirst)}},
	{"last-row-for-ever", "PAGE-WALK-ENDS", "repeats its last row forever, each time with a new cursor", paging{after: when(lastPage, func(s *page) {
		s.next = max(0, len(s.list)-1)
		s.mark++
	})}},
	{"walk-stuck-half-way", "PAGE-WALK-ENDS", "links a page in the middle to itself", paging{after: when(crossing(1, 2), func(s *page) { s.next = s.from })}},

	{"row-repeated-at-boundary", "PAGE-WALK-ONCE", "starts each page with the last row of the previous page", paging{after: repeatLast}},
	{"row-repeated-on-small-pages", "PAGE-WALK-ONCE", "starts each small page with the last row of the previous page", paging{after: when(small, repeatLast)}},
	{"row-repeated-without-limit", "PAGE-WALK-ONCE", "starts each page with the last row of the previous page when no limit is sent", paging{after: when(not(askedFor), repeatLast)}},
	{"row-repeated-once", "PAGE-WALK-ONCE", "repeats one row at a page boundary deep in the list", paging{after: when(crossing(3, 4), repeatLast)}},
	{"row-doubled-in-page", "PAGE-WALK-ONCE", "shows the first row of a page deep in the list twice", paging{after: when(both(crossing(3, 4), several), func(s *page) {
		s.next--
		s.rows = slices.Concat(s.rows[:1], s.rows[:len(s.rows)-1])
	})}},
	{"first-row-again-at-the-end", "PAGE-WALK-ONCE", "shows its first row again on the last of many small pages",
		paging{after: when(both(small, both(lastPage, roomLeft)), func(s *page) { s.rows = slices.Concat(s.rows, s.list[:1]) })}},

	{"row-skipped-at-boundary", "PAGE-WALK-COMPLETE", "skips a row between two pages", paging{after: skipNext}},
	{"row-skipped-on-small-pages", "PAGE-WALK-COMPLETE", "skips a row between two small pages", paging{after: when(small, skipNext)}},
	{"row-skipped-on-pages-of-50", "PAGE-WALK-COMPLETE", "skips a row between two pages of 50", paging{after: when(limitIs("50"), skipNext)}},
	{"row-skipped-without-limit", "PAGE-WALK-COMPLETE", "skips a row between two pages when no limit is sent", paging{after: when(not(askedFor), skipNext)}},
	{"row-skipped-once", "PAGE-WALK-COMPLETE", "skips one row at a page boundary deep in the list", paging{after: when(crossing(3, 4), skipNext)}},
	{"last-row-left-out", "PAGE-WALK-COMPLETE", "omits its last row with small pages", paging{before: when(small, withoutLast)}},
	{"page-short-of-a-row", "PAGE-WALK-COMPLETE", "drops a row from a page with the maximum limit", paging{after: when(both(limitIs("100"), several), func(s *page) { s.rows = slices.Delete(slices.Clone(s.rows), 1, 2) })}},
	{"walk-ends-early", "PAGE-WALK-COMPLETE", "returns no cursor with a full small page deep in the list", paging{after: when(both(small, crossing(3, 4)), endWalk)}},
	{"walk-of-twenty-pages", "PAGE-WALK-COMPLETE", "ends every walk after 20 pages", paging{after: func(s *page) {
		if s.mark++; s.mark == 20 {
			endWalk(s)
		}
	}}},

	{"small-pages-backwards", "PAGE-WALK-SEQUENCE", "returns small pages in reverse order", paging{before: backwards(small)}},
	{"full-pages-backwards", "PAGE-WALK-SEQUENCE", "returns pages with the maximum limit in reverse order", paging{before: backwards(limitIs("100"))}},
	{"pages-without-limit-backwards", "PAGE-WALK-SEQUENCE", "returns rows in reverse order when no limit is sent", paging{before: backwards(not(askedFor))}},

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
func firstPage(s *page) bool  { return s.first }
func lastPage(s *page) bool   { return s.next >= len(s.list) && !s.first }
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
