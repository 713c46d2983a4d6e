package faults

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"outreach.example/conformance/spec"
)

// shapeDefects damage 200 answers: status and bytes, the outer form of bodies,
// and each field of each resource.
func shapeDefects() []Defect {
	return slices.Concat(wholeAnswerDefects(), pageFormDefects(), fieldDefects())
}

// defectID joins the parts of an id and omits empty ones.
func defectID(operation string, parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return operation + "/" + idWords.Replace(strings.ToLower(strings.Join(parts, "-")))
}

var idWords = strings.NewReplacer(".", "-", "_", "-", " ", "-")

// sentence joins the words of a Doc and omits empty ones.
func sentence(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// drawn picks by a hash of the key, so that additions elsewhere do not change
// the set of defects.
func drawn[T any](from []T, key string) T {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash.Hash returns no error
	return from[int(h.Sum32())%len(from)]
}

// givesOneAnswer reports whether a run may see only one 200 answer of the
// operation, because its deletion cannot be repeated.
func givesOneAnswer(operation string) bool { return operation == spec.DeleteSubsequence }

// answerDamage is one way to damage a whole 200 answer.
type answerDamage struct {
	breaks, id, words string
	spoil             func(Response) Response
}

// wholeAnswerDefects apply each damage to each operation, some to every answer
// and some occasionally.
func wholeAnswerDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		for _, d := range answerDamages(op) {
			when := drawn(occasionsOf(op), op.ID+d.id)
			defects = append(defects, Defect{
				ID:     defectID(op.ID, d.id, when.id),
				Breaks: spec.Pair{Requirement: d.breaks, Operation: op.ID},
				Doc:    sentence(d.words, when.words),
				Apply:  onOccasion(when, op.ID, d.spoil),
			})
		}
	}
	return defects
}

func answerDamages(op spec.Operation) []answerDamage {
	damages := []answerDamage{
		{"STATUS-200", "201", "answers with 201", withStatus(http.StatusCreated)},
		{"STATUS-200", "202", "answers with 202", withStatus(http.StatusAccepted)},
		{"STATUS-200", "204", "answers with 204 and no body", func(r Response) Response {
			r.Status, r.Body = http.StatusNoContent, nil
			return r
		}},
		{"STATUS-200", "206", "answers with 206", withStatus(http.StatusPartialContent)},
		{"STATUS-200", "302", "redirects to the same URL", withStatus(http.StatusFound)},
		{"STATUS-200", "403", "refuses a key that has the permission", failing(http.StatusForbidden)},
		{"STATUS-200", "500", "answers with 500", failing(http.StatusInternalServerError)},

		{"BODY-JSON", "body-truncated", "truncates the body", editing(func(b []byte) []byte { return b[:len(b)-min(len(b), 3)] })},
		{"BODY-JSON", "body-empty", "sends no body", editing(func([]byte) []byte { return nil })},
		{"BODY-JSON", "trailing-bytes", "sends bytes after the JSON value", editing(func(b []byte) []byte { return append(b, ";\n"...) })},
		{"BODY-JSON", "two-values", "sends the JSON value twice, one per line",
			editing(func(b []byte) []byte { return bytes.Join([][]byte{b, b}, []byte("\n")) })},
		{"BODY-JSON", "byte-order-mark", "puts a byte order mark before the JSON value",
			editing(func(b []byte) []byte { return append([]byte("\ufeff"), b...) })},
		{"BODY-JSON", "guard-prefix", "puts a script-inclusion guard before the JSON value",
			editing(func(b []byte) []byte { return append([]byte(")]}',\n"), b...) })},
		{"BODY-JSON", "callback", "wraps the JSON value in a JSONP call",
			editing(func(b []byte) []byte { return append(append([]byte("callback("), b...), ')') })},
		{"BODY-JSON", "utf-16", "encodes the body in UTF-16", editing(inUTF16)},
		{"BODY-JSON", "latin-1", "writes a letter in Latin-1", insideObject("\"_note\":\"caf\xe9\"")},
		{"BODY-JSON", "not-a-number", "writes NaN for a number", insideObject(`"_ratio":NaN`)},
		{"BODY-JSON", "leading-zero", "writes a number with a leading zero", insideObject(`"_ratio":01`)},
		{"BODY-JSON", "raw-newline", "writes a line break inside a string", insideObject("\"_note\":\"one\ntwo\"")},
		{"BODY-JSON", "trailing-comma", "leaves a comma after the last member", editing(func(b []byte) []byte {
			if end := bytes.LastIndexByte(b, '}'); end >= 0 {
				return append(append(bytes.Clone(b[:end]), ','), b[end:]...)
			}
			return append(bytes.TrimRight(b, "] \r\n"), ",]"...)
		})},

		{"BODY-TYPE", "null", "answers with null", onValue(func(any) any { return nil })},
		{"BODY-TYPE", "in-a-string", "answers with a string that holds the JSON", onValue(func(v any) any { return string(encode(v)) })},

		{"CONTENT-TYPE", "text-html", "sends the content type text/html", announcing("text/html; charset=utf-8")},
		{"CONTENT-TYPE", "text-plain", "sends the content type text/plain", announcing("text/plain; charset=utf-8")},
		{"CONTENT-TYPE", "octet-stream", "sends the content type application/octet-stream", announcing("application/octet-stream")},
		{"CONTENT-TYPE", "no-content-type", "sends no content type", announcing("")},
		{"CONTENT-TYPE", "half-a-parameter", "sends a malformed content type", announcing("application/json; charset")},
	}
	if op.Answer == spec.Array {
		return append(damages,
			answerDamage{"BODY-TYPE", "in-items", "wraps the array in an object", onValue(func(v any) any { return map[string]any{"items": v} })},
			answerDamage{"BODY-TYPE", "in-items-if-empty", "wraps an empty array in an object", onValue(func(v any) any {
				if items, _ := v.([]any); len(items) > 0 {
					return v
				}
				return map[string]any{"items": []any{}}
			})},
			answerDamage{"BODY-TYPE", "keyed-by-position", "answers with an object instead of the array", onValue(keyedByPosition)},
			answerDamage{"BODY-TYPE", "last-item-null", "ends the array with null", onValue(func(v any) any {
				items, _ := v.([]any)
				return append(items, nil)
			})})
	}
	damages = append(damages, answerDamage{"BODY-TYPE", "in-an-array", "wraps the object in an array", onValue(inArray)})
	if op.Answer == spec.Page {
		damages = append(damages, answerDamage{"BODY-TYPE", "bare-items", "answers with only the items", onValue(func(v any) any {
			page, _ := v.(map[string]any)
			return page["items"]
		})})
	}
	return damages
}

