package faults

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// damages returns the ways to break a filter of that kind.
func (f filter) damages() []filterDamage {
	damages := slices.Clone(tooWide)
	switch f.kind {
	case exactly, listed:
		damages = append(damages, tooNarrow...)
	case searched:
		damages = slices.Concat(damages, tooNarrow, looseSearch)
	case whole:
		damages = slices.Concat(damages, tooNarrow, partialMatch)
	case excluded:
		damages = append(damages, wrongExclusion...)
	case fromTime, toTime:
		damages = append(damages, wrongWindow...)
	case fromDay, toDay:
		damages = append(damages, wrongDays...)
	}
	if f.kind == listed {
		damages = append(damages, wrongList...)
	}
	if f.kind == searched {
		damages = append(damages, cutSearch)
	}
	if f.operation == spec.ListMembers && f.kind == searched {
		damages = append(damages, filterDamage{"by-role", "EXTRA", "also searches the role", func(s *selection) []listRow {
			return s.adding(slices.DeleteFunc(slices.Clone(s.all), func(r listRow) bool { return r.text("role") != s.value })...)
		}})
	}
	if f.kind == fromTime || f.kind == toTime {
		damages = append(damages, secondCut(f.kind))
	}
	if f.field == "webhook_url" {
		damages = append(damages, filterDamage{"in-any-case", "EXTRA", "shows the rows of a URL in another case", func(s *selection) []listRow {
			return s.adding(s.matching(func(text string) bool { return strings.EqualFold(text, s.value) })...)
		}})
	}
	if f.kind == searched || f.kind == listed || f.kind == exactly && f.values == nil {
		damages = append(damages, allForNone)
	}
	for _, value := range f.values {
		damages = append(damages, oneValue(value)...)
		if f.meaning == profile.ParamStatus {
			damages = append(damages, nullAs(value))
		}
	}
	return damages
}

// tooWide shows rows that a filter of any kind should exclude.
var tooWide = []filterDamage{
	{"ignored", "EXTRA", "shows all rows", func(s *selection) []listRow { return s.all }},
	{"with-neighbour", "EXTRA", "shows one extra row next to the right ones",
		func(s *selection) []listRow { return s.adding(s.neighbour()...) }},
	{"on-first-half", "EXTRA", "filters only the first half of the rows", func(s *selection) []listRow {
		return s.adding(without(s.all, s.firstHalf())...)
	}},
}

// tooNarrow omits rows that a filter should show.
var tooNarrow = []filterDamage{
	{"shows-nothing", "MISSING", "shows no rows", func(*selection) []listRow { return nil }},
	{"without-last", "MISSING", "omits the last of the right rows", func(s *selection) []listRow { return s.right[:max(0, len(s.right)-1)] }},
	{"without-every-other", "MISSING", "omits every other row, starting with the first", func(s *selection) []listRow {
		at := 0
		return s.dropping(func(listRow) bool { at++; return at%2 == 1 })
	}},
	{"finds-in-first-half", "MISSING", "searches only the first half of the list",
		func(s *selection) []listRow { return among(s.right, s.firstHalf()) }},
}

// oneValue mishandles a single value.
func oneValue(value string) []filterDamage {
	is := func(s *selection) bool { return s.value == value }
	return []filterDamage{
		{value + "-ignored", "EXTRA", fmt.Sprintf("shows all rows for %q", value), otherwise(is, func(s *selection) []listRow { return s.all })},
		{value + "-shows-nothing", "MISSING", fmt.Sprintf("shows no rows for %q", value),
			otherwise(is, func(*selection) []listRow { return nil })},
	}
}

// nullAs counts a missing value as one of the others.
func nullAs(value string) filterDamage {
	is := func(s *selection) bool { return s.value == value }
	return filterDamage{value + "-with-null", "EXTRA", fmt.Sprintf("shows the rows without a value for %q", value),
		otherwise(is, func(s *selection) []listRow {
			return s.adding(slices.DeleteFunc(slices.Clone(s.all), func(r listRow) bool { return r.fields[s.filter.field] != nil })...)
		})}
}

// allForNone is for values that no row has.
var allForNone = filterDamage{"shows-all-for-none", "EXTRA", "shows all rows if none match",
	otherwise(func(s *selection) bool { return len(s.right) == 0 }, func(s *selection) []listRow { return s.all })}

// looseSearch is for searches that the specification hardly defines.
var looseSearch = []filterDamage{
	{"by-first-letter", "EXTRA", "shows every row that begins with the same letter", func(s *selection) []listRow {
		return s.adding(s.matching(func(text string) bool { return text != "" && text[0] == s.value[0] })...)
	}},
	{"not-for-whole-value", "MISSING", "does not find a row by its full text", func(s *selection) []listRow {
		return s.dropping(func(r listRow) bool { return r.text(s.filter.field) == s.value })
	}},
}

