package suites

import (
	"context"
	"fmt"
	"net/http"
	"net/mail"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// pagination judges limits and walks of every paged list (section Pagination).
func pagination() {
	for _, op := range spec.PageLimitAccepted.Operations() {
		Describe(op.ID, func() {
			It("accepts and honours limits from 1 to 100", Requires(spec.PageLimitAccepted, spec.PageLimitHonoured), limitsInRange)
			It("serves a page without a limit", Requires(spec.PageLimitAbsent), limitAbsent)
			It("refuses or clamps a limit out of range", Requires(spec.PageLimitOutOfRange), limitsOutOfRange)
			It("shows the same rows, each once, in order, for every page size", Requires(walkRequirements(op)...), walksAgree)
		})
	}
}

// walkRequirements are those that walks of the list put to the test. A list
// whose rows have no id has no order.
func walkRequirements(op spec.Operation) []spec.ID {
	walks := []spec.ID{spec.PageWalkEnds, spec.PageWalkOnce, spec.PageWalkComplete, spec.PageWalkSequence, spec.PageLimitHonoured, cursorRequirement(op)}
	if spec.Has(spec.PageOrder.On(op.ID)) {
		walks = append(walks, spec.PageOrder)
	}
	return walks
}

func limitsInRange(api *API) {
	list := api.Request()
	limits := []int{1, 2, 7, 99, 100}
	var calls []Call
	for _, limit := range limits {
		calls = append(calls, list.WithQuery("limit", strconv.Itoa(limit)))
	}
	for i, page := range api.DoAll(calls...) {
		if api.For(spec.PageLimitAccepted).Expect(page).To(BeServed()) {
			api.For(spec.PageLimitHonoured).Expect(page).To(HaveAtMostItems(limits[i]))
		} else {
			api.For(spec.PageLimitHonoured).NotAssessed("%s", page.shortfall())
		}
	}
}

func limitAbsent(api *API) {
	list := api.Request()
	page := api.Do(list)
	if !api.Expect(page).To(BeServed()) {
		return
	}
	rows := len(page.Rows())
	if rows > 0 {
		api.Expect(page).To(HaveAtMostItems(maxLimit))
	}
	if page.Cursor() == "" { // the page may hold the whole list
		return
	}
	if rows == maxLimit || len(api.Do(list.WithQuery("limit", strconv.Itoa(maxLimit))).Rows()) > rows {
		api.Observe(spec.OpenPointDefaultLimit, "%d items", rows)
	}
}

func limitsOutOfRange(api *API) {
	list := api.Request()
	limits := []string{"0", "-1", "101", "1000", "99999999999999999999", "1.5", "ten"}
	var calls []Call
	for _, limit := range limits {
		calls = append(calls, list.WithQuery("limit", limit).MayBeRefused())
	}
	for _, limit := range []string{"", " ", "\x00"} { // a server may take them for none
		api.Expect(api.Do(list.WithQuery("limit", limit).MayBeRefused())).To(BeRefusedOrClamped())
	}
	for i, page := range api.DoAll(calls...) {
		api.Expect(page).To(BeRefusedOrClamped())
		switch {
		case page.OK():
			api.Observe(spec.OpenPointLimitRange, "limit %s: %d items", limits[i], len(page.Rows()))
		case page.Status/100 == 4:
			api.Observe(spec.OpenPointLimitRange, "limit %s: %d", limits[i], page.Status)
		}
	}
}

// BeRefusedOrClamped matches a refusal, or a page of at most 100 items.
func BeRefusedOrClamped() types.GomegaMatcher {
	return &expectation[Response]{words: "refuse or clamp the limit", judge: func(r Response) Verdict {
		switch n := len(r.Rows()); {
		case r.OK() && n > maxLimit:
			return Verdict{Assessed: 1, Findings: []Finding{{r, "/items", "a refusal, or at most 100 items", fmt.Sprintf("%d items", n)}}}
		case r.OK(), r.Status/100 == 4:
			return Verdict{Assessed: 1}
		case r.Status == http.StatusOK:
			return Verdict{Missing: r.shortfall()}
		default:
			return Verdict{Assessed: 1, Findings: []Finding{{r, "status", "a refusal (4xx), or a page of at most 100 items", describe(r)}}}
		}
	}}
}

// walksAgree walks the list in several ways, side by side, between walks before and after
// them, so that rows that come or go meanwhile can be told from rows that a walk leaves out.
func walksAgree(api *API) {
	op := api.Operation()
	walk := func(sizes paging.Sizes) Walk { return api.unjudgedWalk(api.Request().keys(), sizes) }
	before := []Walk{walk(pagesOf(50)), walk(pagesOf(100))}
	n := len(before[1].Rows())
	sizes := []paging.Sizes{singlesAtBothEnds(n), leavingOne(n), // these end at each row, and one row before the end
		pagesOf(max(7, n/fewPages+1)), pagesOf(max(10, n/fewPages)), paging.Cycle(1, 2, 7, 99, 100), pagesOf(20), pagesOf(0), pagesOf(25)}
	between := make([]Walk, len(sizes))
	var work []func()
	for i := range sizes {
		work = append(work, func() { between[i] = walk(sizes[i]) })
	}
	api.Together(work...)
	after := []Walk{walk(pagesOf(50)), walk(pagesOf(100))}
	for _, walk := range slices.Concat(before, between, after) {
		if api.For(spec.PageWalkEnds).Expect(walk).To(End(api.maxPages())) {
			if seen := lastCursor(walk); seen != "" {
				api.Observe(spec.OpenPointLastCursor, "%s", seen)
			}
		}
		api.For(cursorRequirement(op)).Expect(walk).To(CarryCursors(cursorRequirement(op) == spec.PageCursorTimestamp))
		api.For(spec.PageLimitHonoured).Expect(walk).To(RespectLimits())
		if spec.Has(spec.PageOrder.On(op.ID)) {
			api.For(spec.PageOrder).Expect(walk).To(BeSortedByID(""))
		}
		observeWalk(api, walk)
	}
	for _, walk := range between { // walks at the same time tell nothing about each other
		agree(api, slices.Concat(before, []Walk{walk}, after))
	}
}

// fewPages is about how many pages a walk may take where smaller pages show nothing more.
const fewPages = 22

// singlesAtBothEnds asks for single rows at both ends of a list of n rows. The last page is
// full then, and the number of rows is a multiple of its limit, whatever rows come or go.
func singlesAtBothEnds(n int) paging.Sizes {
	const first, last = fewPages - 8, 5
	between := max(0, n-first-last)
	return func(page int) int {
		switch left := between - (page-first)*maxLimit; {
		case page < first || left <= 0:
			return 1
		default:
			return min(left, maxLimit)
		}
	}
}

// leavingOne asks for pages of the largest size with which the last page of a list of n rows
// holds one row. If they would be many, the first page is smaller instead.
func leavingOne(n int) paging.Sizes {
	for size := min(maxLimit, n-1); size > max(1, n/fewPages); size-- {
		if n%size == 1 {
			return pagesOf(size)
		}
	}
	return func(page int) int {
		if page == 0 {
			return max(1, (n-1)%maxLimit)
		}
		return maxLimit
	}
}

// observeWalk records the kinds of cursors, short pages and the direction.
func observeWalk(api *API, walk Walk) {
	for i, page := range walk.Pages {
		if page.Cursor != "" {
			api.Observe(spec.OpenPointCursorKind, "%s", cursorKind(page.Cursor))
		}
		if page.Limit > 0 && len(page.Rows) < page.Limit && i < len(walk.Pages)-1 && len(walk.Pages[i+1].Rows) > 0 {
			api.Observe(spec.OpenPointShortPages, "a page that is not the last holds fewer items than the limit")
		}
	}
	if direction, _ := sortedByID(walk, ""); direction != "" && spec.Has(spec.PageOrder.On(api.Operation().ID)) {
		api.Observe(spec.OpenPointDirection, "%s", direction)
	}
}

// agree judges that walks of different page sizes show the same rows, each
// once, in the same order.
func agree(api *API, walks []Walk) {
	missing := ""
	for _, walk := range walks {
		if !walk.Complete() && missing == "" {
			missing = walk.unread(api.maxPages())
		}
	}
	if missing == "" && len(walks[0].Rows()) < 2 {
		missing = "at least two rows in " + api.Operation().ID
	}
	if missing != "" {
		for _, id := range []spec.ID{spec.PageWalkOnce, spec.PageWalkComplete, spec.PageWalkSequence} {
			api.For(id).NotAssessed("%s", missing)
		}
		return
	}
	for i, walk := range walks {
		api.For(spec.PageWalkOnce).Expect(walk).To(ShowEveryRowOnceAmong(walks, i))
		api.For(spec.PageWalkComplete).Expect(walk).To(ShowTheRows(api.missingFrom(walks, i)))
		api.For(spec.PageWalkSequence).Expect(walk).To(ShowTheOrderOf(walks[0]))
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
	case !r.hasCursor:
		return "absent"
	case r.cursor == nil:
		return "null"
	case r.cursor == "":
		return "empty string"
	default:
		return "a cursor on an empty page"
	}
}

// cursorRequirement returns the requirement on the kind of the list's cursor.
func cursorRequirement(op spec.Operation) spec.ID {
	if spec.Has(spec.PageCursorTimestamp.On(op.ID)) {
		return spec.PageCursorTimestamp
	}
	return spec.PageCursorValue
}

// CarryCursors matches a walk whose cursors are timestamps or, unless only
// those are documented, UUIDs or email addresses.
func CarryCursors(timestampsOnly bool) types.GomegaMatcher {
	return onWalk("carry cursors of a documented kind", func(w Walk) Verdict {
		var found Verdict
		for i, page := range w.Pages {
			if page.Cursor == "" {
				continue
			}
			found.Assessed++
			expected := ""
			switch kind := cursorKind(page.Cursor); {
			case timestampsOnly && kind != "timestamp":
				expected = "a timestamp"
			case kind == "other":
				expected = "a UUID, a timestamp or an email address"
			}
			if expected != "" {
				found.add(Finding{w.At(i), "/next_starting_after", expected, strconv.Quote(page.Cursor)})
			}
		}
		if found.Assessed == 0 {
			found.Missing = "a page with a cursor"
		}
		return found
	})
}

// cursorKind names a cursor's kind. The specification does not say how exact a
// timestamp in a cursor is: every ISO 8601 form with a date and a time counts.
func cursorKind(cursor string) string {
	if _, err := uuid.Parse(cursor); err == nil && len(cursor) == 36 {
		return "UUID"
	}
	layouts := []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700"}
	if slices.ContainsFunc(layouts, func(layout string) bool { _, err := time.Parse(layout, cursor); return err == nil }) {
		return "timestamp"
	}
	if address, err := mail.ParseAddress(cursor); err == nil && address.Address == cursor {
		return "email address"
	}
	return "other"
}

// changing is what happens to a list while it is read.
type changing struct {
	ids   []string                      // rows that the list must show before
	after func(page int, seen Response) // changes the list after a page, and waits until it shows
}

// walkWhile changes the list between the pages of a walk in the given order. The
// walk must go on to its end, and show exactly once what an unchanged walk before
// and one after both show. If it leaves out only rows that may show late, it is made again
// with rows that no longer may. prepare makes rows, and returns what changes the list.
func (api *API) walkWhile(order string, prepare func() changing) {
	before, during, after, whole := api.walkBetween(order, prepare())
	missing, young := api.missingWhile(before, during, after)
	if whole && len(missing) == 0 && len(young) > 0 {
		change := prepare()
		if client.Sleep(api.ctx, api.Profile.Visibility()) != nil {
			api.NotAssessed("%s", whyCut(api.ctx))
		}
		before, during, after, whole = api.walkBetween(order, change)
		missing, _ = api.missingWhile(before, during, after)
	}
	if whole {
		api.Expect(during).To(ShowEveryRowOnce())
		api.Expect(during).To(ShowTheRows(missing))
	}
}

// walkBetween walks the list before, during and after changes. It reports whether the walk
// during the changes led on to the end.
func (api *API) walkBetween(order string, change changing) (before, during, after Walk, whole bool) {
	list := api.Request()
	before = api.listShowing(list, change.ids...)
	shown, at := before.Keys(), 0
	for _, id := range change.ids {
		if shown[paging.FoldID(id)] == 0 {
			api.NotAssessed("a list that shows %s", id)
		}
		at = slices.IndexFunc(before.Rows(), func(row paging.Row) bool { return row.Key == paging.FoldID(id) })
	}
	sizes := pagesOf(pageWhile)
	if len(change.ids) == 1 { // a page ends in the row
		sizes = func(page int) int {
			if page < at/maxLimit {
				return maxLimit
			}
			return at%maxLimit + 1
		}
	}
	sorted := list
	if order != "" {
		sorted = list.WithQuery("sort_order", order)
	}
	pages := 0
	during = api.WalkWhile(sorted, sizes, api.maxPages(), func(page Response) {
		change.after(pages, page)
		pages++
	})
	after = api.ReadAll(list)
	switch {
	case len(during.responses) < 2:
		api.NotAssessed("at least two pages of the list")
	case during.End == paging.Capped:
		api.NotAssessed("a list that ends within %d pages", api.maxPages())
	case during.End == paging.Broken && during.Last().Status == http.StatusOK:
		api.NotAssessed("%s while the list changes", during.Err)
	}
	return before, during, after, api.Expect(during).To(LeadOn())
}

// WalkWhile walks the list, and changes it after each page. It reads at most the given number
// of pages.
func (api *API) WalkWhile(list Call, sizes paging.Sizes, pages int, change func(page Response)) Walk {
	w := Walk{List: list}
	fetch := api.fetch(list, &w.responses)
	w.Walk = paging.Run(api.ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if err == nil {
			change(w.Last())
		}
		return page, err
	}, sizes, pages)
	return w
}