func withStatus(status int) func(Response) Response {
	return func(r Response) Response {
		r.Status = status
		return r
	}
}

// failing returns an error of the documented form.
func failing(status int) func(Response) Response {
	return func(r Response) Response {
		r.Status, r.Body = status, refusal(status).Body
		return r
	}
}

func editing(change func([]byte) []byte) func(Response) Response {
	return func(r Response) Response {
		r.Body = change(bytes.Clone(r.Body))
		return r
	}
}

// insideObject inserts text as the first member of the body's first object, or
// of a new object if there is none.
func insideObject(text string) func(Response) Response {
	return editing(func(b []byte) []byte {
		start := bytes.IndexByte(b, '{')
		if start < 0 {
			return []byte("[{" + text + "}]")
		}
		rest := b[start+1:]
		if !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("}")) {
			text += ","
		}
		return append(append(bytes.Clone(b[:start+1]), text...), rest...)
	})
}

func inUTF16(b []byte) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(string(b))) {
		out = append(out, byte(unit>>8), byte(unit))
	}
	return out
}

// onValue changes the decoded body.
func onValue(change func(any) any) func(Response) Response {
	return editing(func(b []byte) []byte {
		if body, ok := decode(b); ok {
			return encode(change(body))
		}
		return b
	})
}

func announcing(contentType string) func(Response) Response {
	return func(r Response) Response {
		r.Header.Del("Content-Type")
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		return r
	}
}

