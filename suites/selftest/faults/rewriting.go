package faults

import (
	"bytes"
	"encoding/json"

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

// encoded writes the JSON of answers in another way.
func encoded(write func(value any) []byte) verb {
	return bytesOf(func(body []byte) []byte {
		if value, ok := decode(body); ok {
			return write(value)
		}
		return body
	})
}

// resources changes every resource of a kind, "" for any, in 200 answers.
func resources(kind string, change func(row map[string]any)) rule {
	return when(shows(kind), rows(eachRow, func(_ *exchange, row map[string]any) { change(row) }))
}

// shows is a request whose answer shows resources of a kind, "" for any.
func shows(kind string) occasion {
	return func(x *exchange) bool { return kind == "" || spec.MustOperation(x.Operation).Resource == kind }
}
