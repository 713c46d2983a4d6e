package faults

import (
	"bytes"
	"encoding/json"

	"outreach.example/conformance/spec"
)

// place says which 200 answers show a mistake, and of which operations.
type place struct {
	words string // follow those of a mistake
	when  occasion
	of    func(op spec.Operation) bool
}

var (
	everywhere = place{"", served, func(spec.Operation) bool { return true }}
	// A run may see one deletion of a subsequence only.
	sometimes = place{" in every third response", everyThird, func(op spec.Operation) bool { return op.ID != spec.DeleteSubsequence }}
	atTheEnd  = place{" on the last page", lastPage, isPaged}
	// The only filter of tag mappings takes ids, which may have to exist.
	ifEmpty  = place{" on a page without items", emptyPage, func(op spec.Operation) bool { return isPaged(op) && op.ID != spec.ListTagMappings }}
	inArrays = place{"", served, func(op spec.Operation) bool { return op.Answer == spec.Array }}
	inNoRows = place{" if it is empty", func(x *exchange) bool { return equal([]any{})(x.body()) }, inArrays.of}
)

func isPaged(op spec.Operation) bool { return op.Answer == spec.Page }

// shapeDefects damage 200 answers: status and bytes, the outer form of bodies, and each field
// of each resource.
func shapeDefects() []Defect {
	underItems := value(func(v any) any { return fields{"items": v} })
	nullLast := ofItems(func(items []any) []any { return append(items, nil) })
	const items, cursor = "items", "next_starting_after"
	type spoilt struct {
		words string
		at    place
		do    verb
	}
	defects := fieldDefects()
	for _, table := range []struct {
		breaks spec.ID
		rows   []spoilt
	}{
		{spec.Status200, []spoilt{
			{"answers 201", everywhere, code(201)},
			{"answers 204 without a body", everywhere, reply(plain(204, "text/plain", ""))},
			{"refuses a key that has the permission", sometimes, refuse(403)},
		}},
		{spec.BodyJSON, []spoilt{
			{"truncates the body", everywhere, bytesOf(func(b []byte) []byte { return b[:len(b)-1] })},
			{"puts a byte order mark before the JSON value", everywhere, bytesOf(func(b []byte) []byte { return append([]byte("\ufeff"), b...) })},
			{"sends the JSON value twice", sometimes, bytesOf(func(b []byte) []byte { return append(b, b...) })},
			{"writes a letter in Latin-1", sometimes, bytesOf(func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte("{\"_note\":\"caf\xe9\","), 1) })},
			{"sends no body", ifEmpty, bytesOf(func([]byte) []byte { return nil })},
		}},
		{spec.BodyType, []spoilt{
			{"answers with null", everywhere, value(toNull)},
			{"answers with a string that holds the JSON", sometimes, value(toText)},
			{"wraps the body in an array", sometimes, value(inArray)},
			{"answers with only the items", atTheEnd, value(func(v any) any { return v.(fields)[items] })},
			{"wraps the array in an object", inArrays, underItems},
			{"wraps the array in an object", inNoRows, underItems},
			{"ends the array with null", inArrays, value(nullLast)},
		}},
		{spec.ContentType, []spoilt{
			{"sends the content type text/html", everywhere, header("Content-Type", "text/html; charset=utf-8")},
			{"sends no content type", sometimes, header("Content-Type", "")},
			{"sends a malformed content type", atTheEnd, header("Content-Type", "application/json; charset")},
		}},
		{spec.PageItemsPresent, []spoilt{
			{"omits items", everywhere, member(items, leftOut)},
			{"omits items", ifEmpty, member(items, leftOut)},
		}},
		{spec.PageItemsType, []spoilt{
			{"shows an object for items", ifEmpty, member(items, toObject)},
			{"shows null for items", ifEmpty, member(items, toNull)},
			{"shows a string that holds the JSON for items", sometimes, member(items, toText)},
			{"ends the items with null", atTheEnd, member(items, nullLast)},
		}},
		{spec.PageCursorType, []spoilt{
			{"shows a number for next_starting_after", everywhere, member(cursor, constant(json.Number("100")))},
			{"shows false for next_starting_after", atTheEnd, member(cursor, constant(false))},
			{"shows 0 for next_starting_after", ifEmpty, member(cursor, constant(json.Number("0")))},
			{"shows an object for next_starting_after", sometimes, member(cursor, toObject)},
		}},
	} {
		for _, op := range table.breaks.Operations() {
			for _, s := range table.rows {
				if s.at.of(op) {
					words := s.words + s.at.words
					defects = append(defects, defect(table.breaks, op.ID, words, when(s.at.when, s.do)))
				}
			}
		}
	}
	return defects
}
