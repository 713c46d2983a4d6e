package suites

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// pagination judges limits and walks of every paged list (section Pagination).
func pagination() {
	for _, op := range spec.PageLimitAccepted.Operations() {
		Describe(op.ID, func() {
			It("accepts and honours limits from 1 to 100", Requires(spec.PageLimitAccepted, spec.PageLimitHonoured), limitsInRange)
			It("serves a page without a limit", Requires(spec.PageLimitAbsent), limitAbsent)
			It("refuses or clamps a limit out of range", Requires(spec.PageLimitOutOfRange), limitsOutOfRange)
			It("shows the same rows, each once, in order, for every page size", Requires(walkRequirements(op)...), Needs(Cursor(op.ID)), walksAgree)
		})
	}
}

// walkRequirements are those that walks of the list put to the test. A list
// whose rows have no id has no order.
func walkRequirements(op spec.Operation) []spec.ID {
	walks := []spec.ID{spec.PageWalkEnds, spec.PageWalkOnce, spec.PageWalkComplete, spec.PageWalkSequence, spec.PageLimitHonoured, CursorRequirement(op)}
	if spec.Has(spec.PageOrder.On(op.ID)) {
		walks = append(walks, spec.PageOrder)
	}
	return walks
}

func limitsInRange(api *API) {
	for _, limit := range []int{1, 2, 7, 99, 100} {
		page := api.Do(api.Request().WithQuery("limit", strconv.Itoa(limit)).Breaking(spec.PageLimitAccepted))
		if page.OK() {
			api.For(spec.PageLimitHonoured).Expect(page).To(HaveAtMostItems(limit))
		} else {
			api.For(spec.PageLimitHonoured).Missing("%s", page.Shortfall())
		}
	}
}

func limitAbsent(api *API) {
	list := api.Request()
	page := api.Do(list.Breaking(spec.PageLimitAbsent))
	if !page.OK() {
		return
	}
	rows := len(page.Rows())
	if rows > 0 {
		api.Expect(page).To(HaveAtMostItems(spec.MaxLimit))
	}
	if page.Cursor() == "" { // the page may hold the whole list
		return
	}
	if rows == spec.MaxLimit || len(api.Do(list.WithQuery("limit", strconv.Itoa(spec.MaxLimit))).Rows()) > rows {
		api.Observe(spec.OpenPointDefaultLimit, "%d items", rows)
	}
}

func limitsOutOfRange(api *API) {
	list := api.Request().MayBeRefused().Breaking(spec.PageLimitOutOfRange)
	for _, limit := range []string{"", " ", "\x00", "0", "-1", "101", "1000", "99999999999999999999", "1.5", "ten"} {
		page := api.Do(list.WithQuery("limit", limit))
		seen := fmt.Sprint(page.Status)
		switch {
		case page.OK():
			seen = fmt.Sprintf("%d items", len(page.Rows()))
			if len(page.Rows()) > 0 {
				api.Expect(page).To(HaveAtMostItems(spec.MaxLimit))
			} else {
				api.For(spec.PageLimitOutOfRange).Assessed()
			}
		case page.Status/100 == 4:
			api.Expect(page).To(BeRefused())
		default:
			api.For(spec.PageLimitOutOfRange).Missing("%s", page.Shortfall())
			continue
		}
		if strings.Trim(limit, " \x00") != "" { // an empty limit may count as no limit
			api.Observe(spec.OpenPointLimitRange, "limit %s: %s", limit, seen)
		}
	}
}

// walksAgree walks the list in the largest pages, in others, and in the largest again. Rows that
// come or go meanwhile show in the first and the last.
func walksAgree(api *API) {
	list := KeysOf(api.Request())
	usual := len(api.Do(list).PageRows()) // rows of a page without a limit
	before := api.Walk(list, PagesOf(spec.MaxLimit))
	n := len(before.Rows())
	between := Each(api, []paging.Sizes{
		singlesAround(n, 8, 2, 7, 50, 10, 20, 25, 99), // sizes that people choose; a server may end a walk after 20 pages
		smallAtTheEnd(n, usual),
	}, func(sizes paging.Sizes) Walk { return api.Walk(list, sizes) })
	after := api.Walk(list, PagesOf(spec.MaxLimit))
	for _, walk := range between { // walks at the same time show nothing about each other
		judgeWalks(api, []Walk{before, walk, after}, func(id spec.ID) Requirement { return api.For(id) })
	}
	cursors := CursorRequirement(api.Operation())
	for _, walk := range append(between, before, after) {
		api.For(cursors).Expect(walk).To(CarryCursors(cursors == spec.PageCursorTimestamp))
		observeWalk(api, walk)
	}
}

