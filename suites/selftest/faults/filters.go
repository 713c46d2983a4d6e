package faults

import (
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// filterDefects break the filters. They use only what the target shows with and without a
// filter: they do not know what it selects.
func filterDefects() []Defect {
	defects := filteredWalkMistakes.defects()
	for _, op := range spec.FilterWalk.Operations() {
		for _, f := range filtersIn(op.ID) {
			for _, m := range filterMistakes {
				if m.of(f) {
					defects = append(defects, f.wrong(m.side, m.doc, f.selecting(m.side == extra, m.wrong))...)
				}
			}
			for _, value := range f.values {
				defects = slices.Concat(defects, f.wrong(extra, "ignores "+value, when(with(f.key, value), dropParam(f.key))),
					f.wrong(missing, "shows no rows for "+value, when(with(f.key, value), showNothing)))
			}
			defects = append(defects, f.ignored()...)
		}
	}
	return slices.Concat(defects, flagDefects())
}

// Sides of a filter: it shows too much, or too little, or not the ends of a window.
const extra, missing, inclusive = "-EXTRA", "-MISSING", "-INCLUSIVE"

// wrong returns the defect unless no requirement speaks of that side of the filter.
func (f filter) wrong(side, doc string, do rule) []Defect {
	breaks := spec.ID("FILTER-" + f.word + side)
	if !spec.Has(breaks.On(f.operation)) {
		return nil
	}
	return []Defect{defect(breaks, f.operation, f.name()+" "+doc, doc+", in the filter by "+f.field, do)}
}

// selection is what a filter may get wrong: the rows that it should show, or the others.
type selection struct {
	filter
	value     string
	all, rows []row // without the filter, and those in question
}

// rowTest reports whether a filter gets the row wrong.
type rowTest func(s *selection, r row) bool

// selecting adds the rows that are wrong to the right ones, or leaves them out.
func (f filter) selecting(adding bool, wrong rowTest) rule {
	return when(f.set, serve(pager{before: func(p *page) {
		s := &selection{f, p.param(f.key), p.read(func(r *Request) { r.Query.Del(p.named(f.key)) }), p.list}
		if adding {
			s.rows = without(s.all, p.list)
		}
		right := slices.DeleteFunc(slices.Clone(s.rows), func(r row) bool { return wrong(s, r) })
		if p.list = right; adding {
			p.list = without(s.all, right)
		}
	}}))
}

func anyRow(*selection, row) bool           { return true }
func ifNoneFits(s *selection, _ row) bool   { return len(s.rows) == len(s.all) }
func ifSeveral(s *selection, _ row) bool    { return strings.Contains(s.value, ",") }
func withoutValue(s *selection, r row) bool { return r.fields[s.field] == nil }
func inSecondHalf(s *selection, r row) bool { return keysOf(s.all[len(s.all)/2:])[r.same()] }

// ifUnknown is for a list of several values of which no row has one.
func ifUnknown(s *selection, r row) bool {
	return ifSeveral(s, r) && slices.ContainsFunc(strings.Split(s.value, ","), func(value string) bool {
		return !slices.ContainsFunc(s.all, func(r row) bool { return r.text(s.field) == value })
	})
}

// beyond are the rows of all but the first n of several values.
func beyond(n int) rowTest {
	return byText(func(text, value string) bool { return slices.Index(strings.Split(value, ","), text) >= n })
}

// byText are rows whose text makes them wrong.
func byText(wrong func(text, value string) bool) rowTest {
	return func(s *selection, r row) bool { return wrong(r.text(s.field), s.value) }
}

// alike are rows whose text has the same beginning as the value.
func alike(n int) rowTest {
	return byText(func(text, value string) bool {
		return text != "" && text[:min(n, len(text))] == value[:min(n, len(value))]
	})
}

// lastThat is the last row in question that is wrong.
func lastThat(wrong rowTest) rowTest {
	return func(s *selection, r row) bool {
		rows := reversed(s.rows)
		i := slices.IndexFunc(rows, func(r row) bool { return wrong(s, r) })
		return i >= 0 && rows[i].same() == r.same()
	}
}

// nextToEnd are the 2 or 3 rows next to the end of a window.
func nextToEnd(s *selection, r row) bool {
	return len(slices.DeleteFunc(slices.Clone(s.rows), func(other row) bool { return (other.text(s.field) < r.text(s.field)) != (s.kind == fromTime) })) < 3
}

var isValue = byText(func(text, value string) bool { return text == value })

// Filters by their kind or their name.
func anyFilter(filter) bool { return true }

func of(kinds ...filterKind) func(filter) bool {
	return func(f filter) bool { return slices.Contains(kinds, f.kind) }
}

func called(words ...string) func(filter) bool {
	return func(f filter) bool { return slices.Contains(words, f.word) }
}

var (
	picking = of(exactly, listed, searched, whole)
	windows = of(fromTime, toTime)
	days    = of(fromDay, toDay)
)

var filterMistakes = []struct {
	of        func(filter) bool
	side, doc string
	wrong     rowTest
}{
	{anyFilter, extra, "shows all rows", anyRow},
	{anyFilter, extra, "shows the last of the other rows, too", lastThat(anyRow)},
	{anyFilter, extra, "filters only the first half of the rows", inSecondHalf},
	{of(searched, listed), extra, "shows all rows if none fits", ifNoneFits},
	{called("TEST", "PARENT"), extra, "shows all rows if none fits", ifNoneFits},
	{called("STATUS"), extra, "shows the rows without a value, too", withoutValue},
	{picking, missing, "shows no rows", anyRow},
	{anyFilter, missing, "leaves out the last row", lastThat(anyRow)},
	{picking, missing, "searches only the first half of the list", inSecondHalf},

	{of(searched), extra, "shows every row with the same first letter", alike(1)},
	{of(searched), extra, "shows the rows whose text begins the search", byText(func(text, value string) bool {
		return len(text) > 4 && len(text) < len(value) && strings.HasPrefix(value, text)
	})},
	{of(searched), missing, "does not find a row by its full text", isValue},
	{called("SEARCH_MEMBER"), extra, "searches the role, too", func(s *selection, r row) bool { return r.text("role") == s.value }},
	{called("SEARCH_MEMBER"), missing, "does not search names", byText(func(text, value string) bool { return !strings.Contains(strings.ToLower(text), strings.ToLower(value)) })},
	{of(whole), extra, "shows every row that begins with the text", byText(strings.HasPrefix)},
	{of(whole), extra, "takes an underscore for any sign, like SQL", byText(func(text, value string) bool {
		fits, _ := regexp.MatchString("^"+strings.ReplaceAll(regexp.QuoteMeta(value), "_", ".")+"$", text)
		return fits
	})},
	{called("SEARCH_URL"), extra, "shows the rows of a URL in another case", byText(strings.EqualFold)},

	{of(listed), missing, "uses the first of several values", beyond(1)},
	{of(listed), missing, "uses 20 of several values", beyond(20)},
	{of(listed), missing, "shows no rows if no row has one of several values", ifUnknown},
	{of(listed), extra, "shows all rows if no row has one of several values", ifUnknown},
	{of(listed), extra, "shows all rows for several values", ifSeveral},

	{windows, extra, "shows all rows of the day at the end of the window", alike(len("2006-01-02"))},
	{of(fromTime), extra, "drops the milliseconds of the end of the window", alike(len("2006-01-02T15:04:05"))},
	{of(toTime), missing, "drops the milliseconds of the end of the window", alike(len("2006-01-02T15:04:05"))},
	// Whether rows at the very end belong to the window is open. So the lost ones lie further inside.
	{windows, missing, "leaves out rows next to the end of the window", nextToEnd},
	{windows, missing, "shows no rows", anyRow},
	{days, missing, "shows only the day at the end of the window", byText(func(text, value string) bool { return text != value })},
	{days, inclusive, "leaves out the day at the end of the window", isValue},
	{days, inclusive, "leaves out a row of the day at the end of the window", lastThat(isValue)},
}

// ignored drops the filter on some occasion, on all pages or on all but the first.
func (f filter) ignored() []Defect {
	var defects []Defect
	drop := func(doc string, o occasion) {
		defects = append(defects, f.wrong(extra, "ignored "+doc, when(all(f.set, o), dropParam(f.key)))...)
	}
	later := not(firstPage)
	if f.kind == fromTime || f.kind == fromDay { // what follows a row in a window is in it, too
		later = nil
	}
	var beside []string
	for _, other := range filtersIn(f.operation) {
		if other.key == f.key {
			continue
		}
		beside = append(beside, other.key)
		drop("beside "+other.name(), other.set)
		if later != nil && !neverShown(f, other) {
			drop("after the first page beside "+other.name(), all(other.set, later))
		}
		if f.kind >= fromTime && other.kind >= fromTime {
			drop("without the other end", not(other.set))
		}
	}
	if f.kind >= fromTime {
		drop("beside all others", has(beside...))
	}
	if later == nil {
		return defects
	}
	for _, flag := range flagsIn[f.operation] {
		drop("after the first page with "+flag, all(has(flag), later))
	}
	return append(defects, defect(spec.FilterWalk, f.operation, f.name()+" ignored after the first page", "drops the filter by "+f.field+" after the first page", when(all(f.set, later), dropParam(f.key))))
}

// flagsIn are the parameters of a list that select no rows.
var flagsIn = map[string][]string{
	spec.ListPlacementTests:   {profile.ParamSortOrder},
	spec.ListPlacementReports: {profile.ParamSkipSpamAssassin, profile.ParamSkipBlacklist},
}

// neverShown reports whether no page can show that the first filter is dropped after the first
// page beside the second one. No campaign is both the only one and excluded. The words that
// several subsequences of the data set share occur in one campaign only.
func neverShown(f, other filter) bool {
	return f.operation == spec.ListSubsequences && f.kind != searched && (f.kind == excluded || other.kind == searched)
}

// filteredWalkMistakes break walks of filtered lists only.
var filteredWalkMistakes = mistakes{spec.FilterWalk: {
	{"repeats rows between pages", walk(pager{after: repeatLast})},
	{"skips a row between two pages", walk(pager{after: skipNext})},
	{"returns no cursor with a small page", walk(pager{after: only(smallOnes, endWalk)})},
	{"links a full last page to itself", walk(pager{after: only(lastOne.and(isFull), linkToItself)})},
	{"shows small pages in reverse order", walk(pager{before: throughout(smallOnes, backwards)})},
	{"shows two rows in the wrong order", walk(pager{before: swapDeep})},
	{"shows a row more than the limit", walk(pager{before: oneMore})},
}}

// walk serves filtered lists.
func walk(p pager) rule { return when(filtered, serve(p)) }

// flagDefects break the two flags that leave out a part of each report.
func flagDefects() []Defect {
	wrong := mistakes{}
	flags := flagsIn[spec.ListPlacementReports]
	for i, key := range flags {
		requirement, other := "FILTER-"+strings.ToUpper(key), flags[1-i]
		on, off, unset := with(key, "true"), with(key, "false"), not(has(key))
		show, leaveOut, loseLast := setParam(key, "false"), setParam(key, "true"), serve(pager{before: withoutLast})
		wrong[spec.ID(requirement+"-TRUE")] = []mistake{
			{"shows the part anyway", when(on, show)},
			{"shows the part after the first page", when(all(on, not(firstPage)), show)},
			{"shows the part if the other one is left out", when(all(on, with(other, "true")), show)},
			{"leaves out the other part, too", when(on, setParam(other, "true"))},
			{"leaves out the last row", when(on, loseLast)},
		}
		wrong[spec.ID(requirement+"-DEFAULT")] = []mistake{
			{"leaves out the part without the flag", when(unset, leaveOut)},
			{"leaves out the part after the first page", when(all(unset, not(firstPage)), leaveOut)},
			{"leaves out the part for false", when(off, leaveOut)},
			{"leaves out the part for false beside the other", when(all(off, with(other, "true")), leaveOut)},
		}
	}
	return wrong.defects()
}
