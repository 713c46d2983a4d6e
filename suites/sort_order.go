package suites

import (
	"outreach.example/conformance/internal/oracle"
)

// expectSorted walks in two page sizes with a sort order: the right direction,
// and each row once, as without it. Filtered lists have the order, too.
func (api *API) expectSorted(order string) {
	list := api.Request()
	before := api.ReadAll(list)
	ordered := list.WithQuery("sort_order", order)
	sorted, small := api.unjudgedWalk(ordered, pagesOf(maxLimit)), api.unjudgedWalk(ordered, pagesOf(7))
	for _, walk := range []Walk{sorted, small} {
		api.chargeEnd(walk)
		api.whole(walk)
	}
	after := api.ReadAll(list)
	if len(before.Rows()) < 2 || len(after.Rows()) < 2 {
		api.NotAssessed("at least two rows in %s", list.Operation.ID)
	}
	for _, walk := range []Walk{sorted, small} {
		api.Expect(walk).To(BeSortedByID(order))
		api.Expect(walk).To(ShowEveryRowOnce())
		api.Expect(walk).To(ShowTheRows(api.missingBetween(before, walk, after)))
	}
	made := api.NewTest().ID() // a server may cache a sorted list
	if api.listShowing(list, made).Row(made) != nil {
		api.Expect(api.listShowing(ordered, made)).To(ShowRow(made, "the new test"))
	}
	for _, filter := range oracle.Filters(list.Operation.ID) {
		uses := filter.Widest(before.Rows(), handful)
		if len(uses) == 0 {
			continue
		}
		if k, ok := api.knownFilter(ordered, uses[0].Query); ok {
			api.expectSortedUnder(k, order)
		}
	}
	whole, first := oracle.List{Operation: list.Operation, Rows: before.Rows()}, oracle.Filters(list.Operation.ID)[0]
	for _, pair := range whole.BesideBeyond(first, handful, api.named(list.Operation.ID)) {
		api.expectSortedUnder(api.filteredBy(ordered, pair.Query.Parameters), order)
	}
}

// expectSortedUnder reads a filtered list with a sort order, at once and in two pages.
func (api *API) expectSortedUnder(filtered Call, order string) {
	before := api.ReadAll(filtered)
	api.Expect(before).To(BeSortedByID(order))
	n := len(before.Rows())
	if n < 2 || n > maxLimit {
		return
	}
	halves := api.unjudgedWalk(filtered, pagesOf((n+1)/2))
	after := api.ReadAll(filtered)
	api.chargeEnd(halves)
	if !halves.Complete() {
		return
	}
	api.Expect(halves).To(BeSortedByID(order))
	api.Expect(halves).To(ShowEveryRowOnce())
	api.Expect(halves).To(ShowTheRows(api.missingBetween(before, halves, after)))
}
