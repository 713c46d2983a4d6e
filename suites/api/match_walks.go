package api

import (
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// onWalk makes a matcher of walks.
func onWalk(words string, judge func(Walk) Verdict) types.GomegaMatcher {
	return &expectation[Walk]{Words: words, Judge: judge}
}

// End matches a walk that ended on a page without a cursor, or on an empty page.
func End() types.GomegaMatcher {
	return onWalk("let the walk end", ending)
}

// ShowEveryRowOnce matches a walk that repeats no row.
func ShowEveryRowOnce() types.GomegaMatcher { return ShowEveryRowOnceAmong(nil, 0) }

// ShowEveryRowOnceAmong is ShowEveryRowOnce for the walk at the index of several
// walks of one list. Rows without an id may be alike, and may come and go: such a
// row counts as repeated only if walks before and after show it less often.
func ShowEveryRowOnceAmong(walks []Walk, index int) types.GomegaMatcher {
	return onWalk("show every row once", func(w Walk) Verdict {
		return RepeatedRows(w, func(row paging.Row) bool {
			return walks == nil || row.ByID || shownMoreOften(walks, index, row.Key)
		})
	})
}

func shownMoreOften(walks []Walk, index int, key string) bool {
	here := walks[index].Keys()[key]
	less := func(others []Walk) bool {
		return len(others) == 0 || slices.ContainsFunc(others, func(other Walk) bool { return other.Keys()[key] < here })
	}
	return less(walks[:index]) && less(walks[index+1:])
}

// ShowTheOrderOf matches a walk that shows its rows in the order of another.
func ShowTheOrderOf(other Walk) types.GomegaMatcher {
	return onWalk("keep the order of another walk", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		if swap, differ := paging.Disorder(other.Walk, w.Walk); differ {
			found.Findings = []Finding{Found(w.At(swap.Actual.Page), PointerIn(swap.Actual.Item),
				"the row "+Shorten(swap.Want)+", as with another page size", Shorten(swap.Actual.Key))}
		}
		return found
	})
}

// BeSortedByID matches a walk whose ids run in one direction: "asc", "desc", or
// "" for either. A row that was shown before has no place in the order;
// ShowEveryRowOnce judges that.
func BeSortedByID(direction string) types.GomegaMatcher {
	return onWalk("sort the rows by id", func(w Walk) Verdict {
		_, found := SortedByID(w, direction)
		return found
	})
}

// SortedByID returns the direction in which the ids run, and what breaks it.
func SortedByID(w Walk, direction string) (string, Verdict) {
	var found Verdict
	previous := ""
	seen := map[string]bool{}
	for p, page := range w.Pages {
		for i, row := range page.Rows {
			id := row.Key
			if !row.ByID || seen[id] { // the schemas judge a row without an id
				continue
			}
			seen[id] = true
			if previous != "" {
				runs := "asc"
				if strings.ToLower(id) < strings.ToLower(previous) {
					runs = "desc"
				}
				found.Assessed++
				if direction == "" {
					direction = runs
				} else if runs != direction {
					found.Add(Found(w.At(p), PointerIn(i)+"/id",
						"an id "+map[string]string{"asc": "above ", "desc": "below "}[direction]+previous, id))
				}
			}
			previous = id
		}
	}
	if found.Assessed == 0 {
		found.Missing = "at least two rows in " + w.List.Operation.ID
	}
	return direction, found
}

// ShowRow matches a walk that shows the row on exactly one page.
func ShowRow(id, what string) types.GomegaMatcher {
	return showTimes(id, 1, fmt.Sprintf("%s %s on one page", what, id))
}

// NotShowRow matches a walk that does not show the row.
func NotShowRow(id, what string) types.GomegaMatcher {
	return showTimes(id, 0, fmt.Sprintf("%s %s on no page", what, id))
}

