package suites

import (
	"outreach.example/conformance/internal/oracle"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// expectSorted walks in two page sizes with a sort order: the right direction,
// and each row once, as without it. Filtered lists have the order, too.
func expectSorted(api *API, order string) {
	list := api.Request()
	before := api.Read(list)
	ordered := list.WithQuery("sort_order", order)
	var sorted, small Walk
	api.Together(func() { sorted = api.Walk(ordered, PagesOf(MaxLimit)) },
		func() { small = api.Walk(ordered, PagesOf(max(7, len(before.Rows())/fewPages+1))) })
	for _, walk := range []Walk{sorted, small} {
		Whole(api, walk)
	}
	after := api.Read(list)
	if len(before.Rows()) < 2 || len(after.Rows()) < 2 {
		api.NotAssessed("at least two rows in %s", list.Operation.ID)
	}
	for _, walk := range []Walk{sorted, small} {
		api.Expect(walk).To(BeSortedByID(order))
		api.Expect(walk).To(ShowEveryRowOnce())
		api.Expect(walk).To(ShowTheRows(MissingBetween(api, before, walk, after)))
	}
	var under []*sortedUnder
	for _, filter := range oracle.Filters(list.Operation.ID) {
		uses := filter.Widest(before.Rows(), handful)
		if len(uses) == 0 {
			continue
		}
		if k, ok := KnownFilter(api, ordered, uses[0].Query); ok {
			under = append(under, &sortedUnder{list: k})
		}
	}
	whole, first := oracle.List{Operation: list.Operation, Rows: before.Rows()}, oracle.Filters(list.Operation.ID)[0]
	for _, pair := range whole.BesideBeyond(first, handful, Named(api, list.Operation.ID)) {
		under = append(under, &sortedUnder{list: FilteredBy(api, ordered, pair.Query.Parameters)})
	}
	made, shown := "", Walk{}
	work := []func(){func() { // a server may cache a sorted list
		if id := NewTest(api).ID(); ListShowing(api, list, id).Row(id) != nil {
			made, shown = id, ListShowing(api, ordered, id)
		}
	}}
	for _, u := range under {
		work = append(work, func() { u.read(api) })
	}
	api.Together(work...)
	if made != "" {
		api.Expect(shown).To(ShowRow(made, "the new test"))
	}
	for _, u := range under {
		u.judge(api, order)
	}
}

// sortedUnder is a filtered list with a sort order, read at once, in two pages, and at once.
type sortedUnder struct {
	list                  Call
	before, halves, after Walk
}

func (u *sortedUnder) read(api *API) {
	u.before = api.Read(u.list)
	if n := len(u.before.Rows()); n >= 2 && n <= MaxLimit {
		u.halves = api.Walk(u.list, PagesOf((n+1)/2))
		u.after = api.Read(u.list)
	}
}

func (u *sortedUnder) judge(api *API, order string) {
	api.Expect(u.before).To(BeSortedByID(order))
	if len(u.halves.Pages) == 0 {
		return
	}
	if !u.halves.Complete() {
		return
	}
	api.Expect(u.halves).To(BeSortedByID(order))
	api.Expect(u.halves).To(ShowEveryRowOnce())
	api.Expect(u.halves).To(ShowTheRows(MissingBetween(api, u.before, u.halves, u.after)))
}
