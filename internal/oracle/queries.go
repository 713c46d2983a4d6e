package oracle

import (
	"maps"
	"slices"
	"strings"
	"time"

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
			q.Pages, q.Sizes = WholeWalk, []int{rapid.SampledFrom([]int{0, 7, 50, maxLimit}).Draw(t, "limit")}
		}
		if rapid.IntRange(0, 2).Draw(t, "with parameters") == 0 {
			return q
		}
		// Filters by values of the same row select at least that row.
		of := rapid.SampledFrom(l.Rows)
		pivot := of.Draw(t, "row")
		for _, f := range Filters(l.Operation.ID) {
			if !known(f.Parameter) || !rapid.Bool().Draw(t, "uses "+f.Title) {
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
			if !known(flag.parameter) {
				continue
			}
			if value := rapid.SampledFrom(flag.values).Draw(t, flag.parameter); value != "" {
				q.Parameters = add(q.Parameters, map[string]string{flag.parameter: value})
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
		queries = append(queries, Query{Parameters: parameters, Sizes: []int{maxLimit}, Pages: WholeWalk})
	}
	filters := slices.DeleteFunc(slices.Clone(Filters(l.Operation.ID)), func(f Filter) bool { return !known(f.Parameter) })
	for i, one := range filters {
		for _, other := range filters[i+1:] {
			for _, parameters := range spread(l.both(one, other), most) {
				queries = append(queries, Query{Parameters: parameters, Sizes: []int{maxLimit}, Pages: mostPages})
			}
			for _, third := range filters[min(len(filters), i+2):] {
				if parameters := l.three(one, other, third); parameters != nil {
					queries = append(queries, Query{Parameters: parameters, Sizes: []int{maxLimit}, Pages: mostPages})
				}
			}
		}
	}
	return queries
}

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
	for _, other := range Filters(l.Operation.ID) {
		if other.Parameter == f.Parameter || !known(other.Parameter) {
			continue
		}
		for _, third := range Filters(l.Operation.ID) {
			if other.Title < third.Title && third.Parameter != f.Parameter && third.Parameter != other.Parameter && known(third.Parameter) {
				if all3, ok := l.besideTwo(uses, other, third); ok {
					all = append(all, all3)
				}
			}
		}
		seconds := spread(other.Uses(l.Rows, most), most)
		for i := range max(len(uses), len(seconds)) {
			if len(uses) == 0 || len(seconds) == 0 {
				break
			}
			if both, ok := l.beside(uses[i%len(uses)], seconds[i%len(seconds)]); ok {
				all = append(all, both)
			} else if both, ok := l.besideOwn(uses[i%len(uses)], other); ok {
				all = append(all, both)
			}
		}
	}
	return all
}

// Beyond is a use of a filter together with another filter, and the query that asks for it
// beyond the first page.
type Beyond struct {
	Use
	Query Query
}

// BesideBeyond returns uses of the filter together with another filter. They may select two
// rows or more. Their pages show a row that only the other filter selects if the target
// heeds both on the first page alone. They are at most so many for each other filter that
// the target has a name for.
func (l List) BesideBeyond(f Filter, most int, known func(parameter string) bool) []Beyond {
	var all []Beyond
	for _, other := range Filters(l.Operation.ID) {
		if other.Parameter != f.Parameter && known(other.Parameter) {
			pairs := l.pairsBeyond(f, other)
			all = append(all, pairs[:min(len(pairs), most)]...)
		}
	}
	return all
}

// mostBeyond is how many values of each of two filters are looked through.
const mostBeyond = 12

