package faults

import (
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// keptSearchDefects answer a search, a filter or a sort order as they did the first time.
func keptSearchDefects() []Defect {
	const list = spec.ListPlacementTests
	kept := func(p spec.Pair, damage, doc string, keeps func(Response) bool) Defect {
		return breakingWith(p.Requirement, p.Operation, damage, doc, func(a *Target) Middleware {
			search := a.parameter(list, profile.ParamSearch)
			return func(next Handler) Handler {
				var mu sync.Mutex
				answers := map[string]Response{}
				return where(list, func(r Request) bool { return r.Query.Has(search) }, func(next Handler, r Request) (Response, error) {
					asked := r.token() + "?" + r.Query.Encode()
					mu.Lock()
					answer, known := answers[asked]
					mu.Unlock()
					if known {
						answer.Header = answer.Header.Clone()
						return answer, nil
					}
					answer, err := next(r)
					if err == nil && answer.Status == http.StatusOK && keeps(answer) {
						mu.Lock()
						defer mu.Unlock()
						answers[asked] = Response{answer.Status, answer.Header.Clone(), answer.Body}
					}
					return answer, err
				})(next)
			}
		})
	}
	isEmpty := func(answer Response) bool { rows, _, ok := pageIn(answer); return ok && len(rows) == 0 }
	defects := []Defect{
		kept(spec.FilterSearchMissing.On(list), "search-kept-if-empty", "finds nothing for a text that it once did not find", isEmpty),
		kept(spec.StateDeleteList.On(spec.DeletePlacementTest), "search-kept-if-found", "still finds a deleted test by a search that once found it",
			func(answer Response) bool { return !isEmpty(answer) }),
	}
	for _, d := range []struct {
		requirement            spec.ID
		parameter, value, name string
	}{
		{spec.SortAsc, profile.ParamSortOrder, "asc", "sort-order-asc"},
		{spec.SortDesc, profile.ParamSortOrder, "desc", "sort-order-desc"},
		{spec.FilterStatusMissing, profile.ParamStatus, "1", "status-1"},
		{spec.FilterStatusMissing, profile.ParamStatus, "2", "status-2"},
		{spec.FilterStatusMissing, profile.ParamStatus, "3", "status-3"},
		{spec.StateCreate("name"), "limit", "100", "plain-list"},
	} {
		defects = append(defects, breakingWith(string(d.requirement), list, d.name+"-kept", "shows no new test in full pages with "+d.parameter+"="+d.value+" once they were asked for",
			func(a *Target) Middleware {
				return a.withoutNewRows(list, func(r Request) bool {
					others := len(r.Query) - len(r.Query["limit"]) - len(r.Query["starting_after"])
					return r.Query.Get(d.parameter) == d.value && r.Query.Get("limit") == "100" && (others == 0) == (d.parameter == "limit") && others < 2
				})
			}))
	}
	return append(defects, keptTestDefect())
}

// withoutNewRows hides rows that came after the same list was first asked for.
func (a *Target) withoutNewRows(list string, fits func(Request) bool) Middleware {
	cursor := a.parameter(list, profile.ParamStartingAfter)
	return func(next Handler) Handler {
		cache := &listCache{next: next, cursor: cursor}
		return withItems(list, func(r Request, _ any, items []any) []any {
			if !fits(r) {
				return items
			}
			rows, read := cache.read(r)
			known := keysOf(rows)
			return slices.DeleteFunc(items, func(item any) bool { return read && !known[textOf(item, "id")] })
		})(next)
	}
}

// keptTestDefect answers a get with metadata as it did the first time.
func keptTestDefect() Defect {
	const get = spec.GetPlacementTest
	return breaking("STATE-DELETE-GET", spec.DeletePlacementTest, "kept-with-metadata", "still shows a deleted test with metadata if it once did", func(next Handler) Handler {
		var known sync.Map // ids → answers
		return where(get, func(r Request) bool { return r.Query.Get("with_metadata") == "true" }, func(next Handler, r Request) (Response, error) {
			answer, err := next(r)
			if err == nil && answer.Status == http.StatusOK {
				known.Store(r.token()+r.ID, answer.Body)
			} else if body, ok := known.Load(r.token() + r.ID); ok {
				answer = jsonAnswer(http.StatusOK, nil)
				answer.Body = body.([]byte)
			}
			return answer, err
		})(next)
	})
}
