package oracle

import (
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// windowStart and windowEnd cut the time window at times of rows. The other end lies far
// outside. The specification does not say whether the ends belong to the window.
func windowStart() Filter {
	const missing, extra = spec.FilterWindowStartMissing, spec.FilterWindowStartExtra
	return windows("starts a time window", missing, extra, profile.ParamWindowStart, func(row, cut time.Time) int { return row.Compare(cut) })
}

func windowEnd() Filter {
	const missing, extra = spec.FilterWindowEndMissing, spec.FilterWindowEndExtra
	return windows("ends a time window", missing, extra, profile.ParamWindowEnd, func(row, cut time.Time) int { return cut.Compare(row) })
}

// windows cuts at one end, which the parameter takes. side is positive for a row inside.
// The last two cuts lie a millisecond before and after a row.
func windows(title string, missing, extra spec.ID, parameter string, side func(row, cut time.Time) int) Filter {
	const field = "timestamp_created"
	return Filter{title, []spec.ID{missing, extra}, parameter, field,
		func(rows []paging.Row, most int) []map[string]string {
			var cuts []time.Time
			for _, text := range spread(All(rows, field), most) {
				if cut, ok := timeOf(text); ok {
					cuts = append(cuts, cut)
				}
			}
			if len(cuts) > 1 {
				cuts = append(cuts, withinSecond(cuts)...)
			}
			var queries []map[string]string
			for _, cut := range cuts {
				query := map[string]string{profile.ParamWindowStart: Timestamp(FarPast), profile.ParamWindowEnd: Timestamp(FarFuture)}
				query[parameter] = Timestamp(cut)
				queries = append(queries, query)
			}
			return queries
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			created, known := timeOf(Scalar(row.Value[field]))
			cut, valid := timeOf(query[parameter])
			switch where := side(created, cut); {
			case !known || !valid || where == 0:
				return "", false
			case where < 0:
				return extra, false
			default:
				return missing, true
			}
		}}
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
func (u Use) isBetween(rows []paging.Row, parameter string) bool {
	cut, ok := timeOf(u.Query[parameter])
	return ok && !slices.ContainsFunc(rows, func(row paging.Row) bool {
		created, known := timeOf(Scalar(row.Value[u.field]))
		return known && created.Equal(cut)
	})
}

func timeOf(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

// daysStart and daysEnd cut the window, which is inclusive and counts days.
func daysStart() Filter {
	return days("starts a window of days", spec.FilterDaysStartExtra, spec.FilterDaysStartInclusive, spec.FilterDaysStartMissing,
		profile.ParamWindowStart, 1)
}

func daysEnd() Filter {
	return days("ends a window of days", spec.FilterDaysEndExtra, spec.FilterDaysEndInclusive, spec.FilterDaysEndMissing,
		profile.ParamWindowEnd, -1)
}

// days cuts at one end, which the parameter takes, on some days that occur. The
// requirements speak of rows outside, on and inside the cut; sign is that of the order of
// days inside.
func days(title string, outside, on, inside spec.ID, parameter string, sign int) Filter {
	const field = "timestamp_created_date"
	return Filter{title, []spec.ID{on, inside, outside}, parameter, field,
		func(rows []paging.Row, most int) []map[string]string {
			var queries []map[string]string
			days := slices.DeleteFunc(All(rows, field), func(day string) bool { return !isDay(day) })
			for _, cut := range spread(days, most) {
				query := map[string]string{profile.ParamWindowStart: FarPast.Format(time.DateOnly), profile.ParamWindowEnd: FarFuture.Format(time.DateOnly)}
				query[parameter] = cut
				queries = append(queries, query)
			}
			return queries
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			if !isDay(Scalar(row.Value[field])) { // the schemas judge that
				return "", false
			}
			switch strings.Compare(Scalar(row.Value[field]), query[parameter]) * sign {
			case -1:
				return outside, false
			case 0:
				return on, true
			default:
				return inside, true
			}
		}}
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
