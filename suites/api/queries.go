package api

import (
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// Generate returns a query of the list whose values come from the rows.
func Generate(api *API, list spec.Operation, rows []paging.Row) oracle.Query {
	api.mu.Lock()
	seed := api.Rng.Int()
	api.mu.Unlock()
	return oracle.List{Operation: list, Rows: rows}.Queries(Named(api, list.ID)).Example(seed)
}

// Named returns a function that reports whether a parameter of the list has a name.
func Named(api *API, list string) func(parameter string) bool {
	return func(parameter string) bool {
		return api.Has(Parameter(list, parameter))
	}
}

// Asked is a query with the walk that came of it.
type Asked struct {
	Query oracle.Query
	Walk  Walk
}

// Ask sends the query page by page, with the key of the call.
func Ask(api *API, list Call, q oracle.Query) Asked {
	w := Walk{List: FilteredBy(api, list, q.Parameters)}
	w.Walk = paging.Run(api.Ctx, Fetch(api, w.List, &w.Responses), paging.Cycle(q.Sizes...), q.Pages)
	return Asked{q, w}
}

// Compare compares the walk with what the list predicts.
func (a Asked) Compare(l oracle.List) oracle.Comparison {
	pages := make([]oracle.Page, len(a.Walk.Pages))
	for i, page := range a.Walk.Pages {
		pages[i] = oracle.Page{Page: page, Doubt: a.Walk.At(i).isDoubtful()}
	}
	return l.Compare(a.Query, pages, a.Walk.Complete())
}

// IsDoubtful reports whether a page of the walk broke a rule on shapes.
func (w Walk) IsDoubtful() bool { return slices.ContainsFunc(w.Responses, Response.isDoubtful) }

// isDoubtful reports whether the body broke a rule on shapes: its values may differ from
// those of another view for that reason.
func (r Response) isDoubtful() bool {
	return slices.ContainsFunc(r.found.Findings, func(f judge.Finding) bool {
		rule, _ := spec.FindRequirement(f.Pair.Requirement)
		return strings.HasPrefix(f.Pointer, "/") && (rule.Group == spec.GroupShape || rule.ID == string(spec.MetaElsewhere))
	})
}

// Finding returns the mismatch with the response that shows it.
func (a Asked) Finding(m oracle.Mismatch) Finding {
	return Found(a.Walk.At(m.Page), m.Pointer, m.Expected, m.Actual)
}

// FilteredBy adds parameters to the list's call, by their keys. A server may refuse those
// that contradict each other.
func FilteredBy(api *API, list Call, query map[string]string) Call {
	if oracle.Contradicts(list.Operation.ID, query) {
		list = list.MayBeRefused()
	}
	for _, parameter := range slices.Sorted(maps.Keys(query)) {
		list = list.WithQuery(api.Parameter(list.Operation.ID, parameter), query[parameter])
	}
	return list
}

// KnownFilter is FilteredBy for parameters whose names may be unknown.
func KnownFilter(api *API, list Call, query map[string]string) (Call, bool) {
	for parameter := range query {
		if !api.Has(Parameter(list.Operation.ID, parameter)) {
			return Call{}, false
		}
	}
	return FilteredBy(api, list, query), true
}
