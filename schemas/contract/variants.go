package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/schemas/internal/format"
)

// Part is a member of a request body, or a query parameter.
type Part struct {
	Name     string
	Required bool
	Valid    []Variant // each value that the document allows, as far as it knows
	Invalid  []Variant // values that no reading of the document allows
	// Loose are values that the document rules out and that a lenient server turns into
	// valid ones, such as "1" or true for the number 1. A server may take or refuse them.
	Loose []Variant
}

// Variant is one value of a part.
type Variant struct {
	What  string // in words: "a text with quotes"
	Value any    // as JSON has it
	// Open means that the document allows the value, and that no sentence of the
	// specification obliges a server to take it: an empty or a very long text, an object
	// without one of its members.
	Open bool
}

// Schema is a schema of the document.
type Schema = openapi3.Schema

// BodySchema returns the schema of the operation's request body. It panics for an operation
// without a body.
func BodySchema(operation string) *Schema { return bodyOf(operation).Schema.Value }

// Body returns the members of the operation's request body by name; nil for an operation
// without a body.
func Body(operation string) []Part {
	content := bodyOf(operation)
	if content == nil {
		return nil
	}
	var parts []Part
	for _, name := range memberNames(content.Schema.Value) {
		parts = append(parts, Member(operation, name))
	}
	return parts
}

// Member returns one member of the operation's request body. It panics if there is none,
// so it is only for names written in code.
func Member(operation, name string) Part {
	s := BodySchema(operation)
	member, ok := s.Properties[name]
	if !ok {
		panic("variants: the body of " + operation + " has no " + name)
	}
	required := slices.Contains(s.Required, name)
	return Part{name, required, valid(member.Value), invalidMember(member.Value, required), loose(member.Value)}
}

// Example returns the document's example of the operation's request body; nil if it has
// none.
func Example(operation string) map[string]any {
	content := bodyOf(operation)
	if content == nil {
		return nil
	}
	example, _ := copied(content.Example).(map[string]any)
	return example
}

// Query returns the query parameters of the operation by name. The names are those of the
// document, which the specification does not show for all.
func Query(operation string) []Part {
	var parts []Part
	for _, ref := range find(operation).Parameters {
		if p := ref.Value; p.In == openapi3.ParameterInQuery {
			parts = append(parts, Part{p.Name, p.Required, valid(p.Schema.Value), invalidValue(p.Schema.Value), nil})
		}
	}
	return parts
}

// formatOf returns the standard format of a schema. Cursors and bounds of windows do not
// name it: their x-format does.
func formatOf(s *openapi3.Schema) string {
	name, _ := s.Extensions["x-format"].(string)
	strict, _ := format.Lookup(name)
	return cmp.Or(s.Format, strict.Standard)
}

// document is loaded when the first request is made from it.
var document = sync.OnceValue(func() *openapi3.T {
	doc, err := schemas.Document()
	if err != nil {
		panic(err) // the document is part of the program and a test reads it
	}
	return doc
})

// find returns an operation of the document. It panics if there is none, so it is only for
// ids written in code.
func find(operation string) *openapi3.Operation {
	for _, path := range document().Paths.Map() {
		for _, op := range path.Operations() {
			if op.OperationID == operation {
				return op
			}
		}
	}
	panic("variants: unknown operation " + operation)
}

func bodyOf(operation string) *openapi3.MediaType {
	op := find(operation)
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content.Get("application/json")
}

// memberNames returns the properties that a request may set, sorted.
func memberNames(s *openapi3.Schema) []string {
	var all []string
	for name, property := range s.Properties {
		if !property.Value.ReadOnly {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// enum returns the closed set of values; nil for any value.
func enum(s *openapi3.Schema) []any {
	if s.Enum != nil {
		return s.Enum
	}
	values, _ := s.Extensions["x-enum"].([]any)
	return values
}

// text renders a value as JSON.
func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("variants: %v is not JSON: %v", value, err))
	}
	return string(encoded)
}

// copied returns a copy of a JSON value, so that callers may change it.
func copied(value any) any {
	var again any
	if err := json.Unmarshal([]byte(text(value)), &again); err != nil {
		panic(err) // text has just written it
	}
	return again
}

// distinct drops variants whose value an earlier one has.
func distinct(all []Variant) []Variant {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(v Variant) bool {
		known := seen[text(v.Value)]
		seen[text(v.Value)] = true
		return known
	})
}
