package faults

import (
	"slices"

	"outreach.example/conformance/spec"
)

// filteredWalkDefects break walks of filtered lists only.
func filteredWalkDefects() []Defect {
	const requirement = "FILTER-WALK"
	r, _ := spec.FindRequirement(requirement)
	var defects []Defect
	for _, op := range r.Operations {
		for _, d := range filteredWalkDamages {
			defects = append(defects, Defect{op + "/filtered-" + d.name, spec.Pair{Requirement: requirement, Operation: op}, d.doc + " when a filter is set",
				func(a *Target) Middleware {
					under := &filtering{a.filtersOf(op)}
					return a.paged(op, paging{
						before: func(s *page) {
							if !under.isSet(s) {
								s.size = 0
								return
							}
							d.before(s, under)
						},
						after: func(s *page) { d.after(s, under) },
					})
				}})
		}
	}
	return defects
}

// filtering distinguishes filtered requests.
type filtering struct{ parameters []string }

// filtersOf returns the names of the operation's parameters that select rows.
func (a *Target) filtersOf(operation string) []string {
	var names []string
	for _, f := range filterTable {
		if f.operation == operation {
			names = append(names, a.parameter(operation, f.meaning))
		}
	}
	return names
}

// isSet reports whether the request sets a filter.
func (f *filtering) isSet(s *page) bool {
	return slices.ContainsFunc(f.parameters, s.request.Query.Has)
}

// whole returns the unfiltered list.
func (f *filtering) whole(s *page) []listRow {
	return s.read(func(r Request) Request {
		for _, name := range f.parameters {
			r.Query.Del(name)
		}
		return r
	})
}

// filteredWalkDamages change a page before and after it is cut.
var filteredWalkDamages = []struct {
	name, doc     string
	before, after func(*page, *filtering)
}{
	{"row-repeated", "starts each page with the last row of the previous page", rightly, plainly(repeatLast)},
	{"row-skipped", "skips a row between two pages", rightly, plainly(skipNext)},
	{"walk-ends-early", "returns no cursor with a small page", rightly, plainly(when(small, endWalk))},
	{"last-page-leads-to-itself", "links the last page to itself", rightly, plainly(when(lastPage, func(s *page) { s.next = s.from }))},
	{"small-pages-backwards", "returns small pages in reverse order", plainly(backwards(small)), rightly},
	{"after-cutting", "filters each page of the whole list, so that a page without matches ends the walk",
		func(s *page, f *filtering) { s.list = f.whole(s) },
		func(s *page, _ *filtering) {
			right, _ := s.cache.read(s.request)
			s.rows = among(s.rows, right)
		}},
	{"on-first-page-alone", "drops the filter after the first page", forgetFilter, rightly},
}

func rightly(*page, *filtering) {}

// plainly ignores the filter.
func plainly(do func(*page)) func(*page, *filtering) {
	return func(s *page, _ *filtering) { do(s) }
}

// forgetFilter continues after the filtered first page in the unfiltered list.
// The mark tells which list a cursor's position refers to.
func forgetFilter(s *page, f *filtering) {
	const filtered, whole = 1, 2
	if s.first {
		s.mark = filtered
		return
	}
	list := f.whole(s)
	if s.mark == filtered {
		last := s.list[min(s.from, len(s.list))-1]
		s.from = 1 + slices.IndexFunc(list, func(r listRow) bool { return r.same() == last.same() })
	}
	s.list, s.mark = list, whole
}
