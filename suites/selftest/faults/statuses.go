package faults

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// statusDefects leave out operations, as partial servers do, and answer with a status that
// the specification allows for no request.
func statusDefects() []Defect {
	page := plain(http.StatusNotFound, "text/html", "<!doctype html><title>Not Found</title><h1>Not Found</h1>")
	defects := slices.Concat(
		onEach(spec.Served, "unserved-404", "answers 404 to every request", when(always, refuse(http.StatusNotFound))),
		onEach(spec.Served, "unserved-501", "answers 501 to every request", when(always, refuse(http.StatusNotImplemented))),
		onEach(spec.Served, "unserved-page", "answers every request with a 404 page of HTML", when(always, reply(page))),
		onEach(spec.StatusAllowed, "unknown-query-500", "answers 500 to an unknown query parameter", when(strayQuery, refuse(http.StatusInternalServerError))),
		onEach(spec.StatusAllowed, "unknown-query-redirected", "redirects a request with an unknown query parameter to the URL without it", when(strayQuery, redirect)),
	)
	for _, op := range spec.Served.Operations() {
		if op.ID != spec.DeleteSubsequence { // only a deletion would show it, and there are few subsequences to delete
			defects = append(defects, defect(spec.Served, op.ID, "unserved-after-key", "checks the key of every request, and then answers 405",
				on(anyPath, not(validKey), refuse(http.StatusUnauthorized)), when(always, refuse(http.StatusMethodNotAllowed))))
		}
		if len(filtersIn(op.ID)) > 0 && op.ID != spec.ListTagMappings { // no filter for tag mappings must find nothing
			defects = append(defects, defect(spec.Status200, op.ID, "filter-without-rows-500", "answers 500 to a filter that selects nothing",
				when(all(filtered, firstPage, emptyPage), refuse(http.StatusInternalServerError))))
		}
	}
	isYoung := func(id string) string { return "young " + id }
	return slices.Concat(defects, bodyCrashes(), queryCrashes(), []Defect{
		defect(spec.Status200, spec.GetPlacementTest, "old-test-500", "answers 500 to a get of a test that was created long ago",
			when(all(served, not(remembered(isYoung("")))), refuse(http.StatusInternalServerError)),
			on(spec.CreatePlacementTest, always, remember(func(x *exchange) string { return isYoung(textOf(x.body(), "id")) }, func(*exchange) any { return true }))),
		defect(spec.Status200, spec.ListLeadLabels, "closes-with-limit", "closes the connection without a response to a list with a limit",
			when(all(has("limit"), served), hangUp)),
		defect(spec.Status200, spec.CreatePlacementTest, "closes-paused", "closes the connection without a response after the creation of a paused test",
			when(all(sends("status", equal(2)), served), hangUp)),
	})
}

// hangUp ends the connection without a response, as a server does whose handler crashed.
func hangUp(x *exchange) { x.err = io.ErrUnexpectedEOF }

// bodyCrashes answer 500 to a value in the body that a server may refuse.
func bodyCrashes() []Defect {
	twice := func(value any) bool {
		items, _ := value.([]any)
		return len(items) > 1 && slices.ContainsFunc(items[1:], equal(items[0]))
	}
	blank := textThat(func(s string) bool { return s != "" && strings.Trim(s, " ") == "" })
	control := textThat(func(s string) bool { return strings.Contains(s, "\x00") })
	var defects []Defect
	for _, v := range []struct {
		breaks                     spec.ID
		operation, field, id, what string
		fits                       func(any) bool
	}{
		{spec.StateCreate("description"), spec.CreatePlacementTest, "description", "blank", "blanks", blank},
		{spec.StateCreate("test_code"), spec.CreatePlacementTest, "test_code", "empty", "an empty text", equal("")},
		{spec.StateCreate("name"), spec.CreatePlacementTest, "name", "control", "a null character", control},
		{spec.StateCreate("email_body"), spec.CreatePlacementTest, "email_body", "control", "a null character", control},
		{spec.StateCreate("emails"), spec.CreatePlacementTest, "emails", "twice", "an entry twice", twice},
		{spec.StateCreate("tags"), spec.CreatePlacementTest, "tags", "twice", "an entry twice", twice},
		{spec.RequestInvalid("variables"), spec.AddCampaignVariables, "variables", "twice", "an entry twice", twice},
		{spec.RequestInvalid("variables"), spec.AddCampaignVariables, "variables", "none", "no entry", equal([]any{})},
		{spec.RequestInvalid("account_emails"), spec.MoveAccounts, "emails", "twice", "an entry twice", twice},
	} {
		defects = append(defects, defect(v.breaks, v.operation, slug(v.field+"-"+v.id)+"-500", "answers 500 to "+v.what+" in "+v.field,
			when(sends(v.field, v.fits), refuse(http.StatusInternalServerError))))
	}
	return defects
}

// oddQueries are values that a server may refuse. Each parameter has one of the first four
// kinds, and a boolean also the last.
var oddQueries = []struct {
	id, what string
	is       func(values []string) bool
}{
	{"empty", "an empty", func(values []string) bool { return values[0] == "" }},
	{"blank", "a blank", func(values []string) bool { return values[0] == " " }},
	{"control-character", "a control character as", func(values []string) bool { return values[0] == "\x00" }},
	{"repeated", "a repeated", func(values []string) bool { return len(values) > 1 }},
	{"stands-for-boolean", "a text that stands for a boolean as", func(values []string) bool {
		return slices.Contains([]string{"TRUE", "1", "yes"}, values[0])
	}},
}

// queryCrashes answer 500 to an invalid or odd value of one parameter. A suite may forget any
// parameter.
func queryCrashes() []Defect {
	var defects []Defect
	for _, op := range spec.StatusAllowed.Operations() {
		for i, part := range variants.Query(op.ID) {
			crash := func(id, what string, is func(values []string) bool) {
				key := profile.CustomaryKey(op.ID, part.Name)
				defects = append(defects, defect(spec.StatusAllowed, op.ID, id+"-"+slug(part.Name)+"-500", "answers 500 to "+what+" "+part.Name,
					when(all(has(key), func(x *exchange) bool { return is(x.Query[x.named(key)]) }), refuse(http.StatusInternalServerError))))
			}
			if part.Name == "limit" { // its values have requirements of their own
				continue
			}
			if len(part.Invalid) > 0 {
				crash("invalid", "an invalid", func(values []string) bool {
					return slices.ContainsFunc(part.Invalid, func(v variants.Variant) bool { return fmt.Sprint(v.Value) == values[0] })
				})
			}
			odd, forBoolean := oddQueries[i%4], oddQueries[4]
			crash(odd.id, odd.what, odd.is)
			if len(part.Valid) > 0 && isBool(part.Valid[0].Value) {
				crash(forBoolean.id, forBoolean.what, forBoolean.is)
			}
		}
	}
	return defects
}

// strayQuery is a request with a query parameter that the document does not show.
func strayQuery(x *exchange) bool {
	known := map[string]bool{}
	for _, part := range variants.Query(x.Operation) {
		known[x.named(profile.CustomaryKey(x.Operation, part.Name))] = true
	}
	for name := range x.Query {
		if !known[name] {
			return true
		}
	}
	return false
}