// partialMatch is for exact matches.
var partialMatch = []filterDamage{
	{"by-beginning", "EXTRA", "shows every row that begins with the text", func(s *selection) []listRow {
		return s.adding(s.matching(func(text string) bool { return strings.HasPrefix(text, s.value) })...)
	}},
	{"by-end", "EXTRA", "shows every row that ends with the text", func(s *selection) []listRow {
		return s.adding(s.matching(func(text string) bool { return strings.HasSuffix(text, s.value) })...)
	}},
	{"by-pattern", "EXTRA", "takes signs for patterns, as LIKE of SQL does", func(s *selection) []listRow {
		pattern := regexp.QuoteMeta(s.value)
		pattern = strings.NewReplacer("_", ".", "%", ".*").Replace(pattern)
		like := regexp.MustCompile("^" + pattern + "$")
		return s.adding(s.matching(like.MatchString)...)
	}},
	{"by-domain", "EXTRA", "shows every row with the same domain", func(s *selection) []listRow {
		return s.adding(s.matching(func(text string) bool { return domainOf(text) == domainOf(s.value) })...)
	}},
}

// cutSearch takes the text of a row for a longer text that no row has.
var cutSearch = filterDamage{"cut-to-fit", "EXTRA", "shows the rows whose text begins the text that is searched for",
	otherwise(func(s *selection) bool { return len(s.right) == 0 }, func(s *selection) []listRow {
		return s.adding(s.matching(func(text string) bool { return len(text) > 4 && strings.HasPrefix(s.value, text) })...)
	})}

// secondCut cuts the end of a window to whole seconds.
func secondCut(kind filterKind) filterDamage {
	whole := func(s *selection) string {
		at, err := time.Parse(time.RFC3339Nano, s.value)
		if err != nil {
			return s.value
		}
		return at.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05.000Z")
	}
	breaks := "MISSING"
	if kind == fromTime {
		breaks = "EXTRA"
	}
	return filterDamage{"cut-to-the-second", breaks, "drops the milliseconds of the end of the window",
		func(s *selection) []listRow { return s.with(whole(s)) }}
}

// wrongExclusion is for the filter that excludes one value.
var wrongExclusion = []filterDamage{
	{"alone-shown", "EXTRA", "shows only the rows that it should exclude", func(s *selection) []listRow { return s.wrong() }},
	{"last-shown", "EXTRA", "shows the last row that it should exclude",
		func(s *selection) []listRow { return s.adding(lastListed(s.wrong())...) }},
}

// wrongList is for a list of values in one parameter.
var wrongList = []filterDamage{
	{"only-first", "MISSING", "uses only the first of several values",
		func(s *selection) []listRow { return s.with(strings.Split(s.value, ",")[0]) }},
	{"only-last", "MISSING", "uses only the last of several values", func(s *selection) []listRow {
		values := strings.Split(s.value, ",")
		return s.with(values[len(values)-1])
	}},
	{"only-two", "MISSING", "uses at most two of several values", func(s *selection) []listRow {
		values := strings.Split(s.value, ",")
		return s.with(strings.Join(values[:min(2, len(values))], ","))
	}},
	{"only-five", "MISSING", "uses at most five of several values", func(s *selection) []listRow {
		values := strings.Split(s.value, ",")
		return s.with(strings.Join(values[:min(5, len(values))], ","))
	}},
	{"only-twenty", "MISSING", "uses at most twenty of several values", func(s *selection) []listRow {
		values := strings.Split(s.value, ",")
		return s.with(strings.Join(values[:min(20, len(values))], ","))
	}},
	{"unknown-empties", "MISSING", "shows no rows if no row has one of several values",
		otherwise(func(s *selection) bool { return s.hasUnknown() }, func(*selection) []listRow { return nil })},
	{"unknown-ignores", "EXTRA", "shows all rows if no row has one of several values",
		otherwise(func(s *selection) bool { return s.hasUnknown() }, func(s *selection) []listRow { return s.all })},
	{"several-ignored", "EXTRA", "shows all rows for several values",
		otherwise(func(s *selection) bool { return strings.Contains(s.value, ",") }, func(s *selection) []listRow { return s.all })},
}

// hasUnknown reports whether no row of the list has one of several values.
func (s *selection) hasUnknown() bool {
	values := strings.Split(s.value, ",")
	return len(values) > 1 && slices.ContainsFunc(values, func(value string) bool {
		return !slices.ContainsFunc(s.all, func(r listRow) bool { return r.text(s.filter.field) == value })
	})
}

