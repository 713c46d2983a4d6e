package faults

import (
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// Reading and changing the rows of a list.

// withItems changes the items of the operation's pages or plain arrays.
func withItems(operation string, change func(r Request, page any, items []any) []any) Middleware {
	return onBody(operation, http.StatusOK, func(r Request, body any) any {
		switch body := body.(type) {
		case map[string]any:
			if items, ok := body["items"].([]any); ok {
				body["items"] = change(r, body, items)
			}
		case []any:
			return change(r, body, body)
		}
		return body
	})
}

// withoutRows removes rows from the operation's pages.
func withoutRows(operation string, hidden func(Request, map[string]any) bool) Middleware {
	return withItems(operation, func(r Request, _ any, items []any) []any {
		return slices.DeleteFunc(items, func(item any) bool {
			row, ok := item.(map[string]any)
			return ok && hidden(r, row)
		})
	})
}

// onePage matches the page of a walk that a fault changes.
type onePage func(r Request, page any) bool

// isFirst matches a page requested without a cursor.
func (a *Target) isFirst(r Request, _ any) bool {
	cursor, ok := a.Profile.Parameter(r.Operation, profile.ParamStartingAfter)
	return !ok || !r.Query.Has(cursor)
}

// isLast matches a page without a cursor to the next.
func isLast(_ Request, page any) bool { return textOf(page, "next_starting_after") == "" }

// ownRequest returns a request by the fault itself, without an id.
func ownRequest(operation, token string) Request {
	return Request{Header: http.Header{}}.redirected(operation, "").withToken(token)
}

// readList returns all rows of a list for a key; nil if the list is not served.
func (a *Target) readList(next Handler, operation, token string) []map[string]any {
	cache := listCache{next: next, cursor: a.parameter(operation, profile.ParamStartingAfter)}
	list, _ := cache.read(ownRequest(operation, token))
	rows := make([]map[string]any, 0, len(list))
	for _, row := range list {
		rows = append(rows, row.fields)
	}
	return rows
}

// rowByID returns the row with an id from a key's list.
func (a *Target) rowByID(next Handler, operation, token, id string) (map[string]any, bool) {
	rows := a.readList(next, operation, token)
	i := slices.IndexFunc(rows, func(row map[string]any) bool { return textOf(row, "id") == id })
	if i < 0 {
		return nil, false
	}
	return rows[i], true
}

// listOf maps a deletion to the list that shows its resources.
var listOf = map[string]string{
	spec.DeletePlacementTest: spec.ListPlacementTests,
	spec.DeleteSubsequence:   spec.ListSubsequences,
}

// readerOf returns a token that may read everything in the request's workspace.
func (a *Target) readerOf(r Request) string {
	if key, ok := a.keyOf(r); ok {
		if full, ok := a.Profile.FullKey(key.Workspace); ok {
			return full.Token
		}
	}
	return r.token()
}
