package faults

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"outreach.example/conformance/spec"
)

// place says which 200 answers show a mistake, and of which operations.
type place struct {
	id, words string // both empty for all answers
	when      occasion
	of        func(op spec.Operation) bool
}

var (
	everywhere = place{"", "", served, func(spec.Operation) bool { return true }}
	// A run may see one deletion of a subsequence only.
	sometimes = place{"every-third-time", "in every third response", everyThird, func(op spec.Operation) bool { return op.ID != spec.DeleteSubsequence }}
	onPages   = place{"", "", served, isPaged}
	atTheEnd  = place{"on-the-last-page", "on the last page of the list", lastPage, isPaged}
	// The only filter of tag mappings takes ids, which may have to exist.
	ifEmpty = place{"when-it-is-empty", "on a page without items", emptyPage, func(op spec.Operation) bool {
		return isPaged(op) && op.ID != spec.ListTagMappings
	}}
	inArrays      = place{"", "", served, func(op spec.Operation) bool { return op.Answer == spec.Array }}
	inEmptyArrays = place{"when-it-is-empty", "that is empty", func(x *exchange) bool { return equal([]any{})(x.body()) }, inArrays.of}
)

func isPaged(op spec.Operation) bool { return op.Answer == spec.Page }

// shapeDefects damage 200 answers: status and bytes, the outer form of bodies, and each field
// of each resource.
func shapeDefects() []Defect {
	underItems := func(v any) any { return map[string]any{"items": v} }
	onlyItems := func(v any) any { return v.(map[string]any)["items"] }
	nullLast := ofItems(func(items []any) []any { return append(items, nil) })
	wrappedLast := ofItems(func(items []any) []any {
		if last := len(items) - 1; last >= 0 {
			items[last] = inArray(items[last])
		}
		return items
	})
	var defects []Defect
	for _, d := range []struct {
		breaks    spec.ID
		id, words string
		at        place
		spoil     verb
	}{
		{spec.Status200, "201", "answers with 201", everywhere, code(http.StatusCreated)},
		{spec.Status200, "204", "answers with 204 and no body", everywhere, reply(Response{Status: http.StatusNoContent, Header: http.Header{}})},
		{spec.Status200, "302", "redirects to the same URL", sometimes, code(http.StatusFound)},
		{spec.Status200, "403", "refuses a key that has the permission", sometimes, refuse(http.StatusForbidden)},
		{spec.Status200, "206", "answers with 206", atTheEnd, code(http.StatusPartialContent)},

		{spec.BodyJSON, "body-truncated", "truncates the body", everywhere, bytesOf(func(b []byte) []byte { return b[:max(0, len(b)-3)] })},
		{spec.BodyJSON, "byte-order-mark", "puts a byte order mark before the JSON value", everywhere, prefix("\ufeff")},
		{spec.BodyJSON, "two-values", "sends the JSON value twice, one per line", sometimes, bytesOf(func(b []byte) []byte { return bytes.Join([][]byte{b, b}, []byte("\n")) })},
		{spec.BodyJSON, "latin-1", "writes a letter in Latin-1", sometimes, insideObject("\"_note\":\"caf\xe9\",")},
		{spec.BodyJSON, "not-a-number", "writes NaN for a number", atTheEnd, insideObject(`"_ratio":NaN,`)},
		{spec.BodyJSON, "raw-newline", "writes a line break inside a string", sometimes, insideObject("\"_note\":\"one\ntwo\",")},
		{spec.BodyJSON, "body-empty", "sends no body", ifEmpty, bytesOf(func([]byte) []byte { return nil })},

		{spec.BodyType, "null", "answers with null", everywhere, value(toNull)},
		{spec.BodyType, "in-a-string", "answers with a string that holds the JSON", sometimes, value(toText)},
		{spec.BodyType, "in-an-array", "wraps the body in an array", sometimes, value(inArray)},
		{spec.BodyType, "bare-items", "answers with only the items", onPages, value(onlyItems)},
		{spec.BodyType, "in-items", "wraps the array in an object", inArrays, value(underItems)},
		{spec.BodyType, "in-items", "wraps the array in an object", inEmptyArrays, value(underItems)},
		{spec.BodyType, "last-item-null", "ends the array with null", inArrays, value(nullLast)},

		{spec.ContentType, "text-html", "sends the content type text/html", everywhere, header("Content-Type", "text/html; charset=utf-8")},
		{spec.ContentType, "no-content-type", "sends no content type", sometimes, header("Content-Type", "")},
		{spec.ContentType, "half-a-parameter", "sends a malformed content type", atTheEnd, header("Content-Type", "application/json; charset")},

		{spec.PageItemsPresent, "items-left-out", "omits items", everywhere, member("items", leftOut)},
		{spec.PageItemsPresent, "items-left-out", "omits items", atTheEnd, member("items", leftOut)},
		{spec.PageItemsPresent, "items-left-out", "omits items", ifEmpty, member("items", leftOut)},

		{spec.PageItemsType, "items-keyed-by-position", "shows an object with numbered members for items", everywhere, member("items", keyedByPosition)},
		{spec.PageItemsType, "items-null", "shows null for items", ifEmpty, member("items", toNull)},
		{spec.PageItemsType, "items-an-object", "shows an object for items", ifEmpty, member("items", keyedByPosition)},
		{spec.PageItemsType, "items-in-a-string", "shows a string that holds the JSON for items", sometimes, member("items", toText)},
		{spec.PageItemsType, "last-item-null", "ends the items with null", atTheEnd, member("items", nullLast)},
		{spec.PageItemsType, "last-item-in-an-array", "wraps an item in an array", sometimes, member("items", wrappedLast)},

		{spec.PageCursorType, "cursor-a-number", "shows a number for next_starting_after", everywhere, member(cursorMember, constant(json.Number("100")))},
		{spec.PageCursorType, "cursor-false", "shows false for next_starting_after", atTheEnd, member(cursorMember, constant(false))},
		{spec.PageCursorType, "cursor-zero", "shows 0 for next_starting_after", ifEmpty, member(cursorMember, constant(json.Number("0")))},
		{spec.PageCursorType, "cursor-an-object", "shows an object for next_starting_after", sometimes, member(cursorMember, toObject)},
	} {
		for _, op := range d.breaks.Operations() {
			if d.at.of(op) {
				defects = append(defects, defect(d.breaks, op.ID, d.id+" "+d.at.id, strings.TrimSpace(d.words+" "+d.at.words), when(d.at.when, d.spoil)))
			}
		}
	}
	return append(defects, fieldDefects()...)
}

const cursorMember = "next_starting_after"

func prefix(text string) verb {
	return bytesOf(func(b []byte) []byte { return append([]byte(text), b...) })
}

// insideObject inserts text at the begin of the body's first object.
func insideObject(text string) verb {
	return bytesOf(func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte("{"+text), 1) })
}
