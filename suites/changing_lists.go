package suites

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

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
	var keys []string
	for _, row := range before.Rows() {
		keys = append(keys, row.Key)
	}
	sorted := list
	if order != "" {
		sorted = list.WithQuery("sort_order", order)
		slices.SortFunc(keys, func(a, b string) int { return strings.Compare(b, a) })
	}
	first, last := 0, handful*pageWhile // of the rows among which the list changes
	for i, id := range change.ids {
		at := slices.Index(keys, paging.FoldID(id))
		if at < 0 {
			api.NotAssessed("a list that shows %s", id)
		}
		if i == 0 {
			first, last = at, at
		}
		first, last = min(first, at), max(last, at)
	}
	if len(change.ids) == 1 { // a large page ends in the row, and the next one has several rows
		first, last = first+1, last+1
	}
	sizes := smallBetween(first, last)
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

// smallBetween asks for pages of pageWhile rows from the first to the last of the rows, and
// somewhat further, as rows may come meanwhile. The largest pages lead there and on.
func smallBetween(first, last int) paging.Sizes {
	large, small := (first+maxLimit-1)/maxLimit, (last-first)/pageWhile+3
	return func(page int) int {
		switch {
		case page < first/maxLimit:
			return maxLimit
		case page < large:
			return first % maxLimit
		case page < large+small:
			return pageWhile
		default:
			return maxLimit
		}
	}
}

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
	create := func(n int) (ids []string) {
		calls := make([]Call, n)
		for i := range calls {
			calls[i] = api.RequestAs(dataset.Main, spec.CreatePlacementTest)
		}
		for _, made := range api.MustDoAll(calls...) {
			ids = append(ids, made.ID())
		}
		return ids
	}
	ids := create(2 * handful)
	create(2) // in descending order these stay before the others: a walk that starts over repeats them
	return api.removing(spec.DeletePlacementTest, ids...)
}

// removeSubsequence is removeRow for a subsequence that the profile lets the run delete. One
// that is the last row has no page behind it.
func (api *API) removeSubsequence() changing {
	id, other := api.expendableSubsequence(), api.expendableSubsequence()
	if rows := api.ReadAll(api.Request()).Rows(); len(rows) > 0 && rows[len(rows)-1].Key == paging.FoldID(id) {
		id, other = other, id
	}
	api.sandbox().GiveBack(other)
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
		var removals []Call
		for _, row := range seen.pageRows() {
			if left[row.Key] {
				removals = append(removals, remove.WithID(row.Key))
				delete(left, row.Key)
				gone[row.Key] = true
			}
		}
		if len(gone) > 0 {
			api.MustDoAll(removals...)
			api.mustShow("a deletion in the list", func() bool {
				page := api.Do(seen.Call)
				return page.again != nil || page.OK() && !slices.ContainsFunc(page.pageRows(), func(row paging.Row) bool { return gone[row.Key] })
			})
		}
	}}
}
