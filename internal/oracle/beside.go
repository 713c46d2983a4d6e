package oracle

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// Flagged returns a narrow and a wide use of the filter, chosen from at most so many, with
// each value of each flag that the target has a name for.
func (l List) Flagged(f Filter, most int, known func(parameter string) bool) []Use {
	var uses []Use
	for _, use := range f.extremes(l.Rows, most) {
		for _, flag := range l.Flags(known) {
			uses = append(uses, use.with(flag))
		}
	}
	return uses
}

// Beside returns uses of the filter together with another filter of the list, which selects
// a row that this one leaves out: a target that heeds only the other one shows the row. They
// are at most so many for each other filter that the target has a name for.
func (l List) Beside(f Filter, most int, known func(parameter string) bool) []Use {
	var all []Use
	uses := spread(f.Uses(l.Rows, most), most)
	for _, other := range l.others(f, known) {
		seconds := spread(other.Uses(l.Rows, most), most)
		if len(uses) == 0 || len(seconds) == 0 {
			continue
		}
		for i := range max(len(uses), len(seconds)) {
			use := uses[i%len(uses)]
			both, ok := l.beside(use, seconds[i%len(seconds)])
			if !ok {
				both, ok = l.besideOwn(use, other)
			}
			if ok {
				all = append(all, both)
			}
		}
	}
	return all
}

// others returns the filters with other parameters that the target has names for.
func (l List) others(f Filter, known func(parameter string) bool) []Filter {
	return slices.DeleteFunc(slices.Clone(Filters(l.Operation.ID)), func(other Filter) bool { return other.Key == f.Key || !known(other.Key) })
}

// BesideBeyond returns uses of the filter together with another filter. They may select two
// rows or more. Their pages show a row that only the other filter selects if the target
// heeds both on the first page alone. They are at most so many for each other filter that
// the target has a name for.
func (l List) BesideBeyond(f Filter, most int, known func(parameter string) bool) []Beyond {
	var all []Beyond
	for _, other := range l.others(f, known) {
		pairs := l.pairsBeyond(f, other)
		all = append(all, pairs[:min(len(pairs), most)]...)
	}
	return all
}

// pairsBeyond returns such uses of two filters. Those with the fewest words come first: the
// more words a search has, the less is known of what it finds.
func (l List) pairsBeyond(f, other Filter) []Beyond {
	var pairs []Beyond
	seconds := other.Uses(l.Rows, mostBeyond)
	selected := make([]selections, len(seconds))
	for i, second := range seconds {
		selected[i] = second.selections(l.Rows)
	}
	for _, use := range f.Uses(l.Rows, mostBeyond) {
		own := use.selections(l.Rows)
		for i, second := range seconds {
			both := use.with(second.Query)
			if len(both.Query) == len(use.Query) {
				continue
			}
			if size := pageBeyond(own, selected[i]); size > 0 {
				pairs = append(pairs, Beyond{both, Query{Parameters: both.Query, Sizes: []int{size}, Pages: mostPages}})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Beyond) int {
		return len(strings.Fields(a.Use.Query[profile.ParamSearch])) - len(strings.Fields(b.Use.Query[profile.ParamSearch]))
	})
	return pairs
}

// selections say which rows a use may select, and which it must.
type selections struct{ may, must []bool }

func (u Use) selections(rows []paging.Row) (s selections) {
	for _, row := range rows {
		id, in := u.Says(row)
		may := in || id == ""
		if finds := u.filter.finds; finds != nil && !in { // small pages show a plain search beyond the first, too
			may = finds(u.Query, row)
		}
		s.may, s.must = append(s.may, may), append(s.must, in)
	}
	return s
}

// pageBeyond returns the size of pages of which the second or a later one shows a row that
// only the second use selects, if the target heeds both on the first page alone. It is 0 if
// there is none.
func pageBeyond(own, second selections) int {
	selected, strangers, size := 0, 0, 1
	for i, may := range second.may {
		switch {
		case !may:
			continue
		case own.may[i]:
			selected++
			if strangers == 0 && own.must[i] && second.must[i] {
				size = min(spec.MaxLimit, (selected+1)/2)
			}
		case selected > 0 && selected+strangers < mostPages*size:
			strangers++
		}
		if selected > 1 && strangers > 0 {
			return size
		}
	}
	return 0
}

// beside returns both uses together if the second one selects a row which the first one
// leaves out. Of a filter that selects no row for certain, one that it may select suffices.
func (l List) beside(use, second Use) (Use, bool) {
	both := use.with(second.Query)
	if len(both.Query) == len(use.Query) {
		return Use{}, false
	}
	second.Query = both.Query
	certain := slices.ContainsFunc(l.Rows, func(row paging.Row) bool { _, in := second.Says(row); return in })
	found := slices.ContainsFunc(l.oldest(), func(row paging.Row) bool {
		left, in := both.Says(row)
		out, shown := second.Says(row)
		return left != "" && !in && (shown || out == "" && !certain)
	})
	return both, found
}

// besideOwn is beside for a use of the other filter by the value of the row.
func (l List) besideOwn(use Use, other Filter) (Use, bool) {
	for _, row := range l.oldest() {
		if left, in := use.Says(row); left == "" || in {
			continue
		}
		for _, second := range other.Uses([]paging.Row{row}, 1) {
			if both, ok := l.beside(use, second); ok {
				return both, true
			}
		}
	}
	return Use{}, false
}

// withValues returns the use together with the filters by the values of the row. It reports
// false if the row lacks one, or if two filters are the same.
func (u Use) withValues(row paging.Row, filters ...Filter) (Use, bool) {
	for _, f := range filters {
		uses := f.Uses([]paging.Row{row}, 1)
		if len(uses) == 0 {
			return Use{}, false
		}
		more := u.with(uses[0].Query)
		if len(more.Query) == len(u.Query) && (isWindow(u.Query) || !isWindow(more.Query)) {
			return Use{}, false
		}
		u = more
	}
	return u, true
}
