package suites

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// changing is what happens to a list while it is read.
type changing struct {
	ids   []string                      // rows that the list must show before
	after func(page int, seen Response) // changes the list after a page, and waits until it shows
}

// walkWhile changes the list between the pages of a walk in the given order. The
// walk must go on to its end, and show exactly once what an unchanged walk before
// and one after both show. prepare makes rows, and returns what changes the list.
func walkWhile(api *API, order string, prepare func() changing) {
	before, during, after := walkBetween(api, order, prepare())
	missing, young := MissingWhile(api, before, during, after)
	if during.Complete() && len(missing) == 0 && len(young) > 0 { // again, with rows that no longer may show late
		change := prepare()
		if client.Sleep(api.Ctx, api.Profile.Visibility()) != nil {
			api.NotAssessed("%s", WhyCut(api.Ctx))
		}
		before, during, after = walkBetween(api, order, change)
		missing, _ = MissingWhile(api, before, during, after)
	}
	if !during.Complete() {
		api.For(api.Requirement()).Judge(Verdict{Findings: []Finding{Found(during.Last(), "", "a page that leads on to the end of the list, as before it changed",
			fmt.Sprintf("%d, %s", during.Last().Status, during.End))}})
		return
	}
	api.Expect(during).To(ShowEveryRowOnce())
	api.Expect(during).To(ShowTheRows(missing))
}

// walkBetween walks the list before, during and after changes.
func walkBetween(api *API, order string, change changing) (before, during, after Walk) {
	list := api.Request()
	before = ListShowing(api, list, change.ids...)
	sorted, first, last := list, 0, handful*pageWhile // the rows among which the list changes
	var keys []string
	for _, row := range before.Rows() {
		keys = append(keys, row.Key)
	}
	if order != "" {
		sorted = list.WithQuery("sort_order", order)
		slices.SortFunc(keys, func(a, b string) int { return strings.Compare(b, a) })
	}
	var at []int
	for _, id := range change.ids {
		at = append(at, slices.Index(keys, paging.FoldID(id)))
	}
	if len(at) > 0 {
		first, last = slices.Min(at), slices.Max(at)
	}
	if first < 0 {
		api.NotAssessed("a list that shows %s", strings.Join(change.ids, ", "))
	}
	if len(at) == 1 { // a large page ends in the row, and the next one has several rows
		first, last = first+1, last+1
	}
	pages := 0
	during = WalkWhile(api, sorted, smallBetween(first, last), MostPages, func(page Response) {
		change.after(pages, page)
		pages++
	})
	after = api.Read(list)
	switch {
	case len(during.Responses) < 2:
		api.NotAssessed("at least two pages of the list")
	case during.End == paging.Capped:
		api.NotAssessed("a list that ends within %d pages", MostPages)
	case during.End == paging.Broken && during.Last().Status == http.StatusOK:
		api.NotAssessed("%s while the list changes", during.Err)
	}
	return before, during, after
}

// pageWhile is the size of the pages between which the list changes: less than
// the rows that removeRow makes, so that a page ends among them.
const pageWhile = 2*handful - 1

// smallBetween asks for pages of pageWhile rows from the first to the last of the rows, and
// somewhat further, as rows may come meanwhile. The largest pages lead there and on.
func smallBetween(first, last int) paging.Sizes {
	large, small := (first+spec.MaxLimit-1)/spec.MaxLimit, (last-first)/pageWhile+3
	return func(page int) int {
		switch {
		case page < first/spec.MaxLimit:
			return spec.MaxLimit
		case page < large:
			return first % spec.MaxLimit
		case page < large+small:
			return pageWhile
		default:
			return spec.MaxLimit
		}
	}
}

// insertRow creates a test after each of the first pages.
func insertRow(api *API) changing {
	return changing{after: func(page int, _ Response) {
		if page < handful {
			mustListAnother(api)
		}
	}}
}

// removeRow makes rows and deletes them as the walk passes: whenever a page ends
// in one, its cursor points to a row that is then gone.
func removeRow(api *API) changing {
	create := func(n int) []string {
		var calls []Call
		for range n {
			calls = append(calls, api.RequestAs(dataset.Main, spec.CreatePlacementTest))
		}
		var ids []string
		for _, made := range api.DoAll(calls...) {
			ids = append(ids, made.ID())
		}
		return ids
	}
	ids := create(2 * handful)
	create(2) // in descending order these stay before the others: a walk that starts over repeats them
	return removing(api, spec.DeletePlacementTest, ids...)
}

// removeSubsequence is removeRow for a subsequence that the profile lets the run delete. One
// that is the last row has no page behind it.
func removeSubsequence(api *API) changing {
	id, other := ExpendableSubsequence(api), ExpendableSubsequence(api)
	if rows := api.Read(api.Request()).Rows(); len(rows) > 0 && rows[len(rows)-1].Key == paging.FoldID(id) {
		id, other = other, id
	}
	api.Sandbox().GiveBack(other)
	return removing(api, spec.DeleteSubsequence, id)
}

// removing deletes the rows as a walk passes.
func removing(api *API, operation string, ids ...string) changing {
	remove, left := api.As(dataset.Main, operation), map[string]bool{}
	for _, id := range ids {
		left[paging.FoldID(id)] = true
	}
	return changing{ids, func(_ int, seen Response) {
		gone := map[string]bool{}
		var removals []Call
		for _, row := range seen.PageRows() {
			if left[row.Key] {
				removals = append(removals, remove.WithID(row.Key))
				delete(left, row.Key)
				gone[row.Key] = true
			}
		}
		if len(gone) > 0 {
			api.DoAll(removals...)
			MustShow(api, "a deletion in the list", func() bool {
				page := api.Do(seen.Call)
				return page.Again != nil || page.OK() && !slices.ContainsFunc(page.PageRows(), func(row paging.Row) bool { return gone[row.Key] })
			})
		}
	}}
}
