package faults

import (
	"net/http"
	"slices"
	"strings"
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
	return append(defects, oddValueDefects()...)
}

// oddValueDefects answer 500 to a value that a server may refuse.
func oddValueDefects() []Defect {
	twice := func(items []any) bool {
		return len(items) > 1 && slices.ContainsFunc(items[1:], equal(items[0]))
	}
	var defects []Defect
	for _, v := range []struct {
		operation, requirement, field, name, what string
		is                                        func(value any) bool
	}{
		{spec.CreatePlacementTest, "STATE-CREATE-DESCRIPTION", "description", "blank", "blanks", isTextOf(func(s string) bool { return s != "" && strings.Trim(s, " ") == "" })},
		{spec.CreatePlacementTest, "STATE-CREATE-TEST_CODE", "test_code", "empty", "an empty text", isTextOf(func(s string) bool { return s == "" })},
		{spec.CreatePlacementTest, "STATE-CREATE-NAME", "name", "control", "a null character", isTextOf(having("\x00"))},
		{spec.CreatePlacementTest, "STATE-CREATE-EMAIL_BODY", "email_body", "control", "a null character", isTextOf(having("\x00"))},
		{spec.CreatePlacementTest, "STATE-CREATE-EMAILS", "emails", "twice", "an entry twice", isListOf(twice)},
		{spec.CreatePlacementTest, "STATE-CREATE-TAGS", "tags", "twice", "an entry twice", isListOf(twice)},
		{spec.AddCampaignVariables, "REQUEST-INVALID-VARIABLES", "variables", "twice", "an entry twice", isListOf(twice)},
		{spec.AddCampaignVariables, "REQUEST-INVALID-VARIABLES", "variables", "none", "no entry", isListOf(func(items []any) bool { return len(items) == 0 })},
		{spec.MoveAccounts, "REQUEST-INVALID-ACCOUNT_EMAILS", "emails", "twice", "an entry twice", isListOf(twice)},
	} {
		defects = append(defects, breaking(v.requirement, v.operation, slug(v.field)+"-"+v.name+"-500", "answers 500 to "+v.what+" in "+v.field,
			where(v.operation, func(r Request) bool {
				body, ok := objectIn(r)
				return ok && v.is(body[v.field])
			}, refusing(http.StatusInternalServerError))))
	}
	return defects
}

func isTextOf(fits func(string) bool) func(any) bool {
	return func(value any) bool { text, ok := value.(string); return ok && fits(text) }
}

func isListOf(fits func([]any) bool) func(any) bool {
	return func(value any) bool { items, ok := value.([]any); return ok && fits(items) }
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
