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
	defects := filteredWalkMistakes.on("")
	for _, op := range spec.FilterWalk.Operations() {
		for _, f := range filtersIn(op.ID) {
			for _, m := range filterMistakes {
				if m.of(f) {
					defects = append(defects, f.wrong(m.side, m.doc, f.selecting(m.side == tooMany, m.wrong))...)
				}
			}
			for _, value := range f.Values {
				defects = slices.Concat(defects, f.wrong(tooMany, "ignores "+value, when(with(f.Key, value), dropParam(f.Key))),
					f.wrong(tooFew, "shows no rows for "+value, when(with(f.Key, value), showNothing)))
			}
			defects = append(defects, f.ignored()...)
		}
		defects = append(defects, defect(spec.ListSameValues, op.ID, "shows another value if a filter is set", when(filtered, showOther)))
	}
	return slices.Concat(defects, flagDefects())
}

// filter is a filter of a list that selects rows by a field.
type filter struct {
	spec.Filter
	operation, field string
}

// filtersIn returns the filters of a list; of every list for "".
func filtersIn(operation string) []filter {
	var filters []filter
	for _, op := range spec.Operations() {
		for _, f := range op.Filters {
			if f.Selects() && (operation == "" || operation == op.ID) {
				filters = append(filters, filter{f, op.ID, f.Fields[0]})
			}
		}
	}
	return filters
}

// filtersOf returns the target's names of the parameters that select rows of a list.
func (a *Target) filtersOf(operation string) []string {
	var names []string
	for _, f := range filtersIn(operation) {
		if name, ok := a.Profile.Parameter(operation, f.Key); ok {
			names = append(names, name)
		}
	}
	return names
}

// window reports whether the filter is one end of a window.
func (f filter) window() bool {
	return slices.Contains([]spec.FilterKind{spec.From, spec.Until, spec.FromDay, spec.UntilDay}, f.Kind)
}

// isUsed is a request that uses the filter.
func (f filter) isUsed(x *exchange) bool {
	value := x.param(f.Key)
	isURL := strings.Contains(value, "://")
	switch {
	case f.Kind != spec.ExactSearch:
		return value != ""
	case isURL:
		return f.field == "webhook_url"
	}
	return f.field == "lead_email" && strings.Contains(value, "@")
}

// Sides of a filter, as its requirements name them.
const tooMany, tooFew, endLost = "-EXTRA", "-MISSING", "-INCLUSIVE"

// wrong returns the defect unless no requirement speaks of that side of the filter.
func (f filter) wrong(side, doc string, do rule) []Defect {
	breaks := spec.ID("FILTER-" + f.Word + side)
	if !spec.Has(breaks.On(f.operation)) {
		return nil
	}
	return []Defect{defect(breaks, f.operation, doc+", in the filter "+f.Word, do)}
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
	return when(f.isUsed, beforeCut(func(p *page) {
		s := &selection{f, p.param(f.Key), p.read(func(r *Request) { r.Query.Del(p.parameterName(f.Key)) }), p.list}
		if adding {
			s.rows = without(s.all, p.list)
		}
		right := slices.DeleteFunc(slices.Clone(s.rows), func(r row) bool { return wrong(s, r) })
		if p.list = right; adding {
			p.list = without(s.all, right)
		}
	}))
}

func everyRow(*selection, row) bool         { return true }
func finalRow(s *selection, r row) bool     { return r.same() == s.rows[len(s.rows)-1].same() }
func ifNoneFits(s *selection, _ row) bool   { return len(s.rows) == len(s.all) }
func withoutValue(s *selection, r row) bool { return r.fields[s.field] == nil }
func inSecondHalf(s *selection, r row) bool { return keysOf(s.all[len(s.all)/2:])[r.same()] }

