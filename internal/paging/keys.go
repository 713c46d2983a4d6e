package paging

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/google/uuid"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// maxKey is the length of the longest key, in bytes.
const maxKey = 512

// KeyOf returns the key of a decoded row: its id, or its content if it shows no id. Members
// that no resource documents do not count, unless there is nothing else: a server may add
// some, and they may differ from one response to the next. Long keys are shortened.
func KeyOf(row map[string]any) string {
	if id, ok := row["id"].(string); ok {
		return FoldID(id)
	}
	content := maps.Clone(row)
	maps.DeleteFunc(content, func(name string, _ any) bool { return !documented()[name] })
	if len(content) == 0 {
		content = row
	}
	encoded, err := json.Marshal(content) // sorts the members
	if err != nil {
		panic(fmt.Sprintf("paging: a decoded row cannot be written: %v", err))
	}
	return schemas.Shorten(string(encoded), maxKey)
}

// documented returns the names of the members that some resource documents.
var documented = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, f := range spec.Fields() {
		name, _, _ := strings.Cut(f.Path, ".")
		names[name] = true
	}
	return names
})

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
