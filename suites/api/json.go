package api

import (
	"encoding/json"
	"fmt"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/schemas"
)

func ClipJSON(value any) string {
	text, _ := json.Marshal(value)
	return judge.Clip(string(text))
}

// Normalize turns Go values and decoded JSON into one form.
func Normalize(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("suites: %v is not JSON: %v", value, err))
	}
	normal, err := schemas.Decode(encoded)
	if err != nil {
		panic(fmt.Sprintf("suites: %s cannot be read back: %v", encoded, err))
	}
	return normal
}

// Readable renders what was found, bounded.
func Readable(value any) string {
	if r, ok := value.(Response); ok {
		return r.Describe()
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		encoded = fmt.Append(nil, value)
	}
	return judge.Clip(string(encoded))
}