// moreThan is a list of more than n values.
func moreThan(n int) rowTest {
	return func(s *selection, _ row) bool { return strings.Count(s.value, ",") >= n }
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

var isValue = byText(func(text, value string) bool { return text == value })

// Filters by their kind or their name.
func everyFilter(filter) bool { return true }

func ofKind(kinds ...spec.FilterKind) func(filter) bool {
	return func(f filter) bool { return slices.Contains(kinds, f.Kind) }
}

func ofWord(words ...string) func(filter) bool {
	return func(f filter) bool { return slices.Contains(words, f.Word) }
}

var (
	timeWindows = ofKind(spec.From, spec.Until)
	dayWindows  = ofKind(spec.FromDay, spec.UntilDay)
)

var filterMistakes = []struct {
	of        func(filter) bool
	side, doc string
	wrong     rowTest
}{
	{everyFilter, tooMany, "shows all rows", everyRow},
	{everyFilter, tooMany, "shows the last of the other rows, too", finalRow},
	{everyFilter, tooMany, "filters only the first half of the rows", inSecondHalf},
	{ofKind(spec.Search, spec.AnyOf), tooMany, "shows all rows if none fits", ifNoneFits},
	{ofWord("TEST", "PARENT"), tooMany, "shows all rows if none fits", ifNoneFits},
	{ofWord("STATUS"), tooMany, "shows the rows without a value, too", withoutValue},
	{everyFilter, tooFew, "shows no rows", everyRow},
	{ofKind(spec.Exact, spec.AnyOf, spec.Search, spec.ExactSearch, spec.From, spec.Until), tooFew, "leaves out the last row", finalRow},
	{everyFilter, tooFew, "searches only the first half of the list", inSecondHalf},

	{ofKind(spec.Search), tooMany, "shows every row with the same first letter", alike(1)},
	{ofKind(spec.Search), tooFew, "does not find a row by its full text", isValue},
	{ofWord("SEARCH_MEMBER"), tooMany, "searches the role, too", func(s *selection, r row) bool { return r.text("role") == s.value }},
	{ofWord("SEARCH_MEMBER"), tooFew, "does not search names", byText(func(text, value string) bool { return !strings.Contains(strings.ToLower(text), strings.ToLower(value)) })},
	{ofKind(spec.ExactSearch), tooMany, "shows every row that begins with the text", byText(strings.HasPrefix)},
	{ofKind(spec.ExactSearch), tooMany, "takes an underscore for any sign, like SQL", byText(func(text, value string) bool {
		fits, _ := regexp.MatchString("^"+strings.ReplaceAll(regexp.QuoteMeta(value), "_", ".")+"$", text)
		return fits
	})},
	{ofWord("SEARCH_URL"), tooMany, "shows the rows of a URL in another case", byText(strings.EqualFold)},

	{ofKind(spec.AnyOf), tooFew, "uses the first of several values", beyond(1)},
	{ofKind(spec.AnyOf), tooFew, "uses 20 of several values", beyond(20)},
	{ofKind(spec.AnyOf), tooFew, "shows no rows for more than 20 values", moreThan(20)},
	{ofKind(spec.AnyOf), tooMany, "shows all rows for several values", moreThan(1)},

	{timeWindows, tooMany, "shows all rows of the day at the end of the window", alike(len("2006-01-02"))},
	{ofKind(spec.From), tooMany, "drops the milliseconds of the end of the window", alike(len("2006-01-02T15:04:05"))},
	{ofKind(spec.Until), tooFew, "drops the milliseconds of the end of the window", alike(len("2006-01-02T15:04:05"))},
	// Whether rows at the very end belong to the window is open. So a defect must lose more.
	{timeWindows, tooFew, "leaves out the day at the end of the window", alike(len("2006-01-02"))},
	{dayWindows, tooFew, "shows only the day at the end of the window", byText(func(text, value string) bool { return text != value })},
	{dayWindows, endLost, "leaves out the day at the end of the window", isValue},
	{dayWindows, endLost, "leaves out some rows of the day at the end of the window", func(s *selection, r row) bool { return isValue(s, r) && hashed(r.rank)%2 == 0 }},
}

// ignored drops the filter on some occasion, on all pages or on all but the first.
func (f filter) ignored() []Defect {
	var defects []Defect
	drop := func(doc string, o occasion) {
		defects = append(defects, f.wrong(tooMany, "ignores its value "+doc, when(all(f.isUsed, o), dropParam(f.Key)))...)
	}
	later := not(firstPage)
	if f.Kind == spec.From || f.Kind == spec.FromDay { // what follows a row in a window is in it, too
		later = nil
	}
	for _, other := range filtersIn(f.operation) {
		if other.Key == f.Key {
			continue
		}
		drop("beside "+other.Word, other.isUsed)
		if later != nil && !neverShown(f, other) {
			drop("after the first page beside "+other.Word, all(other.isUsed, later))
		}
		if f.window() && other.window() {
			drop("without the other end", not(other.isUsed))
		}
	}
	if later == nil {
		return defects
	}
	for _, flag := range flagsIn[f.operation] {
		drop("after the first page with "+flag, all(has(flag), later))
	}
	return append(defects, defect(spec.FilterWalk, f.operation, "drops the filter "+f.Word+" after the first page", when(all(f.isUsed, later), dropParam(f.Key))))
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
	return f.operation == spec.ListSubsequences && f.Kind != spec.Search && (f.Kind == spec.Exclude || other.Kind == spec.Search)
}

// filteredWalkMistakes break walks of filtered lists only.
var filteredWalkMistakes = mistakes{spec.FilterWalk: {
	{"repeats rows between pages of a filter", filtered, afterCut(repeatLast)},
	{"skips a row between two pages of a filter", filtered, afterCut(skipNext)},
	{"returns no cursor with a small page of a filter", filtered, afterCut(only(smallOnes, endWalk))},
	{"links a full last page of a filter to itself", filtered, afterCut(only(lastOne.and(isFull), linkToItself))},
	{"shows small pages of a filter in reverse order", filtered, beforeCut(throughout(smallOnes, backwards))},
	{"shows a row more than the limit for a filter", filtered, beforeCut(oneMore)},
}}

// flagDefects break the two flags that leave out a part of each report.
func flagDefects() []Defect {
	wrong := mistakes{}
	flags := flagsIn[spec.ListPlacementReports]
	for i, key := range flags {
		requirement, other := "FILTER-"+strings.ToUpper(key), flags[1-i]
		on, unset, show, leaveOut := with(key, "true"), not(has(key)), setParam(key, "false"), setParam(key, "true")
		wrong[spec.ID(requirement+"-TRUE")] = []mistake{
			{"shows the part in spite of " + key, on, show},
			{"shows the part after the first page in spite of " + key, all(on, not(firstPage)), show},
			{"leaves out the other part, too, for " + key, on, setParam(other, "true")},
			{"leaves out the last row for " + key, on, beforeCut(withoutLast)},
		}
		wrong[spec.ID(requirement+"-DEFAULT")] = []mistake{
			{"leaves out the part without " + key, unset, leaveOut},
			{"leaves out the part after the first page without " + key, all(unset, not(firstPage)), leaveOut},
			{"leaves out the part with a false " + key, with(key, "false"), leaveOut},
		}
	}
	return wrong.on("")
}
