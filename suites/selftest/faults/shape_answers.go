package faults

import (
	"bytes"
	"net/http"
	"unicode/utf16"

	"outreach.example/conformance/spec"
)

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
		{"BODY-JSON", "two-values", "sends the JSON value twice, one per line", editing(func(b []byte) []byte { return bytes.Join([][]byte{b, b}, []byte("\n")) })},
		{"BODY-JSON", "byte-order-mark", "puts a byte order mark before the JSON value", editing(func(b []byte) []byte { return append([]byte("\ufeff"), b...) })},
		{"BODY-JSON", "guard-prefix", "puts a script-inclusion guard before the JSON value", editing(func(b []byte) []byte { return append([]byte(")]}',\n"), b...) })},
		{"BODY-JSON", "callback", "wraps the JSON value in a JSONP call", editing(func(b []byte) []byte { return append(append([]byte("callback("), b...), ')') })},
		{"BODY-JSON", "utf-16", "encodes the body in UTF-16", editing(inUTF16)},
		{"BODY-JSON", "member-twice", "repeats a member of an object", insideObject(`"_note":"a","_note":"a"`)},
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
