package oracle

import (
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// cuts makes the filter cut a window at one end, at times or days of rows. The other end
// lies far outside. A window of days includes both. Of times, the specification does not say
// whether the ends belong to the window.
func cuts(f *Filter, list string) {
	day := f.Kind == spec.FromDay || f.Kind == spec.UntilDay
	sign := 1 // positive for a row inside that is later than the cut
	if f.Kind == spec.Until || f.Kind == spec.UntilDay {
		sign = -1
	}
	on, inside, outside := spec.ID(""), f.Requirements[0], f.Extra()
	if day {
		on = f.Requirement("INCLUSIVE")
		f.Requirements = []spec.ID{on, inside, outside}
	}
	f.queries = func(rows []paging.Row, most int) (queries []map[string]string) {
		var times []time.Time
		for _, text := range All(rows, f.field()) {
			if t, ok := timeOf(text); ok {
				times = append(times, t)
			}
		}
		times = spread(times, most)
		if !day && len(times) > 1 {
			times = append(times, withinSecond(times)...)
		}
		for _, cut := range times {
			query := Window(list, FarPast, FarFuture)
			query[f.Key] = Window(list, cut, cut)[f.Key]
			queries = append(queries, query)
		}
		return queries
	}
	f.says = func(query map[string]string, row paging.Row) (spec.ID, bool) {
		created, known := timeOf(Scalar(row.Value[f.field()])) // the schemas judge another form
		cut, valid := timeOf(query[f.Key])
		switch side := created.Compare(cut) * sign; {
		case !known || !valid:
			return "", false
		case side < 0:
			return outside, false
		case side == 0:
			return on, day
		default:
			return inside, true
		}
	}
}

// Window returns the parameters of a window of the list; nil if it has none.
func Window(list string, start, end time.Time) map[string]string {
	format := Timestamp
	op, _ := spec.FindOperation(list)
	switch op.Filter(profile.ParamWindowStart).Kind {
	case "":
		return nil
	case spec.FromDay:
		format = func(t time.Time) string { return t.Format(time.DateOnly) }
	}
	return map[string]string{profile.ParamWindowStart: format(start), profile.ParamWindowEnd: format(end)}
}

// withinSecond returns the milliseconds before and after the first of the times that has
// both in its own second.
func withinSecond(times []time.Time) []time.Time {
	for _, t := range times {
		before, after := t.Add(-time.Millisecond), t.Add(time.Millisecond)
		if second := t.Truncate(time.Second); before.After(second) && after.Truncate(time.Second).Equal(second) {
			return []time.Time{before, after}
		}
	}
	return nil
}

// isBetween reports whether no row is of the time at the cut end of the window.
func (u Use) isBetween(rows []paging.Row, key string) bool {
	cut, ok := timeOf(u.Query[key])
	return ok && !slices.ContainsFunc(rows, func(row paging.Row) bool {
		created, known := timeOf(Scalar(row.Value[u.filter.field()]))
		return known && created.Equal(cut)
	})
}

// timeOf returns the time of a timestamp, or the beginning of a day.
func timeOf(text string) (time.Time, bool) {
	layout := time.RFC3339Nano
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, text)
	return t, err == nil
}
