package faults

import (
	"strings"
	"sync"

	"outreach.example/conformance/schemas"
)

// openAPI is the OpenAPI document, which has the closed sets of values and a
// sample of each resource.
var openAPI = sync.OnceValues(schemas.Document)

// must is for what is part of the program and loaded by its own tests.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// sampleOf returns the document's example of a resource, which shows every
// field; a test holds it to that.
func sampleOf(resource string) any {
	return copyOf(must(openAPI()).Components.Schemas[resource].Value.Example)
}

// closedSet returns the values that the document lists for a field; nil if it
// lists none.
func closedSet(resource, path string) []any {
	schema := must(openAPI()).Components.Schemas[resource]
	for name := range strings.SplitSeq(path, ".") {
		if name == pathItem {
			schema = schema.Value.Items
		} else {
			schema = schema.Value.Properties[name]
		}
		if schema == nil {
			return nil // an entry of an object with free keys: nothing is listed
		}
	}
	if listed, ok := schema.Value.Extensions["x-enum"].([]any); ok {
		return listed
	}
	return schema.Value.Enum
}