// pageFormDefects damage the two members of a page.
func pageFormDefects() []Defect {
	damages := []struct {
		breaks, id, words string
		when              occasion
		spoil             func(page map[string]any)
	}{
		{"PAGE-ITEMS-PRESENT", "data-for-items", "calls the items of a page “data”", always, func(page map[string]any) {
			page["data"] = page["items"]
			delete(page, "items")
		}},
		{"PAGE-ITEMS-PRESENT", "items-left-out", "omits items", onLastPage, func(page map[string]any) { delete(page, "items") }},
		{"PAGE-ITEMS-PRESENT", "items-left-out", "omits items", whenEmpty, func(page map[string]any) { delete(page, "items") }},

		{"PAGE-ITEMS-TYPE", "items-null", "shows null for items", onLastPage, inMember("items", toNull)},
		{"PAGE-ITEMS-TYPE", "items-null", "shows null for items", whenEmpty, inMember("items", toNull)},
		{"PAGE-ITEMS-TYPE", "items-an-object", "shows an object for items", whenEmpty, inMember("items", keyedByPosition)},
		{"PAGE-ITEMS-TYPE", "items-keyed-by-position", "shows an object with numbered members for items", always,
			inMember("items", keyedByPosition)},
		{"PAGE-ITEMS-TYPE", "items-in-a-string", "shows a string that holds the JSON for items", everyThirdTime, inMember("items", toText)},
		{"PAGE-ITEMS-TYPE", "last-item-null", "ends the items with null", onLastPage, inMember("items", func(v any) any {
			items, _ := v.([]any)
			return append(items, nil)
		})},
		{"PAGE-ITEMS-TYPE", "item-in-an-array", "wraps an item in an array", everyThirdTime, inMember("items", func(v any) any {
			if items, _ := v.([]any); len(items) > 0 {
				items[len(items)-1] = inArray(items[len(items)-1])
			}
			return v
		})},

		{"PAGE-CURSOR-TYPE", "cursor-a-number", "shows a number for next_starting_after", always,
			inMember("next_starting_after", constant(json.Number("100")))},
		{"PAGE-CURSOR-TYPE", "cursor-false", "shows false for next_starting_after", onLastPage, inMember("next_starting_after", constant(false))},
		{"PAGE-CURSOR-TYPE", "cursor-zero", "shows 0 for next_starting_after", onLastPage,
			inMember("next_starting_after", constant(json.Number("0")))},
		{"PAGE-CURSOR-TYPE", "cursor-false", "shows false for next_starting_after", whenEmpty, inMember("next_starting_after", constant(false))},
		{"PAGE-CURSOR-TYPE", "cursor-an-object", "shows an object for next_starting_after", everyThirdTime,
			inMember("next_starting_after", toObject)},
		{"PAGE-CURSOR-TYPE", "cursor-in-an-array", "shows an array for next_starting_after", everyThirdTime,
			inMember("next_starting_after", inArray)},
	}
	var defects []Defect
	for _, op := range spec.Operations() {
		if op.Answer != spec.Page {
			continue
		}
		for _, d := range damages {
			if d.when.id == whenEmpty.id && !canBeEmpty(op.ID) {
				continue
			}
			defects = append(defects, Defect{
				ID:     defectID(op.ID, d.id, d.when.id),
				Breaks: spec.Pair{Requirement: d.breaks, Operation: op.ID},
				Doc:    sentence(d.words, d.when.words),
				Apply: onOccasion(d.when, op.ID, onValue(func(body any) any {
					if page, ok := body.(map[string]any); ok {
						d.spoil(page)
					}
					return body
				})),
			})
		}
	}
	return defects
}

// canBeEmpty reports whether a valid request can select no rows of the list.
func canBeEmpty(operation string) bool {
	switch operation {
	case spec.ListGroupMembers, spec.ListDFYOrders, spec.ListTagMappings:
		return false // no filter, or only ids that may have to exist
	}
	return true
}

// inMember replaces a member of an object.
func inMember(member string, wrong func(any) any) func(map[string]any) {
	return func(object map[string]any) { object[member] = wrong(object[member]) }
}

func constant(v any) func(any) any { return func(any) any { return v } }

func toNull(any) any { return nil }

func toObject(v any) any { return map[string]any{"value": v} }

func inArray(v any) any { return []any{v} }

// toText converts a value to a string: scalars as they are, others as JSON.
func toText(v any) any {
	if text, ok := v.(string); ok {
		return text
	}
	return string(encode(v))
}

// toNumber converts a boolean to 0 or 1, and others to the length of their
// JSON.
func toNumber(v any) any {
	switch v {
	case true:
		return json.Number("1")
	case false:
		return json.Number("0")
	}
	return json.Number(strconv.Itoa(len(encode(v))))
}

// keyedByPosition converts an array to an object, like encoders of languages
// without arrays.
func keyedByPosition(v any) any {
	items, _ := v.([]any)
	object := map[string]any{}
	for i, item := range items {
		object[strconv.Itoa(i)] = item
	}
	return object
}