// wrongWindow is for an end of a window of timestamps. Whether rows exactly at
// the end belong to it is open, so omitted rows lie further inside.
var wrongWindow = []filterDamage{
	{"cut-to-the-day", "EXTRA", "shows all rows of the day at the end of the window", func(s *selection) []listRow {
		return s.adding(s.matching(func(created string) bool { return dayOf(created) == dayOf(s.value) })...)
	}},
	{"swapped", "MISSING", "shows no rows, because it swaps start and end", func(*selection) []listRow { return nil }},
	{"too-far-inside", "MISSING", "omits the two rows next to the end of the window", func(s *selection) []listRow {
		edge := s.nearest(2)
		return s.dropping(func(r listRow) bool {
			return slices.ContainsFunc(edge, func(e listRow) bool { return e.same() == r.same() })
		})
	}},
	{"a-week-long", "MISSING", "shows at most a week of a longer window", func(s *selection) []listRow {
		end, _ := time.Parse(time.RFC3339, s.value)
		return s.dropping(func(r listRow) bool {
			created, err := time.Parse(time.RFC3339, r.text(s.filter.field))
			return err == nil && created.Sub(end).Abs() > 7*24*time.Hour
		})
	}},
}

// wrongDays is for an end of a window of whole days, which belong to it.
var wrongDays = []filterDamage{
	{"with-day-outside", "EXTRA", "also shows the day just outside the window", func(s *selection) []listRow {
		outside := s.neighbour()
		return s.adding(s.matching(func(day string) bool { return len(outside) > 0 && day == outside[0].text(s.filter.field) })...)
	}},
	{"alone-shown", "MISSING", "shows only the day at the end of the window", func(s *selection) []listRow {
		return s.dropping(func(r listRow) bool { return r.text(s.filter.field) != s.value })
	}},
	{"next-day-lost", "MISSING", "omits the day next to the end of the window", func(s *selection) []listRow {
		inside := nearestFirst(s.dropping(s.atEnd), s)
		return s.dropping(func(r listRow) bool {
			return len(inside) > 0 && r.text(s.filter.field) == inside[0].text(s.filter.field)
		})
	}},
	{"farthest-row-lost", "MISSING", "omits the row farthest inside the window", func(s *selection) []listRow {
		far := lastListed(nearestFirst(s.dropping(s.atEnd), s))
		return without(s.right, far)
	}},
	{"exclusive", "INCLUSIVE", "omits the day at the end of the window", func(s *selection) []listRow { return s.dropping(s.atEnd) }},
	{"only-first-row", "INCLUSIVE", "shows only one row of the day at the end of the window", func(s *selection) []listRow {
		shown := 0
		return s.dropping(func(r listRow) bool {
			if s.atEnd(r) {
				shown++
			}
			return s.atEnd(r) && shown > 1
		})
	}},
	{"without-its-last-row", "INCLUSIVE", "omits the last row of the day at the end of the window", func(s *selection) []listRow {
		return without(s.right, lastListed(s.matching(func(day string) bool { return day == s.value })))
	}},
}

// otherwise uses another choice for some values.
func otherwise(of func(*selection) bool, choose func(*selection) []listRow) func(*selection) []listRow {
	return func(s *selection) []listRow {
		if of(s) {
			return choose(s)
		}
		return s.right
	}
}

// matching returns the rows of the unfiltered list whose field matches.
func (s *selection) matching(fits func(text string) bool) []listRow {
	var rows []listRow
	for _, r := range s.all {
		if fits(r.text(s.filter.field)) {
			rows = append(rows, r)
		}
	}
	return rows
}

// neighbour returns a wrong row next to a right one in the unfiltered list.
func (s *selection) neighbour() []listRow {
	right := keysOf(s.right)
	for i := 1; i < len(s.all); i++ {
		before, here := s.all[i-1], s.all[i]
		switch {
		case right[here.same()] && !right[before.same()]:
			return []listRow{before}
		case right[before.same()] && !right[here.same()]:
			return []listRow{here}
		}
	}
	return nil
}

// atEnd reports whether the row is from the day at the end of the window.
func (s *selection) atEnd(r listRow) bool { return r.text(s.filter.field) == s.value }

// nearest returns the n right rows next to the end of the window.
func (s *selection) nearest(n int) []listRow {
	rows := nearestFirst(s.right, s)
	return rows[:min(n, len(rows))]
}

// nearestFirst sorts rows inside a window by their distance from the given end.
// Times and days sort like their texts.
func nearestFirst(rows []listRow, s *selection) []listRow {
	inward := 1
	if s.filter.kind == toTime || s.filter.kind == toDay {
		inward = -1
	}
	return slices.SortedStableFunc(slices.Values(rows), func(a, b listRow) int {
		return inward * strings.Compare(a.text("timestamp_created"), b.text("timestamp_created"))
	})
}

// lastListed returns the last of the rows, if any.
func lastListed(rows []listRow) []listRow { return rows[max(0, len(rows)-1):] }

// Predicates on the value of a filter.
func given(value string) bool   { return value != "" }
func isURL(value string) bool   { return strings.Contains(value, "://") }
func isEmail(value string) bool { return strings.Contains(value, "@") && !isURL(value) }

// dayOf returns the day of a timestamp.
func dayOf(timestamp string) string { return timestamp[:min(len(timestamp), len(time.DateOnly))] }

// domainOf returns the domain of a URL or an email address.
func domainOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Host
	}
	_, domain, _ := strings.Cut(text, "@")
	return domain
}
