package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	lists "outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// row is one row of a list, as bytes and decoded.
type row struct {
	doc    json.RawMessage
	fields fields
	rank   string // its place in the order of the list: its id or, if it has none, its position
}

func newRow(fields fields, rank string) row { return row{encode(fields), fields, rank} }

// text returns a string field; "" for anything else.
func (r row) text(field string) string { return textOf(r.fields, field) }

// same returns the identity of a row: its id, or the whole row if it has none.
func (r row) same() string {
	if id := r.text("id"); id != "" {
		return id
	}
	return string(r.doc)
}

// Bounds of the lists that a fault reads.
const (
	largestPage = "100"
	mostPages   = 2000
)

// list returns all rows that the target shows for the request, whatever page it asks for. It
// reports false if the target does not serve the whole list.
func (x *exchange) list(r Request) ([]row, bool) {
	cursor := x.mustParameter(r.Operation, profile.ParamStartingAfter)
	r = r.clone()
	r.Query.Del(cursor)
	r.Query.Set("limit", largestPage)
	key := r.Operation + " " + r.Header.Get("Authorization") + " " + r.Query.Encode()
	m := x.memory
	m.reading.Lock()
	defer m.reading.Unlock()
	if rows, ok := m.lists[key]; ok {
		return rows, true
	}
	var rows []row
	walk := lists.Run(context.Background(), func(_ context.Context, after string, _ int) (lists.Page, error) {
		if after != "" {
			r.Query.Set(cursor, after)
		}
		answer, err := x.next(r)
		if err != nil {
			return lists.Page{}, err
		}
		shown, next, ok := pageIn(answer)
		if !ok {
			return lists.Page{}, errors.New("not a page")
		}
		page := lists.Page{Cursor: next}
		for _, row := range shown {
			if row.rank = strings.ToLower(row.text("id")); row.rank == "" {
				row.rank = fmt.Sprintf("%08d", len(rows))
			}
			rows = append(rows, row)
			page.Rows = append(page.Rows, lists.Row{Key: row.same()})
		}
		return page, nil
	}, lists.Fixed(0), mostPages) // the request carries the limit
	if !walk.Complete() {
		return nil, false
	}
	if m.lists == nil {
		m.lists = map[string][]row{}
	}
	m.lists[key] = rows
	return rows, true
}

// listFor returns all rows of a list for a key; nil if the list is not served.
func (x *exchange) listFor(operation, token string) []row {
	rows, _ := x.list(ownRequest(operation, token))
	return rows
}

// ownRequest returns a request by the fault itself, without an id.
func ownRequest(operation, token string) Request {
	return Request{Header: http.Header{}}.redirected(operation, "").withToken(token)
}

// listOf returns the list that shows the resources of an operation.
func listOf(operation string) string {
	resource := spec.MustOperation(operation).Resource
	for _, op := range spec.Operations() {
		if op.Resource == resource && op.Answer == spec.Page {
			return op.ID
		}
	}
	return ""
}

// rowByID returns the row with an id from a key's list of the operation's resources.
func (x *exchange) rowByID(token, id string) (fields, bool) {
	rows := x.listFor(listOf(x.Operation), token)
	i := slices.IndexFunc(rows, func(r row) bool { return strings.EqualFold(r.text("id"), id) })
	if i < 0 {
		return nil, false
	}
	return copyOf(rows[i].fields).(fields), true
}

func copyOf(v any) any { return decodedOrNil(encode(v)) }

// pageIn decodes a page; ok is false for anything but a 200 with a page.
func pageIn(answer Response) (rows []row, cursor string, ok bool) {
	if answer.Status != http.StatusOK {
		return nil, "", false
	}
	var page struct {
		Items []json.RawMessage `json:"items"`
		Next  string            `json:"next_starting_after"`
	}
	if json.Unmarshal(answer.Body, &page) != nil {
		return nil, "", false
	}
	for _, text := range page.Items {
		fields, _ := decodedOrNil(text).(fields)
		rows = append(rows, row{doc: text, fields: fields})
	}
	return rows, page.Next, true
}

// pageOf encodes a page; an empty cursor is omitted.
func pageOf(rows []row, cursor string) Response {
	docs := make([][]byte, len(rows))
	for i, row := range rows {
		docs[i] = row.doc
	}
	end := "]}"
	if cursor != "" {
		end = fmt.Sprintf(`],"next_starting_after":%s}`, encode(cursor))
	}
	answer := jsonAnswer(http.StatusOK, nil)
	answer.Body = slices.Concat([]byte(`{"items":[`), bytes.Join(docs, []byte(",")), []byte(end))
	return answer
}

// without returns the rows that are not in others.
func without(rows, others []row) []row {
	known := keysOf(others)
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return known[r.same()] })
}

// among returns the rows that are in others.
func among(rows, others []row) []row {
	return without(rows, without(rows, others))
}

func keysOf(rows []row) map[string]bool {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.same()] = true
	}
	return known
}

// reversed returns the rows from the last to the first.
func reversed(rows []row) []row {
	rows = slices.Clone(rows)
	slices.Reverse(rows)
	return rows
}

// written returns a time as the specification writes it.
func written(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// hashed returns a 40-bit hash: small enough for a timestamp within 35 years.
func hashed(text string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return int(h.Sum64() >> 24)
}
