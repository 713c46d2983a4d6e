package scenario

import (
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// compare holds the walks against each other: what a single page cannot show.
func (w *walkers) compare() {
	for _, op := range w.lists {
		list, whole := op.ID, w.whole[op.ID]
		if len(whole) == 0 {
			w.r.note("no walk of %s came to its end: whether the list comes out whole was not looked at", list)
			continue
		}
		if !slices.ContainsFunc(whole, walked.showsRows) {
			w.r.note("%s has no rows: there was nothing to walk", list)
			continue
		}
		slices.SortFunc(whole, func(a, b walked) int { return a.began.Compare(b.began) })
		shown := shownBy(whole)
		compared := false
		for i, one := range whole {
			if slices.ContainsFunc(whole, one.after) && slices.ContainsFunc(whole, one.before) {
				compared = true
				if missing, leftOut := shown.missingFrom(one); leftOut {
					w.fault("PAGE-WALK-COMPLETE", one, fmt.Sprintf("the row %s, which walks before and after it show", missing), "no such row")
				}
			}
			if i > 0 && spec.Has(spec.Pair{Requirement: "PAGE-WALK-SEQUENCE", Operation: one.op.ID}) {
				if swap, differs := paging.Disorder(whole[0].Walk, one.Walk); differs {
					w.fault("PAGE-WALK-SEQUENCE", one, fmt.Sprintf("the row %s at %s, as an earlier walk shows it", swap.Want, swap.Actual), "another row")
				}
			}
		}
		if !compared {
			w.r.note("whether a walk of %s leaves rows out was not looked at: none of the %d that came to their end had one before it and one after it; give them longer (--duration)", list, len(whole))
		}
	}
}

// anyWhole reports whether a walk came to its end and showed a row: only then has
// more been looked at than single pages.
func (w *walkers) anyWhole() bool {
	for _, whole := range w.whole {
		if slices.ContainsFunc(whole, walked.showsRows) {
			return true
		}
	}
	return false
}

func (one walked) showsRows() bool { return len(one.Rows()) > 0 }

// after and before report whether the walk began when the other had ended, and
// had ended when the other began: what both show was there all along, whatever
// others do to the list meanwhile.
func (one walked) after(other walked) bool  { return !other.ended.After(one.began) }
func (one walked) before(other walked) bool { return !other.began.Before(one.ended) }

// sightings are the rows that walks of a list show. To hold each walk against
// each other, row by row, would take the longer the more they are.
type sightings struct {
	rows []string // in the order in which they were first shown
	seen map[string]seenBetween
}

// seenBetween is when the first walk that shows a row had ended, and when the
// last one began.
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

// missingFrom returns the first row that a walk before this one shows, and one
// after it, and this one does not, if there is any.
func (s sightings) missingFrom(one walked) (row string, leftOut bool) {
	here := one.Keys()
	for _, row := range s.rows {
		if span := s.seen[row]; here[row] == 0 && !span.firstEnded.After(one.began) && !span.lastBegan.Before(one.ended) {
			return row, true
		}
	}
	return "", false
}

// ends judges a walk by itself.
func (w *walkers) ends(one walked) {
	switch one.End {
	case paging.CursorRepeated, paging.NoNewRows, paging.Capped:
		w.fault("PAGE-WALK-ENDS", one, "a walk that ends", string(one.End))
	}
	if repeats := one.Repeats(); len(repeats) > 0 {
		w.fault("PAGE-WALK-ONCE", one, "each row once", fmt.Sprintf("%d rows more than once, the first at %s and %s", len(repeats), repeats[0].First, repeats[0].Again))
	}
}

// fault enters a violation that only whole walks show.
func (w *walkers) fault(requirement string, one walked, expected, actual string) {
	w.mu.Lock()
	w.out.Faults++
	w.mu.Unlock()
	w.r.found(spec.Pair{Requirement: requirement, Operation: one.op.ID}, reports.Violation{
		Pointer: "/items", Expected: w.r.redact(expected), Actual: w.r.redact(actual), Curl: one.last.Curl()})
}
