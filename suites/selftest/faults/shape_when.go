package faults

import (
	"net/http"
	"sync/atomic"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

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
	everyThirdTime = occasion{"every-third-time", "in every third answer", func(*Target, Handler) func(Request, Response) bool {
		var count atomic.Int64
		return func(Request, Response) bool { return count.Add(1)%3 == 0 }
	}}
	exceptFirst = occasion{"after-the-first-time", "in every answer but the first", func(*Target, Handler) func(Request, Response) bool {
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
	parameter, ok := a.Profile.Parameter(r.Operation, profile.MeaningStartingAfter)
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
	cursor, _ := a.Profile.Parameter(r.Operation, profile.MeaningStartingAfter)
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
	for _, meaning := range profile.Meanings(operation) {
		if _, named := a.Profile.Parameter(operation, meaning); named && meaning != profile.MeaningStartingAfter {
			return true
		}
	}
	return false
}
