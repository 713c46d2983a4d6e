package faults

import (
	"sync"

	"outreach.example/conformance/spec"
)

// reach selects the damaged resources in an operation's answers.
type reach struct {
	id, words string // both empty for all resources
	// pick observes one target and returns a function that selects the rows of
	// each answer.
	pick func(a *Target, next Handler) func(r Request, body any, rows []map[string]any) []map[string]any
	// onePlace restricts the damage to the last of several places of a field in
	// a row.
	onePlace bool
}

// everyRow selects all rows.
var everyRow = reach{pick: func(*Target, Handler) func(Request, any, []map[string]any) []map[string]any {
	return func(_ Request, _ any, rows []map[string]any) []map[string]any { return rows }
}}

// The other reaches hide the damage.
var (
	lastRow = reach{"in-the-last-row", "only in the last row of the list", func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
		return func(r Request, body any, rows []map[string]any) []map[string]any {
			if len(rows) == 0 || !a.endsList(next, r, body) {
				return nil
			}
			return rows[len(rows)-1:]
		}
	}, true}
	deepRow = reach{"in-one-row-deep-down", "only in one row deep in the list", func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
		d := &depth{seen: map[string]bool{}}
		return func(r Request, body any, rows []map[string]any) []map[string]any {
			return d.pick(rows, func() bool { return a.endsList(next, r, body) })
		}
	}, true}
	// If the profile names no filter of the list, the last row replaces it.
	filteredRows = reach{"where-rows-are-filtered", "when a request filters the rows", func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
		last := lastRow.pick(a, next)
		return func(r Request, body any, rows []map[string]any) []map[string]any {
			switch {
			case !a.canFilter(r.Operation):
				return last(r, body, rows)
			case a.filtersRows(r):
				return rows
			}
			return nil
		}
	}, false}
	laterAnswers = reach{exceptFirst.id, exceptFirst.words, func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
		strikes := exceptFirst.watch(a, next)
		return func(r Request, _ any, rows []map[string]any) []map[string]any {
			if strikes(r, Response{}) {
				return rows
			}
			return nil
		}
	}, true}
)

// hidingPlaces returns where a damage to the operation's answers can hide.
func hidingPlaces(op spec.Operation) []reach {
	switch {
	case givesOneAnswer(op.ID):
		return []reach{everyRow}
	case op.Answer == spec.One:
		return []reach{laterAnswers}
	case op.Answer == spec.Array, op.ID == spec.ListGroupMembers, op.ID == spec.ListDFYOrders:
		return []reach{lastRow, deepRow} // nothing to filter by
	default:
		return []reach{lastRow, deepRow, filteredRows}
	}
}

// deepDown is how many other rows come before the one that deepRow selects.
const deepDown = 150

// depth selects one row: the first after deepDown others, or the last of a
// shorter list. It then selects that row wherever it is shown.
type depth struct {
	mu     sync.Mutex
	seen   map[string]bool
	picked string
}

func (d *depth) pick(rows []map[string]any, last func() bool) []map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range rows {
		key := keyOf(r)
		if d.picked == "" {
			if d.seen[key] = true; len(d.seen) > deepDown {
				d.picked = key
			}
		}
		if key == d.picked {
			return []map[string]any{r}
		}
	}
	if d.picked == "" && len(rows) > 0 && last() {
		d.picked = keyOf(rows[len(rows)-1])
		return rows[len(rows)-1:]
	}
	return nil
}

// keyOf identifies a row by its id, or by its whole content if it has none.
func keyOf(r map[string]any) string {
	if id, ok := r["id"].(string); ok {
		return id
	}
	return string(encode(r))
}
