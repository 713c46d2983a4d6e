package suites

import (
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// expectSorted walks in two page sizes with a sort order: the right direction,
// and each row once, as without it. Filtered lists have the order, too.
func expectSorted(api *API, order string) {
	list := api.Request()
	ordered := list.WithQuery("sort_order", order)
	before := api.Read(list)
	n := len(before.Rows())
	walks := Each(api, []paging.Sizes{PagesOf(spec.MaxLimit), singlesAround(n, 3, 7, 7, n/3)}, func(sizes paging.Sizes) Walk {
		return Whole(api, api.Walk(ordered, sizes))
	})
	after := api.Read(list)
	if n < 2 || len(after.Rows()) < 2 {
		api.NotAssessed("at least two rows in %s", list.Operation.ID)
	}
	for _, walk := range walks {
		expectOrder(api, order, before, walk, after)
	}
	for _, walks := range Each(api, filteredBesides(api, ordered, before), func(k Call) []Walk { return walkInHalves(api, k) }) {
		api.Expect(walks[0]).To(BeSortedByID(order))
		if len(walks) > 1 && walks[1].Complete() {
			expectOrder(api, order, walks[0], walks[1], walks[2])
		}
	}
	made := NewTest(api).ID() // a server may cache a sorted list
	if ListShowing(api, list, made).Row(made) != nil {
		api.Expect(ListShowing(api, ordered, made)).To(ShowRow(made, "the new test"))
	}
}

// expectOrder expects a sorted walk to show each row once that walks before and after it show.
func expectOrder(api *API, order string, before, sorted, after Walk) {
	api.Expect(sorted).To(BeSortedByID(order))
	api.Expect(sorted).To(ShowEveryRowOnce())
	api.Expect(sorted).To(ShowTheRows(MissingBetween(api, before, sorted, after)))
}

// filteredBesides returns the call with each filter that has a name, and with pairs of them.
func filteredBesides(api *API, list Call, before Walk) (calls []Call) {
	filters := oracle.Filters(list.Operation.ID)
	for _, f := range filters {
		if uses := f.Widest(before.Rows(), handful); len(uses) > 0 {
			if k, ok := KnownFilter(api, list, uses[0].Query); ok {
				calls = append(calls, k)
			}
		}
	}
	whole := oracle.List{Operation: list.Operation, Rows: before.Rows()}
	for _, pair := range whole.BesideBeyond(filters[0], handful, Named(api, list.Operation.ID)) {
		calls = append(calls, FilteredBy(api, list, pair.Query.Parameters))
	}
	return calls
}

// walkInHalves reads the list, then in two pages, and whole again. Few or many rows are read
// only once.
func walkInHalves(api *API, list Call) []Walk {
	before := api.Read(list)
	n := len(before.Rows())
	if n < 2 || n > spec.MaxLimit {
		return []Walk{before}
	}
	return []Walk{before, api.Walk(list, PagesOf((n+1)/2)), api.Read(list)}
}
