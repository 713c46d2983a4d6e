package faults

import (
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// droppedFilterDefects drop one filter of a list under some condition, for all pages or after
// the first one.
func droppedFilterDefects() []Defect {
	var defects []Defect
	for _, f := range filterTable {
		defects = slices.Concat(defects, f.droppedAfterFirstPage(), f.droppedWithFlags(), f.droppedBesideOthers(), f.droppedBesideTwo(), f.droppedAlone())
	}
	return defects
}

// dropped drops the filter from requests that meet the condition.
func (f filter) dropped(a *Target, when func(Request) bool) Middleware {
	name := a.parameter(f.operation, f.meaning)
	return a.paged(f.operation, paging{before: func(s *page) {
		if !when(s.request) {
			s.size = 0
			return
		}
		f.apply(s, name, func(chosen *selection) []listRow { return chosen.all })
	}})
}

// forgotten drops the filter after the first page of requests that meet the condition.
func (f filter) forgotten(a *Target, when func(Request) bool) Middleware {
	under := &filtering{[]string{a.parameter(f.operation, f.meaning)}}
	return a.paged(f.operation, paging{before: func(s *page) {
		if !under.isSet(s) || !f.is(s.request.Query.Get(under.parameters[0])) || !when(s.request) {
			s.size = 0
			return
		}
		forgetFilter(s, under)
	}})
}

// showsExtra returns a defect that shows rows which the filter leaves out.
func (f filter) showsExtra(name, doc string, apply func(*Target) Middleware) Defect {
	return Defect{f.operation + "/" + f.name + "-" + name, spec.Pair{Requirement: "FILTER-" + f.requirement + "-EXTRA", Operation: f.operation},
		doc, apply}
}

// droppedAfterFirstPage drops the filter of every request.
func (f filter) droppedAfterFirstPage() []Defect {
	pair := spec.Pair{Requirement: "FILTER-WALK", Operation: f.operation}
	if !spec.Has(pair) || f.kind == fromTime || f.kind == fromDay { // what follows a row in a window is in it, too
		return nil
	}
	return []Defect{{f.operation + "/" + f.name + "-on-first-page-alone", pair, "drops the filter by " + f.field + " after the first page",
		func(a *Target) Middleware { return f.forgotten(a, func(Request) bool { return true }) }}}
}

// flagValues are the values of the flags of a list: they select no rows.
var flagValues = map[string][]struct{ meaning, name, value string }{
	spec.ListPlacementTests: {
		{profile.ParamSortOrder, "sort-order", "asc"},
		{profile.ParamSortOrder, "sort-order", "desc"},
	},
	spec.ListPlacementReports: {
		{profile.ParamSkipSpamAssassin, "skip-spam-assassin", "true"},
		{profile.ParamSkipSpamAssassin, "skip-spam-assassin", "false"},
		{profile.ParamSkipBlacklist, "skip-blacklist", "true"},
		{profile.ParamSkipBlacklist, "skip-blacklist", "false"},
	},
}

// droppedWithFlags drops the filter after the first page if the request sets a flag, too.
func (f filter) droppedWithFlags() []Defect {
	if f.kind == fromTime { // what follows a row in a window is in it, too
		return nil
	}
	var defects []Defect
	for _, flag := range flagValues[f.operation] {
		defects = append(defects, f.showsExtra("dropped-with-"+flag.name+"-"+flag.value,
			"drops the filter by "+f.field+" after the first page of a request with "+flag.name+"="+flag.value,
			func(a *Target) Middleware {
				flagged := a.parameter(f.operation, flag.meaning)
				return f.forgotten(a, func(r Request) bool { return r.Query.Get(flagged) == flag.value })
			}))
	}
	return defects
}

// droppedBesideOthers drops the filter if another one is set.
func (f filter) droppedBesideOthers() []Defect {
	var defects []Defect
	for _, other := range filterTable {
		if other.operation != f.operation || other.meaning == f.meaning {
			continue
		}
		beside := func(a *Target) func(Request) bool {
			name := a.parameter(f.operation, other.meaning)
			return func(r Request) bool { return other.is(r.Query.Get(name)) }
		}
		defects = append(defects, f.showsExtra("dropped-beside-"+other.name,
			"drops the filter by "+f.field+" if the filter by "+other.field+" is set, too",
			func(a *Target) Middleware { return f.dropped(a, beside(a)) }))
		if f.kind == fromTime || f.kind == fromDay || neverShown(f, other) { // what follows a row in a window is in it, too
			continue
		}
		defects = append(defects, f.showsExtra("forgotten-beside-"+other.name,
			"drops the filter by "+f.field+" after the first page if the filter by "+other.field+" is set, too",
			func(a *Target) Middleware { return f.forgotten(a, beside(a)) }))
	}
	return defects
}

// droppedBesideTwo drops the filter if both other parameters of the list are set. A window has
// one of its ends set at least.
func (f filter) droppedBesideTwo() []Defect {
	if f.operation != spec.ListWebhookEvents && f.operation != spec.ListPlacementReports {
		return nil
	}
	return []Defect{f.showsExtra("dropped-beside-two", "drops the filter by "+f.field+" if all other filters are set, too", func(a *Target) Middleware {
		return f.dropped(a, func(r Request) bool {
			return !slices.ContainsFunc(filterTable, func(other filter) bool {
				return other.operation == f.operation && !r.Query.Has(a.parameter(f.operation, other.meaning))
			})
		})
	})}
}

// neverShown reports whether no page can show that the first filter is dropped after the first
// page beside the second one. No campaign is both the only one and excluded. The words that
// several subsequences of the data set share occur in one campaign only.
func neverShown(f, other filter) bool {
	return f.operation == spec.ListSubsequences && f.kind != searched && (f.kind == excluded || other.kind == searched)
}

// droppedAlone drops one end of a window if the other end is not set.
func (f filter) droppedAlone() []Defect {
	ends := map[filterKind]string{fromTime: profile.ParamWindowEnd, fromDay: profile.ParamWindowEnd, toTime: profile.ParamWindowStart, toDay: profile.ParamWindowStart}
	other, isEnd := ends[f.kind]
	if !isEnd {
		return nil
	}
	return []Defect{f.showsExtra("dropped-alone", "drops one end of the window by "+f.field+" if the other end is not set",
		func(a *Target) Middleware {
			name := a.parameter(f.operation, other)
			return f.dropped(a, func(r Request) bool { return !r.Query.Has(name) })
		})}
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
