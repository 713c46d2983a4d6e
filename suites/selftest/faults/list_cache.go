package faults

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"

	lists "outreach.example/conformance/internal/paging"
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

// listCache reads whole lists of the target and keeps them until a request may
// change something.
type listCache struct {
	next   Handler
	cursor string // the query parameter that takes a cursor

	mu    sync.Mutex
	lists map[string][]listRow
}

// Bounds of the lists that a listCache reads.
const (
	largestPage = "100"
	mostPages   = 2000
)

// read returns all rows that the target shows for the request, whatever page it
// asks for. It reports false if the target does not serve the whole list.
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
	walk := lists.Run(context.Background(), func(_ context.Context, cursor string, _ int) (lists.Page, error) {
		if cursor != "" {
			r.Query.Set(a.cursor, cursor)
		}
		answer, err := a.next(r)
		if err != nil {
			return lists.Page{}, err
		}
		shown, next, ok := pageIn(answer)
		if !ok {
			return lists.Page{}, errors.New("not a page")
		}
		rows = append(rows, shown...)
		page := lists.Page{Cursor: next}
		for _, row := range shown {
			page.Rows = append(page.Rows, lists.Row{Key: row.same()})
		}
		return page, nil
	}, lists.Fixed(0), mostPages) // the request carries the limit
	if !walk.Complete() {
		return nil, false
	}
	if a.lists == nil {
		a.lists = map[string][]listRow{}
	}
	a.lists[key] = rows
	return rows, true
}

// forget drops the cached lists.
func (a *listCache) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists = nil
}

// pageIn decodes a page; ok is false for anything but a 200 with a page.
func pageIn(answer Response) (rows []listRow, cursor string, ok bool) {
	if answer.Status != http.StatusOK {
		return nil, "", false
	}
	value, _ := decodeAround(spec.Operation{Answer: spec.Page}, answer.Body, asWritten)
	page, ok := value.(map[string]any)
	if !ok {
		return nil, "", false
	}
	items, listed := page["items"].([]any)
	cursor, hasCursor := page["next_starting_after"].(string)
	if !listed && page["items"] != nil || !hasCursor && page["next_starting_after"] != nil {
		return nil, "", false
	}
	for _, item := range items {
		text := encode(item)
		value, _ := decode(text)
		fields, _ := value.(map[string]any)
		rows = append(rows, listRow{text, fields})
	}
	return rows, cursor, true
}

// pageOf encodes a page; an empty cursor is omitted.
func pageOf(rows []listRow, cursor string) Response {
	items := make([]any, len(rows))
	for i, row := range rows {
		items[i] = row.doc
	}
	page := map[string]any{"items": items}
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
