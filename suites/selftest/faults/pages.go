package faults

import "outreach.example/conformance/spec"

func pageDefects() []Defect {
	var defects []Defect
	for _, d := range []struct {
		breaks  spec.ID
		id, doc string
		p       pager
	}{
		{spec.PageWalkComplete, "row-skipped-at-boundary", "skips a row between two pages", pager{after: skipNext}},
		{spec.PageWalkOnce, "row-repeated-on-small-pages", "starts each small page with the last row of the previous page", pager{after: only(smallOnes, repeatLast)}},
	} {
		defects = append(defects, onEach(d.breaks, d.id, d.doc, when(always, serve(d.p)))...)
	}
	return defects
}
