package suites

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
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
	list := api.Request()
	limits := []int{1, 2, 7, 99, 100}
	var calls []Call
	for _, limit := range limits {
		calls = append(calls, list.WithQuery("limit", strconv.Itoa(limit)).Breaking(spec.PageLimitAccepted))
	}
	for i, page := range api.DoAll(calls...) {
		if page.OK() {
			api.For(spec.PageLimitHonoured).Expect(page).To(HaveAtMostItems(limits[i]))
		} else {
			api.For(spec.PageLimitHonoured).NotAssessed("%s", page.Shortfall())
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
		api.Expect(page).To(HaveAtMostItems(MaxLimit))
	}
	if page.Cursor() == "" { // the page may hold the whole list
		return
	}
	if rows == MaxLimit || len(api.Do(list.WithQuery("limit", strconv.Itoa(MaxLimit))).Rows()) > rows {
		api.Observe(spec.OpenPointDefaultLimit, "%d items", rows)
	}
}

func limitsOutOfRange(api *API) {
	list := api.Request()
	limits := []string{"0", "-1", "101", "1000", "99999999999999999999", "1.5", "ten"}
	var calls []Call
	for _, limit := range limits {
		calls = append(calls, list.WithQuery("limit", limit).MayBeRefused().Breaking(spec.PageLimitOutOfRange))
	}
	for _, limit := range []string{"", " ", "\x00"} { // a server may take them for none
		api.Expect(api.Do(list.WithQuery("limit", limit).MayBeRefused().Breaking(spec.PageLimitOutOfRange))).To(BeRefusedOrClamped())
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
	return &Expectation[Response]{Words: "refuse or clamp the limit", Judge: func(r Response) Verdict {
		switch n := len(r.Rows()); {
		case r.OK() && n > MaxLimit:
			return Verdict{Assessed: 1, Findings: []Finding{Found(r, "/items", "a refusal, or at most 100 items", fmt.Sprintf("%d items", n))}}
		case r.OK(), r.Status/100 == 4:
			return Verdict{Assessed: 1}
		case r.Status == http.StatusOK:
			return Verdict{Missing: r.Shortfall()}
		default:
			return Verdict{Assessed: 1, Findings: []Finding{Found(r, "status", "a refusal (4xx), or a page of at most 100 items", Readable(r))}}
		}
	}}
}

// walksAgree walks the list in several ways, side by side, between walks before and after
// them, so that rows that come or go meanwhile can be told from rows that a walk leaves out.
func walksAgree(api *API) {
	op := api.Operation()
	walk := func(sizes paging.Sizes) Walk { return api.Walk(KeysOf(api.Request()), sizes) }
	before := walk(PagesOf(100))
	n := len(before.Rows())
	sizes := []paging.Sizes{PagesOf(50), PagesOf(100), singlesAtBothEnds(n), leavingOne(n), // these end at each row, and one row before the end
		PagesOf(max(7, n/fewPages)), PagesOf(max(20, n/fewPages)), PagesOf(max(25, n/fewPages)), paging.Cycle(1, 2, 7, 99, 100), withoutLimit}
	between := make([]Walk, len(sizes))
	var work []func()
	for i := range sizes {
		work = append(work, func() { between[i] = walk(sizes[i]) })
	}
	api.Together(work...)
	after := walk(PagesOf(100))
	for _, walk := range slices.Concat([]Walk{before, after}, between) {
		if api.For(spec.PageWalkEnds).Expect(walk).To(End(api.MostPages())) {
			if seen := lastCursor(walk); seen != "" {
				api.Observe(spec.OpenPointLastCursor, "%s", seen)
			}
		}
		api.For(CursorRequirement(op)).Expect(walk).To(CarryCursors(CursorRequirement(op) == spec.PageCursorTimestamp))
		api.For(spec.PageLimitHonoured).Expect(walk).To(RespectLimits())
		if spec.Has(spec.PageOrder.On(op.ID)) {
			api.For(spec.PageOrder).Expect(walk).To(BeSortedByID(""))
		}
		observeWalk(api, walk)
	}
	for _, walk := range between { // walks at the same time tell nothing about each other
		agree(api, []Walk{before, walk, after})
	}
}

// withoutLimit sends no limit with the first pages.
func withoutLimit(page int) int {
	const first = 6
	if page < first {
		return 0
	}
	return MaxLimit
}

// fewPages is about how many pages a walk may take where smaller pages show nothing more.
const fewPages = 22

// singlesAtBothEnds asks for single rows at both ends of a list of n rows. The last page is
// full then, and the number of rows is a multiple of its limit, whatever rows come or go.
func singlesAtBothEnds(n int) paging.Sizes {
	const first, last = 6, 5
	full := (max(0, n-first-last) + MaxLimit - 1) / MaxLimit
	between := max(0, n-first-last)
	return func(page int) int {
		switch left := between - (page-first)*MaxLimit; {
		case page >= first && left > 0:
			return min(left, MaxLimit)
		case page < first+full+2*last:
			return 1
		default: // the list has grown much meanwhile
			return MaxLimit
		}
	}
}

// leavingOne asks for pages of the largest size with which the last page of a list of n rows
// holds one row. If they would be many, the first page is smaller instead.
func leavingOne(n int) paging.Sizes {
	for size := min(MaxLimit, n-1); size > max(1, n/fewPages); size-- {
		if n%size == 1 {
			return PagesOf(size)
		}
	}
	return func(page int) int {
		if page == 0 {
			return max(1, (n-1)%MaxLimit)
		}
		return MaxLimit
	}
}

// observeWalk records the kinds of cursors, short pages and the direction.
func observeWalk(api *API, walk Walk) {
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

// agree judges that walks of different page sizes show the same rows, each
// once, in the same order.
func agree(api *API, walks []Walk) {
	missing := ""
	for _, walk := range walks {
		if !walk.Complete() && missing == "" {
			missing = walk.Unread(api.MostPages())
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
		api.For(spec.PageWalkComplete).Expect(walk).To(ShowTheRows(MissingFrom(api, walks, i)))
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
