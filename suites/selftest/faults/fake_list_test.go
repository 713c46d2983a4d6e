package faults

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"outreach.example/conformance/fixtures/profile"
)

// fakeList is a conforming list: rows in their order, the id of a page's last
// row as cursor, and at most one filter.
type fakeList struct {
	operation string
	rows      []listRow
	filter    string // name of the parameter that selects rows
	selects   func(row map[string]any, value string) bool
	asked     int // requests that it answered
}

// fakeRows returns rows with an id and the fields set by fill.
func fakeRows(n int, fill ...func(i int, fields map[string]any)) []listRow {
	rows := make([]listRow, n)
	for i := range rows {
		// The end of an id does not sort as the id does.
		fields := map[string]any{"id": fmt.Sprintf("01900000-%04x-7000-8000-%012x", i, i*7919%10007)}
		for _, f := range fill {
			f(i, fields)
		}
		rows[i] = listRow{encode(fields), fields}
	}
	return rows
}

func (l *fakeList) answer(r Request) (Response, error) {
	l.asked++
	if r.Operation != l.operation {
		return jsonAnswer(http.StatusOK, map[string]any{"id": r.ID}), nil
	}
	size := sizeOf(r.Query.Get("limit"))
	if size == 0 {
		return refusal(http.StatusBadRequest), nil
	}
	var list []listRow
	for _, row := range l.rows {
		if value := r.Query.Get(l.filter); l.filter == "" || value == "" || l.selects(row.fields, value) {
			list = append(list, row)
		}
	}
	if cursor := r.Query.Get("starting_after"); cursor != "" {
		at := slices.IndexFunc(list, func(row listRow) bool { return row.text("id") == cursor })
		list = list[at+1:]
	}
	if len(list) <= size {
		return pageOf(list, ""), nil
	}
	return pageOf(list[:size], list[size-1].text("id")), nil
}

// tour is the result of a walk.
type tour struct {
	ids     []string
	longest int // rows of the longest page
	pages   int
	ends    bool
}

// fakeWalk walks a list; limit 0 sends none. A repeated cursor or too many
// pages end it.
func fakeWalk(t *testing.T, h Handler, operation string, limit int, query url.Values) tour {
	t.Helper()
	var w tour
	seen := map[string]bool{}
	r := Request{Operation: operation, Method: http.MethodGet, Header: http.Header{}, Query: query}.clone()
	if limit > 0 {
		r.Query.Set("limit", strconv.Itoa(limit))
	}
	for w.pages < 1000 {
		answer, err := h(r.clone())
		rows, cursor, ok := pageIn(answer)
		if err != nil || !ok {
			t.Fatalf("page %d: status %d, error %v", w.pages+1, answer.Status, err)
		}
		w.pages++
		w.longest = max(w.longest, len(rows))
		for _, row := range rows {
			w.ids = append(w.ids, row.text("id"))
		}
		if cursor == "" || len(rows) == 0 {
			w.ends = true
			return w
		}
		if seen[cursor] {
			return w
		}
		seen[cursor] = true
		r.Query.Set("starting_after", cursor)
	}
	return w
}

func (w tour) repeats() bool {
	return len(slices.Compact(slices.Sorted(slices.Values(w.ids)))) < len(w.ids)
}

// lacks returns the ids that are missing from the tour.
func (w tour) lacks(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(w.ids, id) })
}

// sortedOneWay reports whether the ids ascend or descend.
func (w tour) sortedOneWay() bool {
	back := slices.Clone(w.ids)
	slices.Reverse(back)
	return slices.IsSorted(w.ids) || slices.IsSorted(back)
}

func everyID(rows []listRow) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.text("id")
	}
	return ids
}

// aroundEmbedded returns the reference server as a fault's target.
func aroundEmbedded() *Target { return &Target{Profile: profile.Embedded(), Seed: 1} }
