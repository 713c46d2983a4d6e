package faults

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// filteredList is a list with values for the filter on a target that filters
// correctly.
func filteredList(f filter, parameter string) *fakeList {
	rows := fakeRows(40, func(i int, row map[string]any) {
		day := fmt.Sprintf("2025-01-%02d", 1+i/4)
		row["timestamp_created"] = fmt.Sprintf("%sT%02d:00:00.000Z", day, i%4*5)
		switch f.kind {
		case fromDay, toDay:
			row[f.field] = day
		case fromTime, toTime:
		default:
			row[f.field] = valueOf(f, i)
			if f.meaning == profile.ParamStatus && i%8 == 7 {
				row[f.field] = nil // a test may have no status
			}
		}
	})
	return &fakeList{operation: f.operation, rows: rows, filter: parameter, selects: func(row map[string]any, value string) bool {
		has := fmt.Sprint(row[f.field])
		switch f.kind {
		case listed:
			return slices.Contains(strings.Split(value, ","), has)
		case searched:
			return strings.Contains(has, value)
		case excluded:
			return has != value
		case fromTime, fromDay:
			return has >= value
		case toTime, toDay:
			return has <= value
		default:
			return has == value
		}
	}}
}

// valueOf spreads a few values over the rows; texts share beginnings and ends.
func valueOf(f filter, i int) string {
	switch {
	case len(f.values) > 0:
		return f.values[i%len(f.values)]
	case f.requirement == "SEARCH_URL":
		return "https://hooks.example" + []string{"/", "/a", "/a/b", "/b"}[i%4]
	case f.requirement == "SEARCH_EMAIL":
		return []string{"ann", "joann", "bob", "jo"}[i%4] + "@team.example"
	case f.kind == listed:
		return []string{"amber", "ash", "birch", "cedar", "elm", "fir", "oak"}[i%7]
	default:
		return []string{"amber", "ash", "birch", "cedar"}[i%4]
	}
}

// values returns the values to filter by: existing ones and parts of them.
func (l *fakeList) values(f filter) []string {
	var values []string
	for i := 4; i < len(l.rows); i += 5 {
		values = append(values, fmt.Sprint(l.rows[i].fields[f.field]))
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if f.kind == listed || f.kind == exactly && f.values == nil {
		values = append(values, "00000000-0000-7000-8000-000000000000")
	}
	switch f.kind {
	case listed: // the last one is of no row
		values = append(values, strings.Join(values[:3], ","), strings.Join(values[:min(6, len(values))], ","),
			strings.Join([]string{values[0], values[len(values)-1]}, ","))
	case whole:
		values = append(values, strings.ToUpper(values[0]), values[0][1:], values[0][:len(values[0])-1], values[0][:len(values[0])-1]+"_")
	case searched:
		values = append(values, "zzz")
	}
	return values
}

// Checked without the suites: a filter that is too wide loses nothing, one that
// is too narrow adds nothing, and neither changes rows that the specification
// leaves open.
func TestFilterDamagesBreakOneSideEach(t *testing.T) {
	a := aroundEmbedded()
	for _, f := range filterTable {
		parameter := a.parameter(f.operation, f.meaning)
		list := filteredList(f, parameter)
		for _, d := range f.defects() {
			if slices.ContainsFunc([]string{"-cut-to-fit", "-by-role", "-only-twenty", "-cut-to-the-second"}, func(end string) bool { return strings.HasSuffix(d.ID, end) }) {
				continue // the values of this list do not show them
			}
			t.Run(d.ID, func(t *testing.T) {
				h := d.Apply(a)(list.answer)
				seen := false
				for _, value := range list.values(f) {
					if !f.is(value) {
						continue
					}
					query := url.Values{parameter: {value}}
					right := fakeWalk(t, list.answer, f.operation, 100, query)
					shown := fakeWalk(t, h, f.operation, 100, query)
					extra, lost := right.lacks(shown.ids), shown.lacks(right.ids)
					if strings.HasSuffix(d.Breaks.Requirement, "-EXTRA") {
						seen = seen || len(extra) > 0
						if f.kind != excluded && len(lost) > 0 {
							t.Errorf("%q: %d rows lost", value, len(lost))
						}
						continue
					}
					if len(extra) > 0 {
						t.Errorf("%q: %d rows too many", value, len(extra))
					}
					seen = seen || slices.ContainsFunc(lost, func(id string) bool { return list.speaksOf(d.Breaks, f, id, value) })
				}
				if !seen {
					t.Error("no value shows it")
				}
				if all := fakeWalk(t, h, f.operation, 100, nil); !slices.Equal(all.ids, everyID(list.rows)) {
					t.Error("the list without the filter has changed")
				}
			})
		}
	}
}

// speaksOf reports whether the requirement is about missing rows.
func (l *fakeList) speaksOf(p spec.Pair, f filter, id, value string) bool {
	atEnd := slices.ContainsFunc(l.rows, func(row listRow) bool { return row.text("id") == id && row.text(f.field) == value })
	switch f.kind {
	case fromTime, toTime:
		return !atEnd
	case fromDay, toDay:
		return atEnd == strings.HasSuffix(p.Requirement, "-INCLUSIVE")
	default:
		return true
	}
}

func TestFilteredWalkDamagesLeaveTheWholeListAlone(t *testing.T) {
	a := aroundEmbedded()
	f := filterTable[slices.IndexFunc(filterTable, func(f filter) bool { return f.requirement == "ENRICHMENT" })]
	parameter := a.parameter(f.operation, f.meaning)
	list := filteredList(f, parameter)
	for _, d := range slices.Concat(filteredWalkDefects(), f.droppedAfterFirstPage()) {
		if d.Breaks.Operation != f.operation {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			h := d.Apply(a)(list.answer)
			query := url.Values{parameter: {"true"}}
			right := fakeWalk(t, list.answer, f.operation, 1, query)
			if small := fakeWalk(t, h, f.operation, 3, query); small.ends && small.longest <= 3 && slices.Equal(small.ids, right.ids) {
				if smallest := fakeWalk(t, h, f.operation, 1, query); smallest.ends && slices.Equal(smallest.ids, right.ids) {
					t.Error("the filtered walks are right")
				}
			}
			if all := fakeWalk(t, h, f.operation, 3, nil); !slices.Equal(all.ids, everyID(list.rows)) {
				t.Error("the list without the filter has changed")
			}
		})
	}
}