func showTimes(id string, times int, expected string) types.GomegaMatcher {
	return onWalk("show "+expected, func(w Walk) Verdict {
		shown := w.Keys()[paging.FoldID(id)]
		if shown == times {
			return Verdict{Assessed: 1}
		}
		actual := "it is on no page"
		if shown > 0 {
			actual = fmt.Sprintf("it is shown %d times", shown)
		}
		return Verdict{Assessed: 1, Findings: []Finding{Found(w.Last(), "/items", expected, actual)}}
	})
}

// RespectLimits matches a walk whose pages are no longer than their limits.
func RespectLimits() types.GomegaMatcher {
	return onWalk("keep every page within its limit", func(w Walk) Verdict {
		var found Verdict
		for i, page := range w.Pages {
			if page.Limit == 0 {
				continue
			}
			one := atMost(page.Limit, len(page.Rows), w.At(i))
			found.Assessed += one.Assessed
			found.Add(one.Findings...)
			if one.Missing != "" {
				found.Missing = one.Missing
			}
		}
		if len(w.Pages) == 0 {
			found.Missing = w.Err.Error()
		}
		return found
	})
}

// ShowTheRows matches a walk that shows all rows that the walks before and after it
// show.
func ShowTheRows(missing []paging.Row) types.GomegaMatcher {
	return onWalk("show the rows that walks before and after it show", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		for _, row := range missing {
			found.Add(Found(w.At(0), "/items",
				"the row "+Shorten(row.Key)+" somewhere in the walk, as in walks before and after it",
				fmt.Sprintf("%d rows on %d pages without it", len(w.Rows()), len(w.Pages))))
		}
		return found
	})
}

// ShareNoRowWith matches a walk of the list in one workspace that shows no row of
// another workspace.
func ShareNoRowWith(foreign Walk) types.GomegaMatcher {
	theirs := foreign.Keys()
	return onWalk("show no row of another workspace", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		for p, page := range w.Pages {
			for i, row := range page.Rows {
				if theirs[row.Key] == 0 {
					continue
				}
				pointer := PointerIn(i)
				if w.List.Operation.Answer == spec.Array {
					pointer = pointer[len("/items"):]
				}
				found.Add(Found(w.At(p), pointer, "a row of the key's workspace alone",
					"the row "+Shorten(row.Key)+", which the second workspace shows too"))
			}
		}
		return found
	})
}

// CursorRequirement returns the requirement on the kind of the list's cursor.
func CursorRequirement(op spec.Operation) spec.ID {
	if spec.Has(spec.PageCursorTimestamp.On(op.ID)) {
		return spec.PageCursorTimestamp
	}
	return spec.PageCursorValue
}

// CarryCursors matches a walk whose cursors are timestamps or, unless only
// those are documented, UUIDs or email addresses.
func CarryCursors(timestampsOnly bool) types.GomegaMatcher {
	return onWalk("carry cursors of a documented kind", func(w Walk) Verdict {
		var found Verdict
		for i, page := range w.Pages {
			if page.Cursor == "" {
				continue
			}
			found.Assessed++
			expected := ""
			switch kind := CursorKind(page.Cursor); {
			case timestampsOnly && kind != "timestamp":
				expected = "a timestamp"
			case kind == "other":
				expected = "a UUID, a timestamp or an email address"
			}
			if expected != "" {
				found.Add(Found(w.At(i), "/next_starting_after", expected, strconv.Quote(page.Cursor)))
			}
		}
		if found.Assessed == 0 {
			found.Missing = "a page with a cursor"
		}
		return found
	})
}

// CursorKind names a cursor's kind. The specification does not say how exact a
// timestamp in a cursor is: every ISO 8601 form with a date and a time counts.
func CursorKind(cursor string) string {
	if _, err := uuid.Parse(cursor); err == nil && len(cursor) == 36 {
		return "UUID"
	}
	for _, clock := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "20060102T150405", "20060102T1504"} {
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
			if _, err := time.Parse(clock+zone, cursor); err == nil {
				return "timestamp"
			}
		}
	}
	if address, err := mail.ParseAddress(cursor); err == nil && address.Address == cursor {
		return "email address"
	}
	return "other"
}
