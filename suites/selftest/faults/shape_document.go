package faults

import (
	"strings"
	"sync"

	"outreach.example/conformance/schemas"
)

// openAPI returns the OpenAPI document, with the closed sets of values and a
// sample of each resource.
var openAPI = sync.OnceValues(schemas.Document)

// must panics on an error in data that is part of the program and tested.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// sampleOf returns the document's example of a resource. A test checks that it
// has every field.
func sampleOf(resource string) any {
	return copyOf(must(openAPI()).Components.Schemas[resource].Value.Example)
}

// closedSet returns the documented values of a field; nil if there are none.
func closedSet(resource, path string) []any {
	schema := must(openAPI()).Components.Schemas[resource]
	for name := range strings.SplitSeq(path, ".") {
		if name == pathItem {
			schema = schema.Value.Items
		} else {
			schema = schema.Value.Properties[name]
		}
		if schema == nil {
			return nil // an entry of an object with free keys has no listed values
		}
	}
	if listed, ok := schema.Value.Extensions["x-enum"].([]any); ok {
		return listed
	}
	return schema.Value.Enum
}
