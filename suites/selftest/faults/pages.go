package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// beforeCut is a mistake before the page is cut, afterCut one on the cut page.
func beforeCut(change func(*page)) verb { return serve(pager{before: change}) }
func afterCut(change func(*page)) verb  { return serve(pager{after: change}) }

// cursorsLike is a list whose cursors are numbers in that form.
func cursorsLike(format string) verb {
	return serve(pager{form: func(n int) string { return fmt.Sprintf(format, n) }})
}

func pageDefects() []Defect {
	defects := slices.Concat(pageMistakes.on(""), changeMistakes.on("", when(served, noteCursor),
		on(spec.CreatePlacementTest, served, func(x *exchange) { x.memory.put("newest", textOf(x.body(), "id")) }),
		on(spec.DeletePlacementTest, served, noteRemoval), on(spec.DeleteSubsequence, served, noteRemoval)))
	// Each form of a limit is checked by itself.
	for _, limit := range []string{"0", "-1", "101", "1.5", "ten", " ", "\x00", "99999999999999999999"} {
		doc := "answers 500 to limit=" + strconv.Quote(limit)
		defects = append(defects, onEach(spec.PageLimitOutOfRange, doc, when(with("limit", limit), refuse(500)))...)
	}
	return defects
}

var pageMistakes = mistakes{
	spec.PageLimitAccepted: {
		{"refuses limit=1", with("limit", "1"), refuse(400)},
		{"refuses limit=99", with("limit", "99"), refuse(422)},
		{"answers 500 to limit=100", with("limit", "100"), refuse(500)},
	},
	spec.PageLimitHonoured: {
		{"serves 10 rows a page for any limit", has("limit"), beforeCut(ofSize(10))},
		{"serves a row more than limit=100", always, beforeCut(only(limited("100"), oneMore))},
		{"serves a row more than the limit on all pages but the first", always, beforeCut(only(laterOnes, oneMore))},
	},
	spec.PageLimitAbsent: {
		{"serves the whole list without a limit", always, beforeCut(only(limited(""), ofSize(everything)))},
		{"requires a limit", not(has("limit")), refuse(400)},
	},
	spec.PageLimitOutOfRange: {
		{"serves the whole list for limit=0", always, beforeCut(only(limited("0"), ofSize(everything)))},
		{"serves 101 rows for limit=101", always, beforeCut(only(limited("101"), ofSize(101)))},
		{"serves the whole list for an empty limit", with("limit", ""), beforeCut(ofSize(everything))},
	},
	spec.PageCursorValue: {
		{"uses positions as cursors", always, cursorsLike("%d")},
		{"uses URNs of UUIDs as cursors", always, cursorsLike("urn:uuid:00000000-0000-7000-8000-%012x")},
		{"uses UUIDs without dashes as cursors", always, cursorsLike("000000000000700080%014x")},
		{"uses positions as cursors late in the list", always, serve(pager{form: lateCursors(uuidCursor)})},
	},
	spec.PageCursorTimestamp: {
		{"uses UUIDs as cursors", always, cursorsLike("00000000-0000-7000-8000-%012x")},
		{"uses milliseconds since 1970 as cursors", always, cursorsLike("17356%08d")},
		{"uses days as cursors", always, cursorsLike("2%03d-01-01")},
		{"uses positions as cursors late in the list", always, serve(pager{form: lateCursors(timestampCursor)})},
	},
	spec.PageWalkEnds: {
		{"links the last page to itself", always, afterCut(only(lastOne, linkToItself))},
		{"links a full last page to itself", always, afterCut(only(lastOne.and(isFull), linkToItself))},
		{"repeats its last row for ever, each time with a new cursor", always, afterCut(only(lastOne, func(s *page) { s.next, s.mark = max(0, len(s.list)-1), s.mark+1 }))},
		{"links a page deep in the list to itself", always, afterCut(only(deepOne, linkToItself))},
	},
	spec.PageWalkOnce: {
		{"starts each page with the last row of the previous page", always, afterCut(repeatLast)},
		{"repeats rows between small pages", always, afterCut(only(smallOnes, repeatLast))},
		{"repeats rows between pages without a limit", always, afterCut(only(limited(""), repeatLast))},
		{"repeats a row deep in the list", always, afterCut(only(deepOne, repeatLast))},
	},
	spec.PageWalkComplete: {
		{"skips a row between two pages", always, afterCut(skipNext)},
		{"skips a row between two pages of 50", always, afterCut(only(limited("50"), skipNext))},
		{"skips a row deep in the list", always, afterCut(only(deepOne, skipNext))},
		{"ends the list if one row is left after a page", always, afterCut(only(func(s *page) bool { return s.next == len(s.list)-1 }, endWalk))},
		{"ends every walk after 20 pages", always, afterCut(func(s *page) {
			if s.mark++; s.mark == 20 {
				endWalk(s)
			}
		})},
	},
	spec.PageWalkSequence: {
		{"shows small pages in reverse order", always, beforeCut(throughout(smallOnes, backwards))},
		{"shows pages of 100 in reverse order", always, beforeCut(throughout(limited("100"), backwards))},
	},
	spec.PageOrder: {
		{"shows the last two rows in the wrong order", always, beforeCut(turnEnd(2))},
		{"shows the first half last", always, beforeCut(func(s *page) { s.list = slices.Concat(s.list[len(s.list)/2:], s.list[:len(s.list)/2]) })},
	},
	spec.SortAsc:  sortMistakes("asc"),
	spec.SortDesc: sortMistakes("desc"),
	spec.ListRowsOnce: {
		{"shows the first row again at the end", always, items(func(_ *exchange, items []any) []any { return append(items, items[:min(1, len(items))]...) })},
	},
}

