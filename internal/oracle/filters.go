package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Filter is a filter of one list that selects rows, as the table of operations has it.
type Filter struct {
	spec.Filter
	Requirements []spec.ID // that speak of its rows

	// queries returns at most so many uses of each kind, made from the rows of an
	// unfiltered walk: key of the parameter → value.
	queries func(rows []paging.Row, most int) []map[string]string
	// says returns the requirement that speaks of the row, and whether the row must be in
	// the filtered list or out of it; "" if nothing is said.
	says func(query map[string]string, row paging.Row) (requirement spec.ID, in bool)
	// finds reports whether a plain search finds the row. Other servers may find more; nil if says tells.
	finds func(query map[string]string, row paging.Row) bool
}

// Title completes "the operation …".
func (f Filter) Title() string { return titles[f.Kind] + f.field() }

var titles = map[spec.FilterKind]string{
	spec.Search: "searches by ", spec.Exact: "filters by ", spec.ExactSearch: "filters by ", spec.AnyOf: "filters by ", spec.Exclude: "excludes by ",
	spec.From: "starts a window by ", spec.FromDay: "starts a window by ", spec.Until: "ends a window by ", spec.UntilDay: "ends a window by ",
}

// field returns the field of a row that decides; a search reads others, too.
func (f Filter) field() string { return f.Fields[0] }

// ByID reports whether the filter selects rows by an id.
func (f Filter) ByID() bool { return f.Kind == spec.AnyOf || f.Kind == spec.Exact && f.Values == nil }

// IsWindow reports whether the filter is an end of a window.
func (f Filter) IsWindow() bool {
	return slices.Contains([]spec.FilterKind{spec.From, spec.Until, spec.FromDay, spec.UntilDay}, f.Kind)
}

// alongside reports whether both filters are one: they have the same parameter, or are the
// ends of a window.
func (f Filter) alongside(other Filter) bool {
	return f.Key == other.Key || f.IsWindow() && other.IsWindow()
}

// Use is one use of a filter.
type Use struct {
	Query  map[string]string // key of the parameter → value
	filter Filter
}

// Says returns the requirement that speaks of the row, and whether the row must be in the
// filtered list or out of it; "" if the specification says nothing of the row.
func (u Use) Says(row paging.Row) (requirement spec.ID, in bool) { return u.filter.says(u.Query, row) }

// String shows the query.
func (u Use) String() string { return shownQuery(u.Query) }

// Part shows what of a row decides whether the filter selects it.
func (u Use) Part(row map[string]any) string { return part(row, u.filter.field()) }

// shownQuery shows the parameters by their keys.
func shownQuery(parameters map[string]string) string {
	var shown []string
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		shown = append(shown, key+"="+schemas.Shorten(parameters[key], maxShown))
	}
	return strings.Join(shown, ", ")
}

// part shows the id and some fields of a row.
func part(row map[string]any, fields ...string) string {
	shown := map[string]any{}
	for _, field := range append(fields, "id") {
		if value, ok := row[field]; ok {
			shown[field] = value
		}
	}
	return "the row " + show(shown)
}

// with returns the use with more parameters.
func (u Use) with(parameters map[string]string) Use {
	u.Query = add(u.Query, parameters)
	return u
}

// BeyondFirst returns a query that shows whether the target heeds the use after the first
// page, too. It goes one page further than the rows that the use may select.
func (u Use) BeyondFirst(rows []paging.Row) Query {
	const pages = 3
	size := min(spec.MaxLimit, (u.reach(rows).open+pages-1)/pages)
	return Query{Parameters: u.Query, Sizes: []int{max(1, size)}, Pages: pages + 1}
}

// Extra returns the requirement that a row breaks which the filter leaves out.
func (f Filter) Extra() spec.ID { return f.Requirement("EXTRA") }

// Uses returns at most so many uses of each kind, made from the rows of an unfiltered walk.
func (f Filter) Uses(rows []paging.Row, most int) []Use {
	var uses []Use
	for _, query := range f.queries(rows, most) {
		uses = append(uses, Use{query, f})
	}
	return uses
}

// By returns the use of the filter by the value.
func (f Filter) By(value string) Use {
	return Use{map[string]string{f.Key: value}, f}
}

// Widest returns the uses of the filter that may select the most rows without selecting
// all, the widest first. Those that leave out a row between others or after the first that
// they select come before the rest: a server that drops them after a page shows that row.
func (f Filter) Widest(rows []paging.Row, most int) []Use {
	uses := slices.DeleteFunc(f.Uses(rows, most), func(u Use) bool { return u.reach(rows).open == len(rows) })
	slices.SortStableFunc(uses, func(a, b Use) int {
		one, other := a.reach(rows), b.reach(rows)
		return cmp.Or(other.later-one.later, other.open-one.open)
	})
	return uses
}

// Foreign returns at most so many uses of the filter by values of the rows of another
// workspace, which may select one of them. Those that may select the fewest of the own rows
// come first.
func (f Filter) Foreign(rows, own []paging.Row, most int) []Use {
	uses := slices.DeleteFunc(f.Uses(rows, most), func(u Use) bool { return u.reach(rows).open == 0 })
	slices.SortStableFunc(uses, func(a, b Use) int { return a.reach(own).open - b.reach(own).open })
	return uses[:min(most, len(uses))]
}

