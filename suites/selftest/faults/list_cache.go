package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// listRow is one row of a list, as bytes and decoded.
type listRow struct {
	doc    json.RawMessage
	fields map[string]any
}

// text returns a string field; "" for anything else.
func (r listRow) text(field string) string { return textOf(r.fields, field) }

// same returns the identity of a row: its id, or the whole row if it has none.
func (r listRow) same() string {
	if id := r.text("id"); id != "" {
		return id
	}
	return string(r.doc)
}

// listCache reads whole lists from the target and keeps them until a change.
type listCache struct {
	next   Handler
	cursor string // the name of the cursor parameter

	mu    sync.Mutex
	lists map[string][]listRow
}

// The cache requests the largest pages and gives up on an endless list.
const (
	largestPage = "100"
	mostPages   = 2000
)

// read returns all rows of the request's list, whatever page it asks for. ok is
// false if the target does not serve the list.
func (a *listCache) read(r Request) ([]listRow, bool) {
	r = r.clone()
	r.Query.Del(a.cursor)
	r.Query.Set("limit", largestPage)
	key := r.Header.Get("Authorization") + " " + r.Query.Encode()

	a.mu.Lock()
	defer a.mu.Unlock()
	if rows, ok := a.lists[key]; ok {
		return rows, true
	}
	var rows []listRow
	for range mostPages {
		answer, err := a.next(r)
		page, cursor, ok := pageIn(answer)
		if err != nil || !ok {
			return nil, false
		}
		rows = append(rows, page...)
		if cursor == "" || len(page) == 0 {
			if a.lists == nil {
				a.lists = map[string][]listRow{}
			}
			a.lists[key] = rows
			return rows, true
		}
		r.Query.Set(a.cursor, cursor)
	}
	return nil, false
}

// forget drops the cached lists.
func (a *listCache) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists = nil
}

// pageIn decodes a page; ok is false for anything but a 200 with a page.
func pageIn(answer Response) (rows []listRow, cursor string, ok bool) {
	var page struct {
		Items []json.RawMessage `json:"items"`
		Next  *string           `json:"next_starting_after"`
	}
	if answer.Status != http.StatusOK || json.Unmarshal(answer.Body, &page) != nil {
		return nil, "", false
	}
	for _, doc := range page.Items {
		value, _ := decode(doc)
		fields, _ := value.(map[string]any)
		rows = append(rows, listRow{doc, fields})
	}
	if page.Next != nil {
		cursor = *page.Next
	}
	return rows, cursor, true
}

// pageOf encodes a page; an empty cursor is omitted.
func pageOf(rows []listRow, cursor string) Response {
	docs := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		docs[i] = row.doc
	}
	page := map[string]any{"items": docs}
	if cursor != "" {
		page["next_starting_after"] = cursor
	}
	return jsonAnswer(http.StatusOK, page)
}

// without returns the rows that are not in others.
func without(rows, others []listRow) []listRow {
	known := keysOf(others)
	return slices.DeleteFunc(slices.Clone(rows), func(r listRow) bool { return known[r.same()] })
}

// among returns the rows that are in others.
func among(rows, others []listRow) []listRow {
	known := keysOf(others)
	return slices.DeleteFunc(slices.Clone(rows), func(r listRow) bool { return !known[r.same()] })
}

func keysOf(rows []listRow) map[string]bool {
	return maps.Collect(func(yield func(string, bool) bool) {
		for _, r := range rows {
			if !yield(r.same(), true) {
				return
			}
		}
	})
}

// reversed returns the rows from the last to the first.
func reversed(rows []listRow) []listRow {
	rows = slices.Clone(rows)
	slices.Reverse(rows)
	return rows
}

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
	cursor, ok := a.Profile.Parameter(r.Operation, profile.MeaningStartingAfter)
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
	cache := listCache{next: next, cursor: a.parameter(operation, profile.MeaningStartingAfter)}
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