// isFull is a page with as many rows as it may have.
func isFull(s *page) bool { return len(s.rows) == s.size }

// deepOne is the page that passes the last quarter of the list and is not its last.
var deepOne pageSet = func(s *page) bool {
	at := len(s.list) * 3 / 4
	return s.from < at && at <= s.next && s.next < len(s.list)
}

// throughout changes the pages of whole walks: those that begin with a page of the set.
func throughout(which pageSet, do func(*page)) func(*page) {
	return func(s *page) {
		if s.first && which(s) {
			s.mark = 1
		}
		if s.mark == 1 {
			do(s)
		}
	}
}

func ofSize(n int) func(*page) { return func(s *page) { s.size = n } }

// oneMore leaves requests to the target that have no valid limit.
func oneMore(s *page) {
	if s.limit != "" && s.size > 0 {
		s.size++
	}
}

// turnEnd shows the last n rows in reverse order.
func turnEnd(n int) func(*page) {
	return func(s *page) {
		at := max(0, len(s.list)-n)
		s.list = slices.Concat(s.list[:at], reversed(s.list[at:]))
	}
}

// lateCursors uses positions behind row 120: short lists do not show it.
func lateCursors(early cursorForm) cursorForm {
	return func(n int) string {
		if n > 120 {
			return strconv.Itoa(n)
		}
		return early(n)
	}
}

// changeMistakes break walks while rows come and go. The cursors of a pager are positions,
// which such rows shift.
var changeMistakes = mistakes{
	spec.PageInsert: {
		{"shows the newest row first and uses positions as cursors", always, beforeCut(newestRowFirst)},
		{"answers a cursor older than the newest row with an empty page", insertedSince, showNothing},
		{"skips a row for a cursor older than the newest row", insertedSince, skipFirstRow},
		{"refuses a cursor older than the newest row", insertedSince, refuse(400)},
	},
	spec.PageRemove: {
		{"uses positions as cursors, which a deleted row shifts", always, beforeCut(nil)},
		{"answers a cursor whose row was deleted with an empty page", rowRemoved, showNothing},
		{"answers a cursor whose row was deleted with the first page", rowRemoved, dropParam(profile.ParamStartingAfter)},
		{"skips a row for a cursor whose row was deleted", rowRemoved, skipFirstRow},
	},
}

func newestRowFirst(s *page) {
	s.list = slices.SortedStableFunc(slices.Values(s.list), func(a, b row) int { return cmp.Compare(b.rank, a.rank) })
}

var skipFirstRow = items(func(_ *exchange, items []any) []any { return items[min(1, len(items)):] })

// issuedCursor is what a fault knows of a cursor: the newest row of that time, and the last row of
// the page.
type issuedCursor struct {
	newest any
	row    string
}

func noteCursor(x *exchange) {
	if rows, cursor, ok := pageIn(x.answer); ok && cursor != "" && len(rows) > 0 {
		newest, _ := x.memory.get("newest")
		x.memory.put("cursor "+cursor, issuedCursor{newest, rows[len(rows)-1].text("id")})
	}
}

func noteRemoval(x *exchange) { x.memory.put(x.ID, true) }

// insertedSince is a cursor that is older than the newest row.
func insertedSince(x *exchange) bool {
	at, known := x.memory.get("cursor " + x.param(profile.ParamStartingAfter))
	newest, _ := x.memory.get("newest")
	return known && at.(issuedCursor).newest != newest
}

// rowRemoved is a cursor whose row was deleted.
func rowRemoved(x *exchange) bool {
	at, known := x.memory.get("cursor " + x.param(profile.ParamStartingAfter))
	return known && x.memory.has(at.(issuedCursor).row)
}

// sortMistakes are mistakes of a sort order.
func sortMistakes(order string) []mistake {
	sorted := func(beside ...string) occasion { return all(with(profile.ParamSortOrder, order), has(beside...)) }
	return []mistake{
		{"sorts in the opposite order with sort_order=" + order, sorted(), beforeCut(backwards)},
		{"sorts each page by itself with sort_order=" + order, sorted(), serve(pager{before: backwards, after: func(s *page) { s.rows = reversed(s.rows) }})},
		{"sorts what a search with a status finds in the opposite order with sort_order=" + order, sorted(profile.ParamSearch, profile.ParamStatus), beforeCut(backwards)},
		{"leaves out the last row with sort_order=" + order, sorted(), beforeCut(withoutLast)},
		{"skips a row between two pages of a status with sort_order=" + order, sorted(profile.ParamStatus), afterCut(skipNext)},
	}
}
