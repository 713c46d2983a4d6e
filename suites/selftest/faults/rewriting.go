package faults

import (
	"encoding/json"
	"net/http"
	"sync"

	"outreach.example/conformance/spec"
)

// rewriting rewrites the JSON of answers that fit. row says what becomes of a resource in a
// 200 answer, by its operation and its value alone; rest what becomes of all else, in which
// the resources are json.RawMessage already.
func rewriting(fits func(Request, Response) bool, row func(operation string, value any) []byte, rest func(value any) []byte) Middleware {
	return func(next Handler) Handler {
		var rows rowsOnce
		return onAll(func(r Request, answer Response) Response {
			if !fits(r, answer) {
				return answer
			}
			if answer.Status == http.StatusOK {
				answer.Body = rows.rewrite(spec.MustOperation(r.Operation), answer.Body, row, rest)
			} else if value, ok := decode(answer.Body); ok {
				answer.Body = rest(value)
			}
			return answer
		})(next)
	}
}

func anyAnswer(Request, Response) bool { return true }

// onResource changes every resource of a kind, "" for any, in all 200 answers, by its
// operation and its value alone.
func onResource(resource string, change func(operation string, row map[string]any)) Middleware {
	fits := func(r Request, answer Response) bool {
		return answer.Status == http.StatusOK && (resource == "" || spec.MustOperation(r.Operation).Resource == resource)
	}
	return rewriting(fits, func(operation string, value any) []byte {
		if row, ok := value.(map[string]any); ok {
			change(operation, row)
		}
		return encode(value)
	}, encode)
}

// rowsOnce rewrites each row once and keeps what became of it: lists show the same rows
// again and again.
type rowsOnce struct {
	mu   sync.Mutex
	made map[rowText]json.RawMessage
	size int // bytes of the rows and of what became of them
}

type rowText struct{ operation, text string }

// mostRows bounds what is kept of the rows of one target, in bytes.
const mostRows = 16 << 20

// rewrite rewrites the body of a 200 answer. It returns a body that is not JSON as it is.
func (o *rowsOnce) rewrite(op spec.Operation, body []byte, row func(operation string, value any) []byte, rest func(value any) []byte) []byte {
	value, ok := decodeAround(op, body, func(text []byte) (any, bool) { return o.row(op.ID, text, row) })
	if !ok {
		return body
	}
	if op.Answer == spec.One {
		return value.(json.RawMessage)
	}
	return rest(value)
}

func (o *rowsOnce) row(operation string, text []byte, write func(operation string, value any) []byte) (any, bool) {
	o.mu.Lock()
	made, known := o.made[rowText{operation, string(text)}]
	o.mu.Unlock()
	if known {
		return made, true
	}
	value, ok := decode(text)
	if !ok {
		return nil, false
	}
	made = write(operation, value)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size += len(text) + len(made); o.made == nil || o.size > mostRows {
		o.made, o.size = map[rowText]json.RawMessage{}, len(text)+len(made)
	}
	o.made[rowText{operation, string(text)}] = made
	return made, true
}

// decodeAround decodes the body of a 200 answer with what row makes of the text of each
// resource. ok is false for invalid JSON.
func decodeAround(op spec.Operation, body []byte, row func(text []byte) (any, bool)) (value any, ok bool) {
	if op.Answer == spec.One {
		return row(body)
	}
	p := parser{text: body, row: row, inItems: op.Answer == spec.Page}
	if value, ok = p.value(0); ok {
		return value, true
	}
	if value, ok = decode(body); !ok {
		return nil, false
	}
	p = parser{text: encode(value), row: row, inItems: op.Answer == spec.Page} // without white space
	if around, ok := p.value(0); ok {
		return around, true
	}
	return value, true // no list, or too deep for the parser
}