// LeadOn matches a walk that was read to its end, although the list changed.
func LeadOn() types.GomegaMatcher {
	return onWalk("lead on to the end of the list", func(w Walk) Verdict {
		if w.Complete() {
			return Verdict{Assessed: 1}
		}
		return Verdict{Assessed: 1, Findings: []Finding{{w.Last(), "", "a page that leads on to the end of the list, as before it changed",
			fmt.Sprintf("%d, %s", w.Last().Status, w.End)}}}
	})
}

// pageWhile is the size of the pages between which the list changes: less than
// the rows that removeRow makes, so that a page ends among them.
const pageWhile = 2*handful - 1

// insertRow creates a test after each of the first pages.
func (api *API) insertRow() changing {
	return changing{after: func(page int, _ Response) {
		if page < handful {
			made := paging.FoldID(api.NewTest().ID())
			api.mustShow("a created test in the list", func() bool { return api.newestTests()[made] != nil })
		}
	}}
}

// removeRow makes rows and deletes them as the walk passes: whenever a page ends
// in one, its cursor points to a row that is then gone.
func (api *API) removeRow() changing {
	var ids []string
	for range 2 * handful {
		ids = append(ids, api.NewTest().ID())
	}
	for range 2 { // in descending order these stay before the others: a walk that starts over repeats them
		api.NewTest()
	}
	return api.removing(spec.DeletePlacementTest, ids...)
}

