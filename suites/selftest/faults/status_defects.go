package faults

import (
	"net/http"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// statusDefects answer with a status that the specification allows for no request, where
// the suites ask for something else than a status.
func statusDefects() []Defect {
	unknown := asker{"unknown-query", "a request with an unknown query parameter",
		func(a *Target, r Request) bool { return a.hasUnknownQuery(r) }}
	var defects []Defect
	for _, op := range spec.Operations() {
		defects = append(defects, misrefused(op.ID, "STATUS-ALLOWED", unknown, http.StatusInternalServerError)...)
		defects = append(defects, whenAsked(op.ID, "STATUS-ALLOWED", unknown, "redirected", "redirects %s to the URL without the query",
			func(*Target) behaviour { return redirecting }))
	}
	defects = append(defects, breaking("STATUS-200", spec.GetPlacementTest, "old-test-500", "answers 500 to a get of a test that was created long ago", failingForOldTests))
	for _, op := range []string{spec.ListPlacementTests, spec.ListPlacementReports, spec.ListSubsequences, spec.ListMembers,
		spec.ListLeadLabels, spec.ListLeadLists, spec.ListWebhookEvents} {
		defects = append(defects, breakingWith("STATUS-200", op, "filter-without-rows-500", "answers 500 to a filter that selects nothing",
			func(a *Target) Middleware { return a.failingWithoutRows(op) }))
	}
	return defects
}

// failingForOldTests answers 500 to a get of a test whose creation it has not seen.
func failingForOldTests(next Handler) Handler {
	var young sync.Map // ids
	return func(r Request) (Response, error) {
		answer, err := next(r)
		if err != nil || answer.Status != http.StatusOK {
			return answer, err
		}
		switch r.Operation {
		case spec.CreatePlacementTest:
			young.Store(textIn(answer, "id"), true)
		case spec.GetPlacementTest:
			if _, seen := young.Load(r.ID); !seen {
				return refusal(http.StatusInternalServerError), nil
			}
		}
		return answer, nil
	}
}

// redirecting redirects to the URL without the query.
func redirecting(_ Handler, r Request) (Response, error) {
	return Response{http.StatusFound, http.Header{"Location": {r.Path}}, nil}, nil
}

// failingWithoutRows answers 500 if the first page of a filtered list has no rows.
func (a *Target) failingWithoutRows(operation string) Middleware {
	cursor := a.parameter(operation, profile.ParamStartingAfter)
	return onAnswer(operation, http.StatusOK, func(r Request, answer Response) Response {
		body, _ := decode(answer.Body)
		if !a.filtersRows(r) || r.Query.Has(cursor) || len(rowsIn(operation, body)) > 0 {
			return answer
		}
		return refusal(http.StatusInternalServerError)
	})
}
