package faults

import (
	"net/http"
	"sync"
	"sync/atomic"

	"outreach.example/conformance/fixtures/profile"
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
	lastRow = reach{"in-the-last-row", "only in the last row of the list",
		func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
			return func(r Request, body any, rows []map[string]any) []map[string]any {
				if len(rows) == 0 || !a.endsList(next, r, body) {
					return nil
				}
				return rows[len(rows)-1:]
			}
		}, true}
	deepRow = reach{"in-one-row-deep-down", "only in one row deep in the list",
		func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
			d := &depth{seen: map[string]bool{}}
			return func(r Request, body any, rows []map[string]any) []map[string]any {
				return d.pick(rows, func() bool { return a.endsList(next, r, body) })
			}
		}, true}
	// If the profile names no filter of the list, the last row replaces it.
	filteredRows = reach{"where-rows-are-filtered", "when a request filters the rows",
		func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
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
	laterAnswers = reach{exceptFirst.id, exceptFirst.words,
		func(a *Target, next Handler) func(Request, any, []map[string]any) []map[string]any {
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

// occasion selects the 200 answers of an operation that are damaged.
type occasion struct {
	id, words string // both empty for all answers
	// watch observes one target and returns a function that tests each answer.
	watch func(a *Target, next Handler) func(Request, Response) bool
}

var (
	always = occasion{watch: func(*Target, Handler) func(Request, Response) bool {
		return func(Request, Response) bool { return true }
	}}
	everyThirdTime = occasion{"every-third-time", "in every third response", func(*Target, Handler) func(Request, Response) bool {
		var count atomic.Int64
		return func(Request, Response) bool { return count.Add(1)%3 == 0 }
	}}
	exceptFirst = occasion{"after-the-first-time", "in every response but the first", func(*Target, Handler) func(Request, Response) bool {
		var count atomic.Int64
		return func(Request, Response) bool { return count.Add(1) > 1 }
	}}
	onLastPage = occasion{"on-the-last-page", "on the last page of the list", func(a *Target, next Handler) func(Request, Response) bool {
		return func(r Request, answer Response) bool {
			body, ok := decode(answer.Body)
			return ok && a.endsList(next, r, body)
		}
	}}
	// If no known parameter can empty a page, the last page replaces it.
	whenEmpty = occasion{"when-it-is-empty", "on a page without items", func(a *Target, next Handler) func(Request, Response) bool {
		return func(r Request, answer Response) bool {
			body, ok := decode(answer.Body)
			return ok && (len(rowsIn(r.Operation, body)) == 0 || !a.canFilter(r.Operation) && a.endsList(next, r, body))
		}
	}}
)

// occasionsOf returns the occasions of an operation; always comes first.
func occasionsOf(op spec.Operation) []occasion {
	switch {
	case givesOneAnswer(op.ID):
		return []occasion{always}
	case op.Answer == spec.Page:
		return []occasion{always, everyThirdTime, onLastPage}
	default:
		return []occasion{always, everyThirdTime}
	}
}

// onOccasion changes the operation's 200 answers on the occasion.
func onOccasion(o occasion, operation string, change func(Response) Response) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return func(next Handler) Handler {
			strikes := o.watch(a, next)
			return onAnswer(operation, http.StatusOK, func(r Request, answer Response) Response {
				if !strikes(r, answer) {
					return answer
				}
				answer.Header = answer.Header.Clone()
				return change(answer)
			})(next)
		}
	}
}

// endsList reports whether no page follows the decoded page. A cursor alone
// does not tell: it may lead to an empty page.
func (a *Target) endsList(next Handler, r Request, body any) bool {
	page, _ := body.(map[string]any)
	cursor, _ := page["next_starting_after"].(string)
	if cursor == "" || len(rowsIn(r.Operation, body)) == 0 {
		return true
	}
	parameter, ok := a.Profile.Parameter(r.Operation, profile.ParamStartingAfter)
	if !ok {
		return false
	}
	r = r.clone()
	r.Query.Set(parameter, cursor)
	r.Query.Set("limit", "1")
	following, err := next(r)
	if err != nil || following.Status != http.StatusOK {
		return false
	}
	rest, ok := decode(following.Body)
	return ok && len(rowsIn(r.Operation, rest)) == 0
}

// filtersRows reports whether the request filters a list.
func (a *Target) filtersRows(r Request) bool {
	cursor, _ := a.Profile.Parameter(r.Operation, profile.ParamStartingAfter)
	for name := range r.Query {
		if name != "limit" && name != cursor && name != "with_metadata" {
			return true
		}
	}
	return false
}

// canFilter reports whether the profile and the specification name a filter of
// the list.
func (a *Target) canFilter(operation string) bool {
	if operation == spec.ListPlacementTests {
		return true
	}
	for _, meaning := range profile.Params(operation) {
		if _, named := a.Profile.Parameter(operation, meaning); named && meaning != profile.ParamStartingAfter {
			return true
		}
	}
	return false
}