// pairsBeyond returns such uses of two filters. Those with the fewest words come first: the
// more words a search has, the less is known of what it finds.
func (l List) pairsBeyond(f, other Filter) []Beyond {
	var pairs []Beyond
	seconds := other.Uses(l.Rows, mostBeyond)
	selected := make([][]selection, len(seconds))
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

// selection is whether a use selects a row.
type selection int

const (
	leftOut selection = iota
	open              // nothing is said
	certain
)

// selections returns what the use says of each row.
func (u Use) selections(rows []paging.Row) []selection {
	all := make([]selection, len(rows))
	for i, row := range rows {
		switch id, in := u.Says(row); {
		case id == "":
			all[i] = open
		case in:
			all[i] = certain
		}
	}
	return all
}

// pageBeyond returns the size of pages of which the second or a later one shows a row that
// only the second use selects, if the target heeds both on the first page alone. It is 0 if
// there is none.
func pageBeyond(own, second []selection) int {
	selected, strangers, size := 0, 0, 1
	for i := range own {
		switch {
		case second[i] == leftOut:
			continue
		case own[i] != leftOut:
			selected++
			if strangers == 0 && own[i] == certain && second[i] == certain {
				size = min(maxLimit, (selected+1)/2)
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

// besideTwo returns one of the uses together with two other filters by the values of a row
// that the use leaves out: a target that drops the use beside both of them shows the row.
func (l List) besideTwo(uses []Use, one, other Filter) (Use, bool) {
	for _, use := range uses {
		for _, row := range l.oldest() {
			if left, in := use.Says(row); left == "" || in {
				continue
			}
			rows := []paging.Row{row}
			firsts, seconds := one.Uses(rows, 1), other.Uses(rows, 1)
			if len(firsts) == 0 || len(seconds) == 0 {
				continue
			}
			two := use.with(firsts[0].Query)
			all := two.with(seconds[0].Query)
			if len(two.Query) == len(use.Query) && !isWindow(two.Query) || len(all.Query) == len(two.Query) && !isWindow(all.Query) {
				continue
			}
			left, in := all.Says(row)
			_, first := one.says(all.Query, row)
			_, second := other.says(all.Query, row)
			if left != "" && !in && first && second {
				return all, true
			}
		}
	}
	return Use{}, false
}

// Alone returns uses of one end of a window without the other end, chosen from at most so
// many, those to the millisecond among them; none for another filter.
func (l List) Alone(f Filter, most int) []Use {
	var alone []Use
	uses := f.extremes(l.Rows, most)
	for _, use := range f.Uses(l.Rows, most) {
		if use.isBetween(l.Rows, f.Parameter) {
			uses = append(uses, use)
		}
	}
	for _, use := range uses {
		if f.Parameter != profile.ParamWindowStart && f.Parameter != profile.ParamWindowEnd {
			break
		}
		use.Query = map[string]string{f.Parameter: use.Query[f.Parameter]}
		alone = append(alone, use)
	}
	return alone
}

// both returns the parameters of both filters by the values of each of the older rows that
// has values for both.
func (l List) both(one, other Filter) []map[string]string {
	if one.Parameter == other.Parameter {
		return nil
	}
	var all []map[string]string
	for _, row := range l.oldest() {
		rows := []paging.Row{row}
		first, second := one.Uses(rows, 1), other.Uses(rows, 1)
		if len(first) == 0 || len(second) == 0 {
			continue
		}
		parameters := add(first[0].Query, second[0].Query)
		if len(parameters) > len(first[0].Query) || isWindow(parameters) {
			all = append(all, parameters)
		}
	}
	return all
}

// three returns the parameters of three filters by the values of one of the older rows; nil
// if no row has values for all, or if two of them are the same filter.
func (l List) three(one, other, third Filter) map[string]string {
	if one.Parameter == third.Parameter || other.Parameter == third.Parameter {
		return nil
	}
	for _, both := range spread(l.both(one, other), 1) {
		for _, row := range l.oldest() {
			uses := third.Uses([]paging.Row{row}, 1)
			first, in := one.says(both, row)
			second, too := other.says(both, row)
			if len(uses) == 0 || first != "" && !in || second != "" && !too {
				continue
			}
			if parameters := add(both, uses[0].Query); len(parameters) > len(both) || isWindow(parameters) && !isWindow(both) {
				return parameters
			}
		}
	}
	return nil
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
var sizes = rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, maxLimit), rapid.SampledFrom([]int{maxLimit, maxLimit - 1}), rapid.Just(0))

// flag is a parameter that does not select rows. The value "" leaves it out.
type flag struct {
	parameter string
	values    []string
}

func (l List) flags() []flag {
	var flags []flag
	if l.Operation.ID == spec.ListPlacementTests {
		flags = append(flags, flag{profile.ParamSortOrder, []string{"", "asc", "desc"}})
	}
	for _, part := range Parts(l.Operation.ID) {
		flags = append(flags, flag{part.Parameter, []string{"", "true", "false"}})
	}
	return flags
}

// Flags returns each value of each flag of the list that the target has a name for, as the
// only parameter of a query.
func (l List) Flags(known func(parameter string) bool) []map[string]string {
	var all []map[string]string
	for _, flag := range l.flags() {
		for _, value := range flag.values {
			if value != "" && known(flag.parameter) {
				all = append(all, map[string]string{flag.parameter: value})
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
	for _, end := range []time.Time{FarPast, FarFuture} {
		if value == Timestamp(end) || value == end.Format(time.DateOnly) {
			return true
		}
	}
	return false
}
