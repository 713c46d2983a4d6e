package oracle

import (
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// Bounds of a generated query.
const (
	mostPages = 4
	mostSizes = 2
	// mostOthers is how many rows beside the first lend values to a filter.
	mostOthers = 2
)

// Queries generates queries of the list, whose values come from its rows. known reports
// whether the target has a name for the parameter. Simple queries come first when one is
// shrunk: few parameters, few pages.
func (l List) Queries(known func(parameter string) bool) *rapid.Generator[Query] {
	if len(l.Rows) == 0 {
		return rapid.Just(Query{Sizes: []int{0}, Pages: 1})
	}
	return rapid.Custom(func(t *rapid.T) Query {
		q := Query{Pages: rapid.IntRange(1, mostPages).Draw(t, "pages"), Sizes: rapid.SliceOfN(sizes, 1, mostSizes).Draw(t, "limits")}
		if rapid.IntRange(0, 5).Draw(t, "to the end") == 5 {
			q.Pages, q.Sizes = WholeWalk, []int{rapid.SampledFrom([]int{50, spec.MaxLimit}).Draw(t, "limit")}
		}
		if rapid.IntRange(0, 2).Draw(t, "with parameters") == 0 {
			return q
		}
		// Filters by values of the same row select at least that row.
		of := rapid.SampledFrom(l.Rows)
		pivot := of.Draw(t, "row")
		for _, f := range Filters(l.Operation.ID) {
			if !known(f.Key) || !rapid.Bool().Draw(t, "uses "+f.Title()) {
				continue
			}
			rows := []paging.Row{pivot}
			if rapid.IntRange(0, 3).Draw(t, "other rows") == 3 {
				for range mostOthers {
					rows = append(rows, of.Draw(t, "other row"))
				}
			}
			if uses := f.Uses(rows, len(rows)); len(uses) > 0 {
				q.Parameters = add(q.Parameters, rapid.SampledFrom(uses).Draw(t, "use").Query)
			}
		}
		for _, flag := range l.flags() {
			if !known(flag.Key) {
				continue
			}
			if value := rapid.SampledFrom(append([]string{""}, flag.Values...)).Draw(t, flag.Key); value != "" {
				q.Parameters = add(q.Parameters, map[string]string{flag.Key: value})
			}
		}
		return q
	})
}

// Fixed returns queries whatever the seed: small pages, the whole list with each value of
// each flag, and every pair of filters that the
// target has names for by the values of at most so many rows. Other rows differ in one of
// the filters.
func (l List) Fixed(known func(parameter string) bool, most int) []Query {
	queries := []Query{{Sizes: []int{1}, Pages: 2}, {Sizes: []int{0}, Pages: 1}}
	for _, parameters := range l.Flags(known) {
		queries = append(queries, Query{Parameters: parameters, Sizes: []int{spec.MaxLimit}, Pages: WholeWalk})
	}
	filters := slices.DeleteFunc(slices.Clone(Filters(l.Operation.ID)), func(f Filter) bool { return !known(f.Key) })
	for i, one := range filters {
		for _, other := range filters[i+1:] {
			all := spread(l.together(one, other), most)
			for _, third := range filters[min(len(filters), i+2):] {
				all = append(all, spread(l.together(one, other, third), 1)...)
			}
			for _, parameters := range all {
				queries = append(queries, Query{Parameters: parameters, Sizes: []int{spec.MaxLimit}, Pages: mostPages})
			}
		}
	}
	return queries
}

// Beyond is a use of a filter together with another filter, and the query that asks for it
// beyond the first page.
type Beyond struct {
	Use
	Query Query
}

// mostBeyond is how many values of each of two filters are looked through.
const mostBeyond = 12

// Alone returns uses of one end of a window without the other end, chosen from at most so
// many, those to the millisecond among them; none for another filter.
func (l List) Alone(f Filter, most int) []Use {
	if !f.IsWindow() {
		return nil
	}
	var alone []Use
	between := slices.DeleteFunc(f.Uses(l.Rows, most), func(u Use) bool { return !u.isBetween(l.Rows, f.Key) })
	for _, use := range append(f.extremes(l.Rows, most), between...) {
		use.Query = map[string]string{f.Key: use.Query[f.Key]}
		alone = append(alone, use)
	}
	return alone
}

// together returns the parameters of the filters by the values of each of the older rows that
// has values for all.
func (l List) together(filters ...Filter) []map[string]string {
	var all []map[string]string
	for _, row := range l.oldest() {
		if use, ok := (Use{}).withValues(row, filters...); ok {
			all = append(all, use.Query)
		}
	}
	return all
}

// oldest returns the older half of the rows by their ids, which are time-ordered: a run
// creates and deletes rows meanwhile.
func (l List) oldest() []paging.Row {
	rows := slices.SortedFunc(slices.Values(l.Rows), func(a, b paging.Row) int { return strings.Compare(a.Key, b.Key) })
	return rows[:(len(rows)+1)/2]
}

// isWindow reports whether both ends of a window are near.
func isWindow(parameters map[string]string) bool {
	start, end := parameters[profile.ParamWindowStart], parameters[profile.ParamWindowEnd]
	return start != "" && !isFar(start) && !isFar(end)
}

// WholeWalk is enough pages for a list of some hundred rows.
const WholeWalk = 40

// sizes are the limits that queries send; 0 sends none.
var sizes = rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, spec.MaxLimit), rapid.SampledFrom([]int{spec.MaxLimit, spec.MaxLimit - 1}), rapid.Just(0))

// flags returns the parameters with a set of values that do not select rows.
func (l List) flags() []spec.Parameter {
	return slices.DeleteFunc(slices.Clone(l.Operation.Query), func(p spec.Parameter) bool {
		return p.Values == nil || slices.ContainsFunc(Filters(l.Operation.ID), func(f Filter) bool { return f.Key == p.Key })
	})
}

// Flags returns each value of each flag of the list that the target has a name for, as the
// only parameter of a query.
func (l List) Flags(known func(parameter string) bool) []map[string]string {
	var all []map[string]string
	for _, flag := range l.flags() {
		for _, value := range flag.Values {
			if known(flag.Key) {
				all = append(all, map[string]string{flag.Key: value})
			}
		}
	}
	return all
}

// add sets parameters that are not set yet. The far end of a window gives way to a nearer
// one, but no window ends before it starts, or lasts a moment only: a server may refuse
// that.
func add(parameters, more map[string]string) map[string]string {
	all := maps.Clone(parameters)
	if all == nil {
		all = map[string]string{}
	}
	for parameter, value := range more {
		if now, set := all[parameter]; !set || isFar(now) {
			all[parameter] = value
		}
	}
	start, end := all[profile.ParamWindowStart], all[profile.ParamWindowEnd] // both have one form
	if start > end || start == end && strings.Contains(end, "T") {
		return parameters
	}
	return all
}

// isFar reports whether the value is an end of a window beyond all rows.
func isFar(value string) bool {
	t, ok := timeOf(value)
	return ok && (t.Equal(FarPast) || t.Equal(FarFuture))
}
