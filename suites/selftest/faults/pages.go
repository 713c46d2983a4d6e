package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// mistakes are what servers get wrong, by the requirement that it breaks.
type mistakes map[spec.ID][]mistake

// mistake is one of them. Its words are its id, too.
type mistake struct {
	doc string
	do  rule
}

// defects returns a defect for each mistake and each operation of its requirement. The rules
// beside do not show by themselves.
func (m mistakes) defects(beside ...rule) []Defect {
	var defects []Defect
	for _, breaks := range slices.Sorted(maps.Keys(m)) {
		for _, one := range m[breaks] {
			defects = append(defects, onEach(breaks, one.doc, one.doc, append(beside, one.do)...)...)
		}
	}
	return defects
}

// before is a mistake before the page is cut, after one on the cut page.
func before(change func(*page)) rule { return when(always, serve(pager{before: change})) }
func after(change func(*page)) rule  { return when(always, serve(pager{after: change})) }

// cursors is a list whose cursors are numbers in that form.
func cursors(format string) rule {
	return when(always, serve(pager{form: func(n int) string { return fmt.Sprintf(format, n) }}))
}

func pageDefects() []Defect {
	defects := slices.Concat(pageMistakes.defects(), changeMistakes.defects(when(served, noteCursor),
		on(spec.CreatePlacementTest, served, func(x *exchange) { x.memory.put("newest", textOf(x.body(), "id")) }),
		on(spec.DeletePlacementTest, served, noteRemoval), on(spec.DeleteSubsequence, served, noteRemoval)))
	// Each form of a limit is checked by itself.
	for _, limit := range []string{"0", "-1", "101", "1000", "1.5", "ten", " ", "\x00", "99999999999999999999"} {
		doc := "answers 500 to limit=" + strconv.Quote(limit)
		defects = append(defects, onEach(spec.PageLimitOutOfRange, doc, doc, when(with("limit", limit), refuse(500)))...)
	}
	return defects
}

