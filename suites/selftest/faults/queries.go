package faults

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// queryDefects break what only some queries show.
func queryDefects() []Defect {
	defects := queryMistakes.defects()
	for _, op := range spec.ListSameValues.Operations() {
		differs := when(smallPages, set(telling[op.ID], slightlyOff))
		defects = append(defects, defect(spec.ListSameValues, op.ID, "differs on small pages", "shows another "+telling[op.ID]+" on small pages", differs))
		if differs.when = filtered; len(filtersIn(op.ID)) > 0 {
			defects = append(defects, defect(spec.ListSameValues, op.ID, "differs if filtered", "shows another "+telling[op.ID]+" if a filter is set", differs))
		}
	}
	for i, op := range spec.QueryAccepted.Operations() {
		for _, part := range variants.Query(op.ID) {
			key := profile.CustomaryKey(op.ID, part.Name)
			if key == "limit" || key == profile.ParamStartingAfter || key == profile.ParamSearch && op.ID == spec.ListWebhookEvents { // only URLs and addresses must be served
				continue
			}
			for _, v := range part.Valid {
				if doc := "refuses " + key + " that is " + v.What; !v.Open {
					defects = append(defects, defect(spec.QueryAccepted, op.ID, doc, doc, when(with(key, fmt.Sprint(v.Value)), refuse([]int{400, 404, 500}[i%3]))))
				}
			}
		}
	}
	// A check that looks at its new tests in the whole list only misses what other queries kept.
	tests := func(breaks spec.ID, doc string, o occasion, v verb, beside ...rule) {
		defects = append(defects, defect(breaks, spec.ListPlacementTests, doc, doc, append(beside, when(o, v))...))
	}
	for _, order := range []string{"asc", "desc"} {
		sorted := with(profile.ParamSortOrder, order)
		tests(spec.ListSameValues, "shows no description with "+order, sorted, set("description", leftOut))
		tests(map[string]spec.ID{"asc": spec.SortAsc, "desc": spec.SortDesc}[order], "shows no new test once it was sorted "+order, all(sorted, with("limit", "100"), not(filtered)), keepRows)
		tests(spec.FilterStatusMissing, "leaves new tests out of a search with a status and "+order, all(sorted, has(profile.ParamSearch, profile.ParamStatus)),
			hide(func(x *exchange, row map[string]any) bool { return x.memory.has(textOf(row, "id")) }), on(spec.CreatePlacementTest, served, noteCreation))
	}
	tests(spec.FilterStatusMissing, "shows no new test once it was asked for a status", all(has(profile.ParamStatus), with("limit", "100")), keepRows)
	tests(spec.StateCreate("name"), "shows no new test in the list once it was asked for", all(with("limit", "100"), not(filtered)), keepRows)
	tests(spec.FilterSearchMissing, "finds nothing for a text that it once did not find", has(profile.ParamSearch), keep(emptyPage))
	return append(defects,
		defect(spec.StateDeleteList, spec.DeletePlacementTest, "search kept", "finds a deleted test by a search that once found it", on(spec.ListPlacementTests, has(profile.ParamSearch), keep(not(emptyPage)))),
		defect(spec.StateDeleteGet, spec.DeletePlacementTest, "metadata kept", "shows a deleted test with metadata if it once did", on(spec.GetPlacementTest, with("with_metadata", "true"), keep(served))))
}

// telling is a field of each list's rows that no filter and no rule between fields uses.
var telling = map[string]string{
	spec.ListPlacementTests:   "email_subject",
	spec.ListPlacementReports: "domain",
	spec.ListSubsequences:     "timestamp_leads_updated",
	spec.ListMembers:          "timestamp_created",
	spec.ListGroupMembers:     "timestamp_updated",
	spec.ListTagMappings:      "timestamp_created",
	spec.ListLeadLabels:       "description",
	spec.ListLeadLists:        "timestamp_created",
	spec.ListWebhookEvents:    "response_time_ms",
}

// slightlyOff returns another valid value of the same form.
func slightlyOff(value any) any {
	switch value := value.(type) {
	case json.Number:
		n, _ := value.Int64()
		return n + 1
	case string:
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			return written(at.Add(time.Second))
		}
		return value + " again"
	}
	return value
}

// combined is a request with two filters. A window counts by its start.
func combined(x *exchange) bool {
	n := 0
	for _, f := range filtersIn(x.Operation) {
		if f.set(x) && f.key != profile.ParamWindowEnd {
			n++
		}
	}
	return n > 1
}

var queryMistakes = mistakes{
	spec.FilterCombined: {
		{"shows no rows for two filters", when(combined, showNothing)},
		{"leaves out the last row for two filters", when(combined, serve(pager{before: withoutLast}))},
		{"leaves out the first row for two filters", when(combined, skipFirst)},
	},
	spec.FilterSearchMissing: {
		{"finds nothing for a percent sign", when(searching("%"), showNothing)},
		{"finds nothing for a quotation mark", when(searching(`"`), showNothing)},
		{"finds nothing for a backslash", when(searching(`\`), showNothing)},
	},
}

// searching is a search for a text with one of the signs.
func searching(signs string) occasion {
	return having(profile.ParamSearch, func(text string) bool { return strings.ContainsAny(text, signs) })
}

// keep answers a request as it answered the same request before, if that answer fits.
func keep(fits occasion) verb {
	return func(x *exchange) {
		asked := "kept " + x.token() + x.Path + "?" + x.Query.Encode()
		if kept, ok := x.memory.get(asked); ok {
			reply(kept.(Response))(x)
		} else if x.served() && fits(x) {
			x.memory.put(asked, x.answer)
		}
	}
}

// keepRows hides the rows that came after the same list was first asked for.
func keepRows(x *exchange) {
	rows, _ := x.list(x.Request)
	asked := "rows " + x.token() + x.Query.Encode()
	if !x.memory.has(asked) {
		x.memory.put(asked, keysOf(rows))
	}
	known, _ := x.memory.get(asked)
	hide(func(_ *exchange, row map[string]any) bool { return !known.(map[string]bool)[textOf(row, "id")] })(x)
}

func noteCreation(x *exchange) { x.memory.put(textOf(x.body(), "id"), true) }
