package faults

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// queryDefects break what only a combination of parameters shows.
func queryDefects() []Defect { return slices.Concat(valueDefects(), combinationDefects()) }

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

// optional is a field of a list's rows that may be absent, and that some of them show.
var optional = map[string]string{
	spec.ListPlacementTests: "description",
	spec.ListWebhookEvents:  "error_message",
}

// valueDefects show another value of a row to some queries.
func valueDefects() []Defect {
	const requirement = "LIST-SAME-VALUES"
	r, _ := spec.FindRequirement(requirement)
	conditions := []struct {
		name, doc string
		fits      func(r Request, filters []string, rows int) bool
		bound     func(operation string) bool
	}{
		{"on-small-pages", "on pages of less than 10 items", func(r Request, _ []string, _ int) bool {
			size := sizeOf(r.Query.Get("limit"))
			return size > 0 && size < 10
		}, everywhere},
		{"if-filtered", "when a filter is set", func(r Request, filters []string, _ int) bool {
			return slices.ContainsFunc(filters, r.Query.Has)
		}, isFiltered},
		{"if-alone", "when the page has 1 row", func(_ Request, _ []string, rows int) bool { return rows == 1 }, everywhere},
		{"if-sorted", "when sort_order is set", func(r Request, _ []string, _ int) bool { return r.Query.Has("sort_order") },
			func(operation string) bool { return operation == spec.ListPlacementTests }},
	}
	var defects []Defect
	for _, op := range r.Operations {
		field := telling[op]
		for _, c := range conditions {
			if !c.bound(op) {
				continue
			}
			defects = append(defects, breakingWith(requirement, op, field+"-differs-"+c.name, "shows another "+field+" "+c.doc, func(a *Target) Middleware {
				filters := a.filtersOf(op)
				return onRows(op, func(r Request, rows []map[string]any) {
					if !c.fits(r, filters, len(rows)) {
						return
					}
					for _, row := range rows {
						if row[field] != nil {
							row[field] = slightlyOff(row[field])
						}
					}
				})
			}))
		}
	}
	return append(defects, leftOutDefects()...)
}

// leftOutDefects leave a field that may be absent out of the rows of small pages.
func leftOutDefects() []Defect {
	var defects []Defect
	for _, op := range slices.Sorted(maps.Keys(optional)) {
		field := optional[op]
		defects = append(defects, breaking("LIST-SAME-VALUES", op, field+"-left-out-on-small-pages", "shows no "+field+" on pages of less than 10 items",
			onRows(op, func(r Request, rows []map[string]any) {
				if size := sizeOf(r.Query.Get("limit")); size == 0 || size >= 10 {
					return
				}
				for _, row := range rows {
					delete(row, field)
				}
			})))
	}
	return defects
}

func everywhere(string) bool { return true }

func isFiltered(operation string) bool {
	return slices.ContainsFunc(filterTable, func(f filter) bool { return f.operation == operation })
}

// slightlyOff returns another valid value of the same form.
func slightlyOff(value any) any {
	switch value := value.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return at.Add(time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		return value + " again"
	case json.Number:
		n, _ := strconv.ParseInt(value.String(), 10, 64)
		return json.Number(strconv.FormatInt(n+1, 10))
	default:
		return value
	}
}

// combinationDefects lose rows that both of two filters select.
func combinationDefects() []Defect {
	const requirement = "FILTER-COMBINED"
	r, _ := spec.FindRequirement(requirement)
	damages := []struct {
		name, doc string
		change    func(*page)
	}{
		{"shows-nothing", "shows no rows when two filters are set", func(s *page) { s.list = nil }},
		{"loses-the-last", "omits the last row when two filters are set", withoutLast},
		{"loses-the-first", "omits the first row when two filters are set", func(s *page) { s.list = s.list[min(1, len(s.list)):] }},
	}
	var defects []Defect
	for _, op := range r.Operations {
		for _, d := range damages {
			defects = append(defects, breakingWith(requirement, op, "combination-"+d.name, d.doc, func(a *Target) Middleware {
				return a.paged(op, paging{before: func(s *page) {
					if a.filtersIn(s.request, op) < 2 {
						s.size = 0
						return
					}
					d.change(s)
				}})
			}))
		}
	}
	return defects
}

// filtersIn counts the filters of a request. A window is one filter.
func (a *Target) filtersIn(r Request, operation string) int {
	n := 0
	var counted []string
	for _, f := range filterTable {
		meaning := f.meaning
		if meaning == profile.ParamWindowEnd {
			meaning = profile.ParamWindowStart
		}
		if f.operation == operation && r.Query.Has(a.parameter(operation, f.meaning)) && !slices.Contains(counted, meaning) {
			counted = append(counted, meaning)
			n++
		}
	}
	return n
}