var pageMistakes = mistakes{
	spec.PageLimitAccepted: {
		{"refuses limit=1", when(with("limit", "1"), refuse(400))},
		{"refuses limit=99", when(with("limit", "99"), refuse(422))},
		{"answers 500 to limit=100", when(with("limit", "100"), refuse(500))},
	},
	spec.PageLimitHonoured: {
		{"serves 10 rows a page for any limit", when(has("limit"), serve(pager{before: sized(10)}))},
		{"serves a row more than limit=100", before(only(limited("100"), oneMore))},
		{"serves a row more than limit=1", before(only(limited("1"), oneMore))},
		{"serves a row more than the limit on all pages but the first", before(only(laterOnes, oneMore))},
	},
	spec.PageLimitAbsent: {
		{"serves the whole list without a limit", before(only(limited(""), sized(everything)))},
		{"requires a limit", when(not(has("limit")), refuse(400))},
	},
	spec.PageLimitOutOfRange: {
		{"serves the whole list for limit=0", before(only(limited("0"), sized(everything)))},
		{"serves 101 rows for limit=101", before(only(limited("101"), sized(101)))},
		{"serves the whole list for an empty limit", when(with("limit", ""), serve(pager{before: sized(everything)}))},
	},
	spec.PageCursorValue: {
		{"uses positions as cursors", cursors("%d")},
		{"uses URNs of UUIDs as cursors", cursors("urn:uuid:00000000-0000-7000-8000-%012x")},
		{"uses UUIDs without dashes as cursors", cursors("000000000000700080%014x")},
		{"uses email addresses with a name as cursors", cursors("Row <row-%d@list.example>")},
		{"uses positions as cursors late in the list", when(always, serve(pager{form: late(uuidCursor)}))},
	},
	spec.PageCursorTimestamp: {
		{"uses UUIDs as cursors", cursors("00000000-0000-7000-8000-%012x")},
		{"uses milliseconds since 1970 as cursors", cursors("17356%08d")},
		{"uses days as cursors", cursors("2%03d-01-01")},
		{"uses positions as cursors late in the list", when(always, serve(pager{form: late(timestampCursor)}))},
	},
	spec.PageWalkEnds: {
		{"links the last page to itself", after(only(lastOne, linkToItself))},
		{"links a full last page to itself", after(only(lastOne.and(isFull), linkToItself))},
		{"links the last small page to the first", after(only(lastOne.and(smallOnes), func(s *page) { s.next = 0 }))},
		{"repeats its last row for ever, each time with a new cursor", after(only(lastOne, func(s *page) { s.next, s.mark = max(0, len(s.list)-1), s.mark+1 }))},
		{"links a page deep in the list to itself", after(only(deepOne, linkToItself))},
	},
	spec.PageWalkOnce: {
		{"starts each page with the last row of the previous page", after(repeatLast)},
		{"repeats rows between small pages", after(only(smallOnes, repeatLast))},
		{"repeats rows between pages without a limit", after(only(limited(""), repeatLast))},
		{"repeats a row deep in the list", after(only(deepOne, repeatLast))},
		{"shows a row twice on a page deep in the list", after(only(deepOne, func(s *page) { s.rows = slices.Concat(s.rows[:1], s.rows) }))},
	},
	spec.PageWalkComplete: {
		{"skips a row between two pages", after(skipNext)},
		{"skips a row between two pages of 50", after(only(limited("50"), skipNext))},
		{"skips a row deep in the list", after(only(deepOne, skipNext))},
		{"ends the list if one row is left after a page", after(only(func(s *page) bool { return s.next == len(s.list)-1 }, endWalk))},
		{"leaves out its last row on small pages", before(only(smallOnes, withoutLast))},
		{"ends every walk after 20 pages", after(func(s *page) {
			if s.mark++; s.mark == 20 {
				endWalk(s)
			}
		})},
	},
	spec.PageWalkSequence: {
		{"shows small pages in reverse order", before(throughout(smallOnes, backwards))},
		{"shows pages of 100 in reverse order", before(throughout(limited("100"), backwards))},
		{"shows pages without a limit in reverse order", before(throughout(limited(""), backwards))},
	},
	spec.PageOrder: {
		{"shows two rows deep in the list in the wrong order", before(swapDeep)},
		{"shows the first half last", before(func(s *page) { s.list = slices.Concat(s.list[len(s.list)/2:], s.list[:len(s.list)/2]) })},
		{"reverses the order halfway", before(func(s *page) { s.list = slices.Concat(s.list[:len(s.list)/2], reversed(s.list[len(s.list)/2:])) })},
	},
	spec.SortAsc:  sorted("asc"),
	spec.SortDesc: sorted("desc"),
	spec.ListRowsOnce: {
		{"shows the last row twice", when(always, items(func(_ *exchange, items []any) []any { return append(items, items[max(0, len(items)-1):]...) }))},
		{"shows the first row again at the end", when(always, items(func(_ *exchange, items []any) []any { return append(items, items[:min(1, len(items))]...) }))},
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

func sized(n int) func(*page) { return func(s *page) { s.size = n } }

// oneMore leaves requests to the target that have no valid limit.
func oneMore(s *page) {
	if s.limit != "" && s.size > 0 {
		s.size++
	}
}

func swapDeep(s *page) {
	if at := len(s.list) * 3 / 4; at > 1 {
		s.list = slices.Clone(s.list)
		s.list[at-2], s.list[at-1] = s.list[at-1], s.list[at-2]
	}
}

// late uses positions behind row 100.
func late(early cursorForm) cursorForm {
	return func(n int) string {
		if n > 100 {
			return strconv.Itoa(n)
		}
		return early(n)
	}
}

// changeMistakes break walks while rows come and go. The cursors of a pager are positions,
// which such rows shift.
var changeMistakes = mistakes{
	spec.PageInsert: {
		{"uses positions as cursors, which a new row shifts", before(nil)},
		{"shows the newest row first and uses positions as cursors", before(newestFirst)},
		{"answers a cursor older than the newest row with an empty page", when(insertedSince, showNothing)},
		{"skips a row for a cursor older than the newest row", when(insertedSince, skipFirst)},
		{"refuses a cursor older than the newest row", when(insertedSince, refuse(400))},
	},
	spec.PageRemove: {
		{"uses positions as cursors, which a deleted row shifts", before(nil)},
		{"answers a cursor whose row was deleted with an empty page", when(rowRemoved, showNothing)},
		{"answers a cursor whose row was deleted with the first page", when(rowRemoved, dropParam(profile.ParamStartingAfter))},
		{"skips a row for a cursor whose row was deleted", when(rowRemoved, skipFirst)},
	},
}

func newestFirst(s *page) {
	s.list = slices.SortedStableFunc(slices.Values(s.list), func(a, b row) int { return cmp.Compare(b.rank, a.rank) })
}

var skipFirst = items(func(_ *exchange, items []any) []any { return items[min(1, len(items)):] })

// noteCursor remembers, with the cursor of a page, its last row and the newest row.
func noteCursor(x *exchange) {
	if rows, cursor, ok := pageIn(x.answer); ok && cursor != "" && len(rows) > 0 {
		newest, _ := x.memory.get("newest")
		x.memory.put("newest at "+cursor, newest)
		x.memory.put("row of "+cursor, rows[len(rows)-1].text("id"))
	}
}

func noteRemoval(x *exchange) { x.memory.put("removed "+x.ID, true) }

// insertedSince is a cursor that is older than the newest row.
func insertedSince(x *exchange) bool {
	before, known := x.memory.get("newest at " + x.param(profile.ParamStartingAfter))
	newest, _ := x.memory.get("newest")
	return known && before != newest
}

// rowRemoved is a cursor whose row was deleted.
func rowRemoved(x *exchange) bool {
	row, known := x.memory.get("row of " + x.param(profile.ParamStartingAfter))
	return known && x.memory.has("removed "+row.(string))
}

// sorted are mistakes of a sort order.
func sorted(order string) []mistake {
	sort := func(p pager, keys ...string) rule {
		return when(all(with(profile.ParamSortOrder, order), has(keys...)), serve(p))
	}
	return []mistake{
		{"sorts in the opposite order with " + order, sort(pager{before: backwards})},
		{"sorts each page by itself with " + order, sort(pager{before: backwards, after: func(s *page) { s.rows = reversed(s.rows) }})},
		{"sorts what a search with a status finds in the opposite order with " + order, sort(pager{before: backwards}, profile.ParamSearch, profile.ParamStatus)},
		{"shows two rows deep in the list in the wrong order with " + order, sort(pager{before: swapDeep})},
		{"leaves out the last row with " + order, sort(pager{before: withoutLast})},
		{"skips a row between two pages of a status with " + order, sort(pager{after: skipNext}, profile.ParamStatus)},
		{"repeats rows between pages of a search with " + order, sort(pager{after: repeatLast}, profile.ParamSearch)},
	}
}
