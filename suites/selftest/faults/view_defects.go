package faults

import (
	"maps"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// viewDefects show some keys of a workspace other rows than others.
func viewDefects() []Defect {
	const requirement = "SCOPE-SAME-ROWS"
	second := asker{"second-key", "another key of the workspace with all:all", func(a *Target, r Request) bool {
		key, ok := a.keyOf(r)
		return ok && key.State == profile.KeyActive && key.Workspace == dataset.Main && slices.Contains(key.Scopes, "all:all") &&
			key.Token != a.key(dataset.Main)
	}}
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		op := spec.MustOperation(operation)
		askers := []asker{second}
		for _, scope := range op.Scope.Alternatives()[:3] {
			askers = append(askers, holdingOnly(scope))
		}
		for _, by := range askers {
			shows := func(damage, what string, change func(a *Target, r Request, body any) any) {
				defects = append(defects, breakingWith(requirement, operation, by.name+"-"+damage, "shows "+by.who+" "+what, func(a *Target) Middleware {
					return onBody(operation, http.StatusOK, func(r Request, body any) any {
						if by.fits(a, r) {
							return change(a, r, body)
						}
						return body
					})
				}))
			}
			shows("sees-another-time", "another timestamp_created in the last row", func(_ *Target, _ Request, body any) any {
				for _, row := range finalRow(rowsIn(operation, body)) {
					row["timestamp_created"] = "2024-02-29T00:00:00.000Z"
				}
				return body
			})
			if operation == spec.GetPlacementTest {
				shows("sees-no-metadata", "no metadata", func(_ *Target, _ Request, body any) any {
					for _, row := range rowsIn(operation, body) {
						delete(row, "metadata")
					}
					return body
				})
			}
			if op.Answer == spec.One {
				continue
			}
			shows("sees-fewer-rows", "all rows but the last", func(_ *Target, _ Request, body any) any {
				return changingItems(body, func(items []any) []any { return items[:max(0, len(items)-1)] })
			})
			if operation == spec.ListDFYOrders {
				continue // an order has no id to change
			}
			shows("sees-more-rows", "a row that nobody else sees", func(a *Target, r Request, body any) any {
				rows := rowsIn(operation, body)
				if op.Answer == spec.Page && !isLast(r, body) || len(rows) == 0 {
					return body
				}
				extra := maps.Clone(rows[len(rows)-1])
				extra["id"] = anotherID(textOf(extra, "id"))
				return changingItems(body, func(items []any) []any { return append(items, extra) })
			})
		}
	}
	return defects
}

// changingItems changes the items of a page or a plain array.
func changingItems(body any, change func([]any) []any) any {
	switch body := body.(type) {
	case map[string]any:
		if items, ok := body["items"].([]any); ok {
			body["items"] = change(items)
		}
	case []any:
		return change(body)
	}
	return body
}
