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

// decodeAround decodes the body of a 200 answer with what row makes of the text of each
// resource. ok is false for invalid JSON.
func decodeAround(op spec.Operation, body []byte, row func(text []byte) (any, bool)) (value any, ok bool) {
	if op.Answer == spec.One {
		return row(body)
	}
	made := func(texts []json.RawMessage) []any {
		items := make([]any, len(texts))
		for i, text := range texts {
			items[i], _ = row(text)
		}
		return items
	}
	var texts []json.RawMessage
	if op.Answer == spec.Array {
		if json.Unmarshal(body, &texts) == nil {
			return made(texts), true
		}
		return decode(body)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members == nil || json.Unmarshal(members["items"], &texts) != nil {
		return decode(body)
	}
	around := map[string]any{}
	for name, text := range members {
		around[name], _ = decode(text)
	}
	around["items"] = made(texts)
	return around, true
}

// asWritten leaves the text of a row as it is.
func asWritten(text []byte) (any, bool) { return json.RawMessage(text), true }
