package faults

import (
	"encoding/json"
	"net/http"
	"sync"

	"outreach.example/conformance/spec"
)

// rewriting rewrites the JSON of an answer. row says what becomes of a resource in a 200
// answer, by its operation and its value alone; rest what becomes of all else, in which the
// resources are json.RawMessage already. A fault has one such verb at most.
func rewriting(row func(operation string, value any) []byte, rest func(value any) []byte) verb {
	return func(x *exchange) {
		if !x.forward() {
			return
		}
		if x.answer.Status == http.StatusOK {
			x.answer.Body = x.memory.rewritten.rewrite(spec.MustOperation(x.Operation), x.answer.Body, row, rest)
		} else if value, ok := decode(x.answer.Body); ok {
			x.answer.Body = rest(value)
		}
	}
}

// encoded writes the JSON of answers in another way. A value may hold a json.RawMessage that
// write has made.
func encoded(write func(value any) []byte) verb {
	return rewriting(func(_ string, row any) []byte { return write(row) }, write)
}

// resources changes every resource of a kind, "" for any, in 200 answers, by its operation
// and its value alone.
func resources(kind string, change func(operation string, row map[string]any)) rule {
	return when(all(served, func(x *exchange) bool { return kind == "" || spec.MustOperation(x.Operation).Resource == kind }),
		rewriting(func(operation string, value any) []byte {
			if row, ok := value.(map[string]any); ok {
				change(operation, row)
			}
			return encode(value)
		}, encode))
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
