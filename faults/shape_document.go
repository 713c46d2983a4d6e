package faults

import (
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"outreach.example/conformance/schemas"
)

// openAPI is the OpenAPI document, of which a field's closed set of values and
// the samples of resources are taken.
var openAPI = sync.OnceValue(func() *openapi3.T {
	doc, err := schemas.Document()
	if err != nil {
		panic(err) // the document is part of the program and its own tests load it
	}
	return doc
})

// sampleOf returns the document's example of a resource, which shows every
// field; a test holds it to that.
func sampleOf(resource string) any {
	return copyOf(openAPI().Components.Schemas[resource].Value.Example)
}

// closedSet returns the values that the document lists for a field; nil if it
// lists none.
func closedSet(resource, path string) []any {
	schema := openAPI().Components.Schemas[resource].Value
	for name := range strings.SplitSeq(path, ".") {
		if schema = below(schema, name); schema == nil {
			return nil // an entry of an object with any keys: nothing is listed
		}
	}
	if listed, ok := schema.Extensions["x-enum"].([]any); ok {
		return listed
	}
	return schema.Enum
}

func below(schema *openapi3.Schema, name string) *openapi3.Schema {
	switch {
	case name == pathItem:
		return schema.Items.Value
	case schema.Properties[name] != nil:
		return schema.Properties[name].Value
	}
	return nil
}
