package faults

import (
	"bytes"
	"sync"

	"github.com/goccy/go-json"

	"outreach.example/conformance/spec"
)

// decode decodes a JSON body and keeps numbers as written; ok is false for invalid JSON.
func decode(body []byte) (any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	return value, decoder.Decode(&value) == nil
}

// decodedOrNil returns the value of a body; nil for invalid JSON.
func decodedOrNil(body []byte) any {
	value, _ := decode(body)
	return value
}

// encode encodes a value from decode.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("faults: cannot encode a body: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// encoded writes the JSON of answers in another way, by the operation and the value alone. A
// fault has one such verb at most.
func encoded(write func(operation string, value any) []byte) verb {
	return func(x *exchange) {
		if x.forward() {
			x.answer.Body = x.memory.rewritten.of(x.Operation, x.answer.Body, func(body []byte) []byte {
				if value, ok := decode(body); ok {
					return write(x.Operation, value)
				}
				return body
			})
		}
	}
}

// resources changes every resource of a kind, "" for any, in 200 answers, by its operation
// and its value alone.
func resources(kind string, change func(operation string, row map[string]any)) rule {
	return when(all(served, func(x *exchange) bool { return kind == "" || spec.MustOperation(x.Operation).Resource == kind }),
		encoded(func(operation string, value any) []byte {
			for _, row := range rowsIn(operation, value) {
				change(operation, row)
			}
			return encode(value)
		}))
}

// bodies rewrites each body once and keeps what became of it: targets answer the same again
// and again.
type bodies struct {
	mu   sync.Mutex
	made map[string][]byte
	size int // bytes of all bodies
}

// mostBodies bounds what is kept of one target, in bytes.
const mostBodies = 24 << 20

func (b *bodies) of(operation string, body []byte, write func([]byte) []byte) []byte {
	b.mu.Lock()
	made, known := b.made[operation+string(body)]
	b.mu.Unlock()
	if known {
		return made
	}
	made = write(body)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size += len(body) + len(made); b.made == nil || b.size > mostBodies {
		b.made, b.size = map[string][]byte{}, len(body)+len(made)
	}
	b.made[operation+string(body)] = made
	return made
}
