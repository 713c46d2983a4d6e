package faults

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// statusDefects leave out operations, as partial servers do, and answer with a status that
// the specification allows for no request.
func statusDefects() []Defect {
	defects := slices.Concat(bodyCrashes(), queryCrashes(), mistakes{
		spec.Served: {
			{"answers 501 to every request", always, refuse(501)},
			{"answers every request with a 404 page of HTML", always, reply(plain(404, "text/html", "<title>Not Found</title>"))},
		},
		spec.StatusAllowed: {
			{"answers 500 to an unknown query parameter", strayQuery, refuse(500)},
			{"redirects a request with an unknown query parameter to the URL without it", strayQuery, redirect},
		},
	}.on(""))
	for _, op := range spec.Operations() {
		if op.ID != spec.DeleteSubsequence { // only a deletion would show it, and there are few subsequences to delete
			defects = append(defects, defect(spec.Served, op.ID, "answers 404 to every request with a valid key", when(validKey, refuse(404))))
		}
		if len(filtersIn(op.ID)) > 0 && op.ID != spec.ListTagMappings { // no filter of tag mappings must find nothing
			defects = append(defects, defect(spec.Status200, op.ID, "answers 500 to a filter that selects nothing",
				when(all(filtered, firstPage, emptyPage), refuse(500))))
		}
	}
	// A handler that crashes ends the connection without a response.
	return append(defects,
		defect(spec.Status200, spec.GetPlacementTest, "answers 500 to a get of a test that was created long ago",
			when(all(served, not(remembered("young "))), refuse(500)),
			on(spec.CreatePlacementTest, served, func(x *exchange) { x.memory.put("young "+textOf(x.body(), "id"), true) })),
		defect(spec.Status200, spec.ListLeadLabels, "closes the connection without a response to a list with a limit",
			when(all(has("limit"), served), func(x *exchange) { x.err = io.ErrUnexpectedEOF })))
}

// bodyCrashes answer 500 to a value in the body that a server may refuse.
func bodyCrashes() []Defect {
	crash := func(breaks spec.ID, op, field, what string, fits func(any) bool) Defect {
		return defect(breaks, op, "answers 500 to "+what+" in "+field, when(sends(field, fits), refuse(500)))
	}
	created := func(field, what string, fits func(any) bool) Defect {
		return crash(spec.StateCreate(field), create, field, what, fits)
	}
	twice := func(value any) bool {
		items, _ := value.([]any)
		return len(items) > 1 && slices.ContainsFunc(items[1:], equal(items[0]))
	}
	return []Defect{
		created("description", "blanks", textThat(func(s string) bool { return s != "" && strings.Trim(s, " ") == "" })),
		created("test_code", "an empty text", equal("")),
		created("name", "a null character", textThat(func(s string) bool { return strings.Contains(s, "\x00") })),
		created("emails", "an entry twice", twice),
		crash(spec.RequestInvalid("variables"), spec.AddCampaignVariables, "variables", "no entry", equal([]any{})),
		crash(spec.RequestInvalid("account_emails"), spec.MoveAccounts, "emails", "an entry twice", twice),
	}
}

// queryCrashes answer 500 to an invalid or odd value of one parameter. A suite may forget any
// parameter. Each has one kind of odd values, and a boolean one more.
func queryCrashes() []Defect {
	type test func(values []string) bool
	oneOf := func(texts ...string) test {
		return func(values []string) bool { return slices.Contains(texts, values[0]) }
	}
	kinds := []struct {
		what string
		is   test
	}{
		{"an empty", oneOf("")}, {"a blank", oneOf(" ")}, {"a null character as", oneOf("\x00")},
		{"a repeated", func(values []string) bool { return len(values) > 1 }},
	}
	var defects []Defect
	for _, op := range spec.Operations() {
		for i, part := range contract.Query(op.ID) {
			crash := func(what string, is test) {
				key := profile.CustomaryKey(op.ID, part.Name)
				defects = append(defects, defect(spec.StatusAllowed, op.ID, "answers 500 to "+what+" "+part.Name,
					when(all(has(key), func(x *exchange) bool { return is(x.Query[x.parameterName(key)]) }), refuse(500))))
			}
			if part.Name == "limit" { // its values have requirements of their own
				continue
			}
			odd := kinds[i%len(kinds)]
			crash(odd.what, odd.is)
			if len(part.Valid) > 0 && isBool(part.Valid[0].Value) {
				crash("a text that stands for a boolean as", oneOf("TRUE", "1", "yes"))
			}
			var invalid []string
			for _, v := range part.Invalid {
				invalid = append(invalid, fmt.Sprint(v.Value))
			}
			if invalid != nil {
				crash("an invalid", oneOf(invalid...))
			}
		}
	}
	return defects
}

// strayQuery is a request with a query parameter that the document does not show.
func strayQuery(x *exchange) bool {
	unknown := len(x.Query)
	for _, part := range contract.Query(x.Operation) {
		if x.Query.Has(x.parameterName(profile.CustomaryKey(x.Operation, part.Name))) {
			unknown--
		}
	}
	return unknown > 0
}