// removeSubsequence is removeRow for a subsequence that the profile lets the run delete. One
// that is the last row has no page behind it.
func (api *API) removeSubsequence() changing {
	id := api.expendableSubsequence()
	if rows := api.ReadAll(api.Request()).Rows(); len(rows) > 0 && rows[len(rows)-1].Key == paging.FoldID(id) {
		defer api.sandbox().GiveBack(id)
		id = api.expendableSubsequence()
	}
	return api.removing(spec.DeleteSubsequence, id)
}

// removing deletes the rows as a walk passes.
func (api *API) removing(operation string, ids ...string) changing {
	remove, left := api.As(dataset.Main, operation), map[string]bool{}
	for _, id := range ids {
		left[paging.FoldID(id)] = true
	}
	return changing{ids, func(_ int, seen Response) {
		gone := map[string]bool{}
		for _, row := range seen.pageRows() {
			if left[row.Key] {
				api.MustDo(remove.WithID(row.Key))
				delete(left, row.Key)
				gone[row.Key] = true
			}
		}
		if len(gone) > 0 {
			api.mustShow("a deletion in the list", func() bool {
				page := api.Do(seen.Call)
				return page.again != nil || page.OK() && !slices.ContainsFunc(page.pageRows(), func(row paging.Row) bool { return gone[row.Key] })
			})
		}
	}}
}
