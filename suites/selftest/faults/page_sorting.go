package faults

import "outreach.example/conformance/spec"

// sortDefects sort the placement tests wrongly on request.
func sortDefects() []Defect {
	const list = spec.ListPlacementTests
	var defects []Defect
	for _, s := range []struct{ order, requirement string }{{"asc", "SORT-ASC"}, {"desc", "SORT-DESC"}} {
		asked := func(page *page) bool { return page.request.Query.Get("sort_order") == s.order }
		for _, d := range sortDamages {
			defects = append(defects, Defect{list + "/sorted-" + s.order + "-" + d.name, spec.Pair{Requirement: s.requirement, Operation: list},
				d.doc + " for sort_order=" + s.order,
				func(a *Target) Middleware {
					return a.paged(list, paging{before: when(asked, d.before), after: when(asked, d.after)})
				}})
		}
	}
	return defects
}

var sortDamages = []struct {
	name, doc     string
	before, after func(*page)
}{
	{"the-other-way", "sorts in the opposite order", otherWay, asItIs},
	{"page-by-page", "sorts each page separately", otherWay, func(s *page) { s.rows = reversed(s.rows) }},
	{"small-pages-the-other-way", "sorts small pages in the opposite order", when(small, otherWay), asItIs},
	{"rows-swapped", "shows two rows deep in the list in the wrong order", reordered(swapAt(3, 4)).before, asItIs},
	{"first-row-last", "shows the first row last", reordered(firstLast).before, asItIs},
	{"last-row-lost", "omits the last row", withoutLast, asItIs},
	{"row-skipped", "skips a row between two pages", asItIs, skipNext},
	{"row-repeated", "starts each page with the last row of the previous page", asItIs, repeatLast},
}

func asItIs(*page) {}

func otherWay(s *page) { s.list = reversed(s.list) }

func withoutLast(s *page) { s.list = s.list[:max(0, len(s.list)-1)] }
