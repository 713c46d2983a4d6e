package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// otherRowDefects carry out a change and alter another row with it, or show the change in
// one view and not in another.
func otherRowDefects() []Defect {
	return slices.Concat(createAltersDefects(), deleteAltersDefects(), moveAltersDefects(), variablesAlterDefects(), keptPairs(), sortedValueDefects(), newTestDefects(), vanishingDefects())
}

// altered holds the values that a defect has put into rows, by id and field.
type altered struct {
	mu     sync.Mutex
	values map[string]map[string]any

	changes int
}

// set makes the row show the value.
func (a *altered) set(id, field string, value any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.values == nil {
		a.values = map[string]map[string]any{}
	}
	if a.values[id] == nil {
		a.values[id] = map[string]any{}
	}
	a.values[id][field] = value
}

// count returns the number of changes so far.
func (a *altered) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	return a.changes
}

// numbered returns a valid value of the field that differs with the number.
func numbered(field, value string, n int) string {
	if field == "timestamp_created" {
		return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
	}
	return fmt.Sprint(value, " ", n)
}

// show puts the values into the rows of the resource, whatever the operation.
func (a *altered) show(resource string) Middleware {
	return onAll(func(r Request, answer Response) Response {
		if answer.Status != http.StatusOK || spec.MustOperation(r.Operation).Resource != resource {
			return answer
		}
		body, ok := decode(answer.Body)
		if !ok {
			return answer
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		changed := false
		for _, row := range rowsIn(r.Operation, body) {
			for field, value := range a.values[textOf(row, "id")] {
				row[field], changed = value, true
			}
		}
		if changed {
			answer.Body = encode(body)
		}
		return answer
	})
}

// altering alters rows of a resource after each change of an operation that is served.
func altering(operation, resource string, alter func(a *altered, next Handler, r Request, answer Response)) Middleware {
	return func(next Handler) Handler {
		rows := &altered{}
		return Chain(rows.show(resource), where(operation, anyRequest, func(next Handler, r Request) (Response, error) {
			answer, err := next(r)
			if err == nil && answer.Status == http.StatusOK {
				alter(rows, next, r, answer)
			}
			return answer, err
		}))(next)
	}
}

// createAltersDefects put a value of the created test into the oldest or the newest test of
// the profile.
func createAltersDefects() []Defect {
	const operation = spec.CreatePlacementTest
	var defects []Defect
	for _, field := range []string{"name", "email_subject", "email_body", "emails"} {
		for _, victim := range []struct {
			word, who string
			of        func(ids []string) string
		}{{"first", "the first test of the profile", first}, {"last", "the last test of the profile", last}} {
			defects = append(defects, breakingWith("STATE-CREATE-DISTINCT", operation,
				strings.ReplaceAll("alters-"+field+"-of-"+victim.word, "_", "-"), "puts the "+field+" of a created test into "+victim.who+" too",
				func(a *Target) Middleware {
					id := victim.of(a.Profile.Workspaces[dataset.Main].PlacementTests)
					return altering(operation, "InboxPlacementTest", func(rows *altered, _ Handler, r Request, _ Response) {
						if body, _ := objectIn(r); body[field] != nil && a.asks(dataset.Main)(r) {
							rows.set(id, field, body[field])
						}
					})
				}))
		}
	}
	return defects
}

// deleteAltersDefects put a value of the deleted resource into another one.
func deleteAltersDefects() []Defect {
	var defects []Defect
	for _, d := range []struct {
		operation string
		fields    []string
	}{
		{spec.DeletePlacementTest, []string{"name", "email_subject", "email_body"}},
		{spec.DeleteSubsequence, []string{"name", "timestamp_created"}},
	} {
		resource := spec.MustOperation(d.operation).Resource
		for _, field := range d.fields {
			for _, victim := range []struct {
				word, who string
				at        func(i int) int
			}{{"next", "the next newer one", func(i int) int { return i + 1 }}, {"one-before", "the next older one", func(i int) int { return i - 1 }}} {
				defects = append(defects, breakingWith("STATE-DELETE-OTHERS", d.operation,
					strings.ReplaceAll("alters-"+field+"-of-"+victim.word, "_", "-"), "puts the "+field+" of a deleted resource into "+victim.who,
					func(a *Target) Middleware {
						return func(next Handler) Handler {
							rows := &altered{}
							return Chain(rows.show(resource), where(d.operation, a.asks(dataset.Main), func(next Handler, r Request) (Response, error) {
								ids := idsInOrder(a.readList(next, listOf[d.operation], a.readerOf(r)))
								answer, err := next(r)
								i, found := slices.BinarySearch(ids, r.ID)
								if at := victim.at(i); found && err == nil && answer.Status == http.StatusOK && at >= 0 && at < len(ids) {
									body, _ := decode(answer.Body)
									value := rowsIn(d.operation, body)[0][field]
									if text, ok := value.(string); ok && field != "timestamp_created" {
										value = text + " of the deleted"
									}
									rows.set(ids[at], field, value)
								}
								return answer, err
							}))(next)
						}
					}))
			}
		}
	}
	return defects
}

// moveAltersDefects alter another lead than the moved one, the moved lead itself, or the
// subsequence, or do not move a lead back.
func moveAltersDefects() []Defect {
	const operation = spec.MoveLead
	var defects []Defect
	for _, field := range []string{"email", "first_name", "last_name"} {
		defects = append(defects, altersNeighbours("LEAD-MOVE-LEAD", operation, field, func(w profile.Workspace) []string { return w.Leads },
			func(value string, n int) string { return fmt.Sprint(n, value) })...)
	}
	defects = append(defects, breaking("LEAD-MOVE-LEAD", operation, "swaps-names", "swaps the first and the last name of a lead with each move",
		func(next Handler) Handler {
			var mu sync.Mutex
			swapped := map[string]bool{}
			return onRows(operation, func(_ Request, rows []map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				for _, row := range rows {
					id := textOf(row, "id")
					if swapped[id] = !swapped[id]; swapped[id] && row["first_name"] != nil && row["last_name"] != nil {
						row["first_name"], row["last_name"] = row["last_name"], row["first_name"]
					}
				}
			})(next)
		}))
	for _, field := range []string{"name", "timestamp_created"} {
		of := map[string]string{"name": "email", "timestamp_created": "timestamp_created"}[field]
		defects = append(defects, breaking("LEAD-MOVE-SUBSEQUENCE", operation, strings.ReplaceAll("alters-"+field+"-of-subsequence", "_", "-"),
			"puts the "+of+" of a moved lead into the "+field+" of its subsequence",
			altering(operation, "Subsequence", func(rows *altered, _ Handler, r Request, answer Response) {
				if body, ok := objectIn(r); ok && textIn(answer, of) != "" {
					rows.set(textOf(body, "subsequence_id"), field, textIn(answer, of))
				}
			})))
	}
	return append(defects, breaking("LEAD-MOVE-SUBSEQUENCE", operation, "not-back", "leaves a lead where it is if it was in the subsequence before",
		func(next Handler) Handler {
			var mu sync.Mutex
			been, at := map[string]bool{}, map[string]any{}
			return onRows(operation, func(_ Request, rows []map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				for _, row := range rows {
					id, to := textOf(row, "id"), textOf(row, "subsequence_id")
					if been[id+to] {
						row["subsequence_id"] = at[id]
					}
					been[id+to], at[id] = true, row["subsequence_id"]
				}
			})(next)
		}))
}

// variablesAlterDefects put a value of the named campaign into another one.
func variablesAlterDefects() []Defect {
	const operation = spec.AddCampaignVariables
	var defects []Defect
	for _, field := range []string{"name", "timestamp_created"} {
		defects = append(defects, altersNeighbours("VARIABLES-CAMPAIGN", operation, field, func(w profile.Workspace) []string { return w.Campaigns },
			func(value string, n int) string { return numbered(field, value, n) })...)
	}
	return defects
}

// altersNeighbours put the field of a changed row, with the number of changes, into the rows
// beside it in the profile.
func altersNeighbours(requirement, operation, field string, of func(profile.Workspace) []string, with func(value string, n int) string) []Defect {
	var defects []Defect
	for _, victim := range []struct {
		word, who string
		step      int
	}{{"next", "the next one of the profile", 1}, {"one-before", "the one before it in the profile", -1}} {
		defects = append(defects, breakingWith(requirement, operation, strings.ReplaceAll("alters-"+field+"-of-"+victim.word, "_", "-"),
			"puts the "+field+" of a changed resource, with the number of changes, into "+victim.who, func(a *Target) Middleware {
				ids := of(a.Profile.Workspaces[dataset.Main])
				return altering(operation, spec.MustOperation(operation).Resource, func(rows *altered, _ Handler, _ Request, answer Response) {
					i := slices.Index(ids, textIn(answer, "id")) + victim.step
					if value := textIn(answer, field); value != "" && i >= 0 && i < len(ids) && len(ids) > 1 {
						rows.set(ids[i], field, with(value, rows.count()))
					}
				})
			}))
	}
	return defects
}

// vanishingDefects remove a row of another list with each change: the first one, or the last.
func vanishingDefects() []Defect {
	var defects []Defect
	for _, d := range []struct{ requirement, operation, list, which string }{
		{"STATE-CREATE-DISTINCT", spec.CreatePlacementTest, spec.ListTagMappings, "first"},
		{"STATE-CREATE-DISTINCT", spec.CreatePlacementTest, spec.ListSubsequences, "last"},
		{"STATE-DELETE-OTHERS", spec.DeletePlacementTest, spec.ListPlacementReports, "first"},
		{"STATE-DELETE-OTHERS", spec.DeletePlacementTest, spec.ListWebhookEvents, "last"},
		{"STATE-DELETE-OTHERS", spec.DeletePlacementTest, spec.ListLeadLabels, "first"},
		{"STATE-DELETE-OTHERS", spec.DeleteSubsequence, spec.ListPlacementTests, "first"},
		{"STATE-DELETE-OTHERS", spec.DeleteSubsequence, spec.ListWebhookEvents, "first"},
		{"LEAD-MOVE-SUBSEQUENCE", spec.MoveLead, spec.ListLeadLists, "last"},
		{"LEAD-MOVE-SUBSEQUENCE", spec.MoveLead, spec.ListPhoneNumbers, "first"},
		{"VARIABLES-CAMPAIGN", spec.AddCampaignVariables, spec.ListSubsequences, "first"},
		{"VARIABLES-CAMPAIGN", spec.AddCampaignVariables, spec.ListDFYOrders, "last"},
	} {
		defects = append(defects, breakingWith(d.requirement, d.operation, "takes-"+d.which+"-of-"+d.list, "also removes the "+d.which+" row of "+d.list, func(a *Target) Middleware {
			return func(next Handler) Handler {
				var changes atomic.Int64
				hide := withItems(d.list, func(r Request, page any, items []any) []any {
					most := min(int(changes.Load()), len(items))
					switch {
					case r.Query.Has("sort_order"): // it may be the other end
					case d.which == "first" && a.isFirst(r, page):
						items = items[most:]
					case d.which == "last" && isLast(r, page):
						items = items[:len(items)-most]
					}
					return items
				})
				count := onAnswer(d.operation, http.StatusOK, func(_ Request, answer Response) Response {
					changes.Add(1)
					return answer
				})
				return Chain(hide, count)(next)
			}
		}))
	}
	return defects
}

// keptPairs keep the deleted tests in which two fields have certain values.
func keptPairs() []Defect {
	type kind struct{ field, value string }
	kinds := []kind{{"status", "1"}, {"status", "2"}, {"status", "3"}, {"type", "1"}, {"type", "2"},
		{"sending_method", "1"}, {"sending_method", "2"}, {"delivery_mode", "1"}, {"delivery_mode", "2"}}
	var defects []Defect
	for i, one := range kinds {
		for _, other := range kinds[i+1:] {
			sends := one == kind{"status", "1"} && other == kind{"sending_method", "1"} // a run sends no email
			if one.field == other.field || sends {
				continue
			}
			defects = append(defects, breakingWith("STATE-DELETE-LIST", spec.DeletePlacementTest,
				strings.ReplaceAll("keeps-"+one.field+"-"+one.value+"-with-"+other.field+"-"+other.value, "_", "-"),
				"reports the deletion of tests with "+one.field+" "+one.value+" and "+other.field+" "+other.value+" and keeps them",
				notDeletingSome(spec.DeletePlacementTest, func(row map[string]any) bool {
					return fmt.Sprint(row[one.field]) == one.value && fmt.Sprint(row[other.field]) == other.value
				})))
		}
	}
	return defects
}

// sortedValueDefects show other values in a list that the request sorts.
func sortedValueDefects() []Defect {
	const list = spec.ListPlacementTests
	var defects []Defect
	for _, order := range []string{"asc", "desc"} {
		for _, field := range []string{"tags", "description", "automations"} {
			defects = append(defects, breaking("LIST-SAME-VALUES", list, "sorted-"+order+"-without-"+field,
				"shows no "+field+" in a list with sort_order="+order, onRows(list, func(r Request, rows []map[string]any) {
					for _, row := range rows {
						if r.Query.Get("sort_order") == order && row[field] != nil {
							row[field] = nil
						}
					}
				})))
		}
	}
	return defects
}

// newTestDefects leave a new test out of a list that is searched and filtered by status.
func newTestDefects() []Defect {
	const list = spec.ListPlacementTests
	var defects []Defect
	for _, order := range []string{"", "asc", "desc"} {
		damage, doc := "new-tests-not-searched-by-status", "leaves new tests out of a list with a search text and a status"
		if order != "" {
			damage, doc = damage+"-"+order, doc+" and sort_order="+order
		}
		defects = append(defects, breakingWith("FILTER-STATUS-MISSING", list, damage, doc, func(a *Target) Middleware {
			search, status := a.parameter(list, profile.ParamSearch), a.parameter(list, profile.ParamStatus)
			return func(next Handler) Handler {
				made := &creations{}
				hide := withoutRows(list, func(r Request, row map[string]any) bool {
					return r.Query.Has(search) && r.Query.Has(status) && r.Query.Get("sort_order") == order && made.sent(textOf(row, "id"), "name") != nil
				})
				return Chain(hide, made.watch)(next)
			}
		}))
	}
	return defects
}

func last(ids []string) string { return ids[len(ids)-1] }