// singlesAround asks for some single rows at both ends of a list of n rows, and for pages of the
// given sizes between them. A page of one row is always full, also the last one, and behind the
// page before it one row is left: servers compute these two cases wrongly.
func singlesAround(n, singles int, between ...int) paging.Sizes {
	sizes := fill(slices.Repeat([]int{1}, singles), n-2*singles, between...)
	return inTheEnd(append(sizes, slices.Repeat([]int{1}, 2*singles)...), spec.MaxLimit) // the list may grow meanwhile
}

// smallAtTheEnd sends no limit with the first page, which has the usual number of rows. The largest
// pages follow (0 stands for no limit), and small ones from the last quarter of a list of n rows on.
func smallAtTheEnd(n, usual int) paging.Sizes {
	const small, most = 9, 63 // rows in one of the pages, and in all
	return inTheEnd(fill([]int{0}, max(n*3/4-small/2, n-most)-usual), small)
}

// fill appends sizes of pages for so many rows: the given ones, then the largest.
func fill(sizes []int, rows int, first ...int) []int {
	for rows > 0 {
		size := spec.MaxLimit
		if len(first) > 0 {
			size, first = max(1, first[0]), first[1:]
		}
		size = min(size, rows, spec.MaxLimit)
		sizes, rows = append(sizes, size), rows-size
	}
	return sizes
}

// inTheEnd asks for pages of the sizes, then for pages of one size.
func inTheEnd(sizes []int, size int) paging.Sizes {
	return func(page int) int {
		if page < len(sizes) {
			return sizes[page]
		}
		return size
	}
}

// judgeWalks judges walks of one list in several page sizes, made one after the other: they
// show the same rows, each once, in the same order. by returns the requirement to charge.
func judgeWalks(api *API, walks []Walk, by func(spec.ID) Requirement) {
	missing := ""
	for _, walk := range walks {
		by(spec.PageWalkEnds).Expect(walk).To(End())
		by(spec.PageLimitHonoured).Expect(walk).To(RespectLimits())
		if spec.Has(spec.PageOrder.On(api.Operation().ID)) {
			by(spec.PageOrder).Expect(walk).To(BeSortedByID(""))
		}
		missing = cmp.Or(missing, walk.Unread())
	}
	if missing == "" && len(walks[0].Rows()) < 2 {
		missing = "at least two rows in " + api.Operation().ID
	}
	if missing != "" {
		for _, id := range []spec.ID{spec.PageWalkOnce, spec.PageWalkComplete, spec.PageWalkSequence} {
			by(id).Missing("%s", missing)
		}
		return
	}
	for i, walk := range walks {
		by(spec.PageWalkOnce).Expect(walk).To(ShowEveryRowOnceAmong(walks, i))
		by(spec.PageWalkComplete).Expect(walk).To(ShowTheRows(MissingFrom(api, walks, i)))
		by(spec.PageWalkSequence).Expect(walk).To(ShowTheOrderOf(walks[0]))
	}
}

// observeWalk records the kinds of cursors, short pages and the direction.
func observeWalk(api *API, walk Walk) {
	if seen := lastCursor(walk); walk.Complete() && seen != "" {
		api.Observe(spec.OpenPointLastCursor, "%s", seen)
	}
	for i, page := range walk.Pages {
		if page.Cursor != "" {
			api.Observe(spec.OpenPointCursorKind, "%s", CursorKind(page.Cursor))
		}
		if page.Limit > 0 && len(page.Rows) < page.Limit && i < len(walk.Pages)-1 && len(walk.Pages[i+1].Rows) > 0 {
			api.Observe(spec.OpenPointShortPages, "a page that is not the last holds fewer items than the limit")
		}
	}
	if direction, _ := SortedByID(walk, ""); direction != "" && spec.Has(spec.PageOrder.On(api.Operation().ID)) {
		api.Observe(spec.OpenPointDirection, "%s", direction)
	}
}

// lastCursor says what the last page of a walk that has rows carries as its cursor; "" if
// other specs may have deleted the rows behind it.
func lastCursor(w Walk) string {
	r := w.Last()
	switch empty := len(w.Pages) > 1 && len(w.Pages[len(w.Pages)-1].Rows) == 0; {
	case empty && (w.List.Operation.ID == spec.ListPlacementTests || w.List.Operation.ID == spec.ListSubsequences):
		return ""
	case empty:
		return "a cursor to an empty page"
	case !r.HasNext:
		return "absent"
	case r.Next == nil:
		return "null"
	case r.Next == "":
		return "empty string"
	default:
		return "a cursor on an empty page"
	}
}
