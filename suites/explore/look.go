package explore

import (
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// look is a query with what it showed. If that differs from the whole list, the list is
// walked again: what changed meanwhile is no violation. Then the query is asked again,
// because one view may show a change later than another.
type look struct {
	*explorer
	api    *suites.API
	whole  *whole
	call   suites.Call
	before oracle.List // the walk before the query
	asked  suites.Asked
	found  oracle.Comparison

	full suites.Walk // the last walk of the whole list
	// unlisted are rows that each query showed, before and after walks without them.
	unlisted []string
}

// again walks the list and asks again until both agree.
func (l *look) again() {
	asked, rounds := l.asked, 0
	l.api.Look(func() bool {
		l.full = l.api.ReadAll(l.api.As(l.whole.role, l.whole.operation.ID))
		after := l.full.Rows()
		l.changed.Add(int64(l.whole.renew(after)))
		l.found = asked.Compare(oracle.Between(l.whole.operation, l.before.Rows, after))
		if rounds == 0 {
			l.unlisted = l.found.Unlisted
		}
		rounds++
		l.unlisted = slices.DeleteFunc(slices.Clone(l.unlisted), func(key string) bool { return !slices.Contains(l.found.Unlisted, key) })
		l.asked = asked
		if len(l.found.Mismatches)+len(l.unlisted) == 0 {
			return true
		}
		l.before = l.whole.now()
		asked = l.api.Ask(l.call, l.asked.Query)
		return false
	})
	if rounds < 2 {
		l.unlisted = nil // nothing shows that the rows were there all the time
	}
}

// charge enters what still differs.
func (l *look) charge() {
	operation := l.whole.operation
	for id, times := range l.found.Assessed {
		l.api.Count(id, operation.ID, times)
	}
	for _, m := range l.found.Mismatches {
		l.api.Charge(m.Requirement, operation.ID, l.asked.Finding(m))
	}
	for _, key := range l.unlisted {
		l.api.Charge(spec.PageWalkComplete, operation.ID, suites.Finding{Response: l.full.Last(), Pointer: "/items",
			Expected: "the row " + key + ", which a query shows before and after", Actual: "a whole walk without it"})
	}
}

// sameOrder expects that a filtered list has one order for every page size. It asks only if
// the order is not that of the whole list.
func (l *look) sameOrder() {
	operation := l.whole.operation.ID
	query := l.asked.Query
	if !spec.Has(spec.FilterWalk.On(operation)) || len(query.Parameters) == 0 || query.Parameters[profile.ParamSortOrder] != "" ||
		!l.isReordered(paging.Walk{Pages: []paging.Page{{Rows: l.whole.now().Rows}}}) {
		return
	}
	big := l.api.Ask(l.call, oracle.Query{Parameters: query.Parameters, Sizes: []int{100}, Pages: oracle.WholeWalk})
	l.asked = l.api.Ask(l.call, query)
	if l.isReordered(big.Walk.Walk) {
		l.api.Charge(spec.FilterWalk, operation, suites.Finding{Response: l.asked.Walk.At(0), Pointer: "/items",
			Expected: "the order in which pages of 100 show the rows", Actual: "another order"})
	}
}

// isReordered reports whether the query shows rows in another order than the walk.
func (l *look) isReordered(walk paging.Walk) bool {
	_, differ := paging.Disorder(walk, l.asked.Walk.Walk)
	return differ
}