// extremes returns the narrowest use and the one that may select the most rows without
// selecting all. A search selects more by the second.
func (f Filter) extremes(rows []paging.Row, most int) []Use {
	widest := f.Widest(rows, most)
	narrowest := f.Narrowest(rows, most)
	if len(narrowest) == 0 {
		return widest[:min(len(widest), 1)]
	}
	return append(narrowest, widest[slices.IndexFunc(widest, func(u Use) bool { return u.reach(rows).open >= 2 })])
}

// Narrowest returns the use that may select the fewest rows, but two, and leaves out more of
// the rows that follow; none if fewer than two uses may select that many.
func (f Filter) Narrowest(rows []paging.Row, most int) []Use {
	several := slices.DeleteFunc(f.Widest(rows, most), func(u Use) bool { return u.reach(rows).open < 2 })
	if len(several) < 2 {
		return nil
	}
	return []Use{slices.MinFunc(several, func(a, b Use) int {
		one, other := a.reach(rows), b.reach(rows)
		return cmp.Or(other.later-one.later, one.open-other.open)
	})}
}

// reach says how many rows a use may select, and whether it leaves out a row after the first
// of them (1), also one between two of them (2).
type reach struct{ open, later int }

func (u Use) reach(rows []paging.Row) reach {
	var r reach
	for _, row := range rows {
		if requirement, in := u.Says(row); in || requirement == "" {
			r.open++
			r.later *= 2
		} else if r.open > 0 {
			r.later = max(1, r.later)
		}
		r.later = min(r.later, 2)
	}
	return r
}

// Filters returns the filters of the list that select rows. Flags leave out parts of a row
// instead (Parts).
func Filters(list string) []Filter { return filters[list] }

var filters = func() map[string][]Filter {
	all := map[string][]Filter{}
	for _, op := range spec.Operations() {
		for _, f := range op.Filters {
			if f.Selects() {
				all[op.ID] = append(all[op.ID], filterOf(op, f))
			}
		}
	}
	return all
}()

// filterOf returns the filter of the list by its kind.
func filterOf(list spec.Operation, f spec.Filter) Filter {
	missing, extra := f.Requirement("MISSING"), f.Requirement("EXTRA")
	filter := Filter{Filter: f, Requirements: []spec.ID{missing, extra}}
	field := filter.field()
	switch f.Kind {
	case spec.Search:
		searches(&filter, list.Resource)
	case spec.ExactSearch:
		searchesExactly(&filter, list)
	case spec.From, spec.Until, spec.FromDay, spec.UntilDay:
		cuts(&filter, list.ID)
	case spec.Exclude: // which of the other rows are listed is open
		filter.Requirements = []spec.ID{extra}
		filter.queries = each(f.Key, func(rows []paging.Row, most int) []string { return Distinct(rows, field, most) })
		filter.says = func(query map[string]string, row paging.Row) (spec.ID, bool) {
			if Scalar(row.Value[field]) == query[f.Key] {
				return extra, false
			}
			return "", false
		}
	default:
		filter.queries = each(f.Key, func(rows []paging.Row, most int) []string {
			values := Distinct(slices.DeleteFunc(slices.Clone(rows), func(row paging.Row) bool {
				return f.Values != nil && !slices.Contains(f.Values, Scalar(row.Value[field])) // a server may refuse it
			}), field, most)
			if f.Kind == spec.AnyOf {
				return listsOf(values, All(rows, field))
			}
			return values
		})
		filter.says = func(query map[string]string, row paging.Row) (spec.ID, bool) {
			wanted := []string{query[f.Key]}
			if f.Kind == spec.AnyOf {
				wanted = strings.Split(query[f.Key], ",")
			}
			if slices.Contains(wanted, Scalar(row.Value[field])) {
				return missing, true
			}
			return extra, false
		}
	}
	return filter
}

// each returns queries, one for each value.
func each(key string, values func(rows []paging.Row, most int) []string) func(rows []paging.Row, most int) []map[string]string {
	return func(rows []paging.Row, most int) (queries []map[string]string) {
		for _, value := range values(rows, most) {
			queries = append(queries, map[string]string{key: value})
		}
		return queries
	}
}

// listsOf returns lists of one and several of the ids, separated by commas.
func listsOf(ids, all []string) (lists []string) {
	for n := 1; n <= min(len(ids), manyIDs); n++ {
		lists = append(lists, strings.Join(ids[:n], ","))
	}
	if len(all) > len(ids) {
		lists = append(lists, strings.Join(all[:min(len(all), manyIDs)], ","))
	}
	return lists
}

// manyIDs is how many UUIDs fit in the value of a parameter that a run sends.
const manyIDs = 6

// Contradicts reports whether the query selects the rows that it excludes.
func Contradicts(list string, query map[string]string) bool {
	return slices.ContainsFunc(Filters(list), func(not Filter) bool {
		return not.Kind == spec.Exclude && query[not.Key] != "" && slices.ContainsFunc(Filters(list), func(f Filter) bool {
			return f.Kind == spec.Exact && f.field() == not.field() && strings.EqualFold(query[f.Key], query[not.Key])
		})
	})
}

// Parts returns the flags that leave out a part of the list's rows.
func Parts(list string) []spec.Filter {
	op, _ := spec.FindOperation(list)
	return slices.DeleteFunc(slices.Clone(op.Filters), spec.Filter.Selects)
}
