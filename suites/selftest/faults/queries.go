package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// queryDefects break what only some queries show.
func queryDefects() []Defect {
	const list = spec.ListPlacementTests
	searches := has(profile.ParamSearch)
	defects := slices.Concat(queryMistakes.on(""), newTestMistakes.on("", on(spec.CreatePlacementTest, served, noteNewTest)), []Defect{
		defect(spec.ListSameValues, list, "shows no description in descending order", when(with(profile.ParamSortOrder, "desc"), set("description", leftOut))),
		defect(spec.FilterSearchMissing, list, "finds nothing for a text that it once did not find", when(searches, keepAnswer(emptyPage))),
		defect(spec.StateDeleteList, spec.DeletePlacementTest, "finds a deleted test by a search that once found it", on(list, searches, keepAnswer(not(emptyPage)))),
		defect(spec.StateDeleteGet, spec.DeletePlacementTest, "shows a deleted test with metadata if it once did", on(spec.GetPlacementTest, with("with_metadata", "true"), keepAnswer(served))),
	})
	for i, op := range spec.QueryAccepted.Operations() {
		for _, part := range contract.Query(op.ID) {
			key := profile.CustomaryKey(op.ID, part.Name)
			if key == "limit" || key == profile.ParamStartingAfter || key == profile.ParamSearch && op.ID == spec.ListWebhookEvents { // only URLs and addresses must be served
				continue
			}
			for _, v := range part.Valid {
				if doc := "refuses " + key + " that is " + v.What; !v.Open {
					defects = append(defects, defect(spec.QueryAccepted, op.ID, doc, when(with(key, fmt.Sprint(v.Value)), refuse([]int{400, 404, 500}[i%3]))))
				}
			}
		}
	}
	return defects
}

// tellingField returns a field of the list's rows that no filter and no rule between fields uses.
func tellingField(list string) string {
	return cmp.Or(map[string]string{
		spec.ListPlacementReports: "domain",
		spec.ListSubsequences:     "timestamp_leads_updated",
		spec.ListGroupMembers:     "timestamp_updated",
		spec.ListWebhookEvents:    "response_time_ms",
	}[list], "timestamp_created")
}

// showOther shows another value in each row.
func showOther(x *exchange) { set(tellingField(x.Operation), slightlyOff)(x) }

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
		if f.isUsed(x) && f.Key != profile.ParamWindowEnd {
			n++
		}
	}
	return n > 1
}

var queryMistakes = mistakes{
	spec.FilterCombined: {
		{"shows no rows for two filters", combined, showNothing},
		{"leaves out the last row for two filters", combined, beforeCut(withoutLast)},
		{"leaves out the first row for two filters", combined, skipFirstRow},
	},
	spec.FilterSearchMissing: {
		{"finds nothing for a percent sign", searchingFor("%"), showNothing},
		{"finds nothing for a quotation mark", searchingFor(`"`), showNothing},
		{"finds nothing for a backslash", searchingFor(`\`), showNothing},
	},
	spec.ListSameValues: {
		{"shows another value if the page has one row", func(x *exchange) bool { return len(rowsIn(x.Operation, x.body())) == 1 }, showOther},
	},
}

// newTestMistakes are of servers that update only some views of the list at once.
var newTestMistakes = mistakes{
	spec.SortAsc:  {{"shows no new test in ascending order", with(profile.ParamSortOrder, "asc"), hideNewTests}},
	spec.SortDesc: {{"shows no new test in descending order", with(profile.ParamSortOrder, "desc"), hideNewTests}},
	spec.FilterStatusMissing: {
		{"shows no new test with its status", has(profile.ParamStatus), hideNewTests},
		{"finds no new test by a search with a status", has(profile.ParamSearch, profile.ParamStatus), hideNewTests},
	},
}

// searchingFor is a search for a text with one of the signs.
func searchingFor(signs string) occasion {
	return having(profile.ParamSearch, func(text string) bool { return strings.ContainsAny(text, signs) })
}

// keepAnswer answers a request as it answered the same request before, if that answer fits.
func keepAnswer(fits occasion) verb {
	return keepAnswerTo(func(x *exchange) string { return x.token() + x.Path + "?" + x.Query.Encode() }, fits)
}

func keepAnswerTo(asked func(x *exchange) string, fits occasion) verb {
	return func(x *exchange) {
		name := "kept " + asked(x)
		if kept, ok := x.memory.get(name); ok {
			reply(kept.(Response))(x)
		} else if x.served() && fits(x) {
			x.memory.put(name, x.answer)
		}
	}
}

func noteNewTest(x *exchange) { x.memory.put(textOf(x.body(), "id"), true) }

var hideNewTests = hide(func(x *exchange, row fields) bool { return x.memory.has(textOf(row, "id")) })
