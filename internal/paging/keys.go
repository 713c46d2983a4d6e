package paging

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// maxKey is the length of the longest key, in bytes.
const maxKey = 512

// KeyOf returns the key of a decoded row of the resource: its id or, if it shows no id, its
// documented fields. A server may add fields of its own, which may differ from one response
// to the next. A row that has no documented field is its whole content. Long keys are
// shortened.
func KeyOf(resource string, row map[string]any) string {
	if id, ok := row["id"].(string); ok {
		return FoldID(id)
	}
	content := spec.Documented(resource, row)
	if len(content) == 0 {
		content = row
	}
	encoded, err := json.Marshal(content) // sorts the members
	if err != nil {
		panic(fmt.Sprintf("paging: a decoded row cannot be written: %v", err))
	}
	return schemas.Shorten(string(encoded), maxKey)
}

// uuidLength is the length of a UUID as text, in bytes.
const uuidLength = 36

// FoldID returns a UUID in lower case and any other text unchanged, unless it is too
// long for a key. Both cases of a UUID name the same thing (RFC 9562).
func FoldID(text string) string {
	if len(text) != uuidLength || uuid.Validate(text) != nil {
		return schemas.Shorten(text, maxKey)
	}
	return strings.ToLower(text)
}
