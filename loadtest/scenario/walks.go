package scenario

import (
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// compare compares the walks with each other and finds what a single page
// cannot show.
func (w *walkers) compare() {
	for _, op := range w.lists {
		list, whole := op.ID, w.whole[op.ID]
		if len(whole) == 0 {
			w.r.note("no walk of %s completed: the list was not checked for completeness", list)
			continue
		}
		if !slices.ContainsFunc(whole, walked.showsRows) {
			w.r.note("%s has no rows to walk", list)
			continue
		}
		slices.SortFunc(whole, func(a, b walked) int { return a.began.Compare(b.began) })
		shown := shownBy(whole)
		compared := false
		for i, one := range whole {
			if slices.ContainsFunc(whole, one.after) && slices.ContainsFunc(whole, one.before) {
				compared = true
				if missing, leftOut := shown.missingFrom(one); leftOut {
					w.fault("PAGE-WALK-COMPLETE", one, fmt.Sprintf("the row %s, which an earlier and a later walk returned", missing), "the row is missing")
				}
			}
			if i > 0 && spec.Has(spec.Pair{Requirement: "PAGE-WALK-SEQUENCE", Operation: one.op.ID}) {
				if swap, differs := paging.Disorder(whole[0].Walk, one.Walk); differs {
					w.fault("PAGE-WALK-SEQUENCE", one, fmt.Sprintf("the row %s at %s, as in an earlier walk", swap.Want, swap.Actual), "another row")
				}
			}
		}
		if !compared {
			w.r.note("walks of %s were not checked for missing rows: none of the %d completed walks had one before and one after it (run longer: --duration)", list, len(whole))
		}
	}
}

// anyWhole reports whether any walk completed and returned a row.
func (w *walkers) anyWhole() bool {
	for _, whole := range w.whole {
		if slices.ContainsFunc(whole, walked.showsRows) {
			return true
		}
	}
	return false
}

func (one walked) showsRows() bool { return len(one.Rows()) > 0 }

// after and before report whether the walk began after the other ended, or
// ended before the other began. A row in both was there all the time between,
// whatever others do to the list.
func (one walked) after(other walked) bool  { return !other.ended.After(one.began) }
func (one walked) before(other walked) bool { return !other.began.Before(one.ended) }

// sightings holds the rows of all walks of a list. Comparing every pair of
// walks would take quadratic time.
type sightings struct {
	rows []string // in the order of first appearance
	seen map[string]seenBetween
}

// seenBetween holds when the first walk with a row ended and when the last one
// began.
type seenBetween struct{ firstEnded, lastBegan time.Time }

func shownBy(walks []walked) sightings {
	s := sightings{seen: map[string]seenBetween{}}
	for _, one := range walks {
		for _, page := range one.Pages {
			for _, row := range page.Rows {
				span, known := s.seen[row.Key]
				if !known {
					s.rows = append(s.rows, row.Key)
					span = seenBetween{one.ended, one.began}
				}
				if one.ended.Before(span.firstEnded) {
					span.firstEnded = one.ended
				}
				if one.began.After(span.lastBegan) {
					span.lastBegan = one.began
				}
				s.seen[row.Key] = span
			}
		}
	}
	return s
}

// missingFrom returns the first row that an earlier and a later walk returned
// and this one did not.
func (s sightings) missingFrom(one walked) (row string, leftOut bool) {
	here := one.Keys()
	for _, row := range s.rows {
		if span := s.seen[row]; here[row] == 0 && !span.firstEnded.After(one.began) && !span.lastBegan.Before(one.ended) {
			return row, true
		}
	}
	return "", false
}

// ends checks a single walk.
func (w *walkers) ends(one walked) {
	switch one.End {
	case paging.CursorRepeated, paging.NoNewRows, paging.Capped:
		w.fault("PAGE-WALK-ENDS", one, "a walk that ends", string(one.End))
	}
	if repeats := one.Repeats(); len(repeats) > 0 {
		w.fault("PAGE-WALK-ONCE", one, "each row once", fmt.Sprintf("%d rows more than once, the first at %s and %s", len(repeats), repeats[0].First, repeats[0].Again))
	}
}

// fault records a violation that only whole walks show.
func (w *walkers) fault(requirement string, one walked, expected, actual string) {
	w.mu.Lock()
	w.out.Faults++
	w.mu.Unlock()
	w.r.found(spec.Pair{Requirement: requirement, Operation: one.op.ID}, reports.Violation{
		Pointer: "/items", Expected: w.r.redact(expected), Actual: w.r.redact(actual), Curl: one.last.Curl()})
}
