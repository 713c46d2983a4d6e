package schemas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/schemas/internal/format"
)

// Document returns the OpenAPI document, loaded and validated, examples
// included. Each call returns a document of its own.
func Document() (*openapi3.T, error) { return load(openAPI) }

// OpenAPIJSON returns the document in JSON. Its objects are sorted by key.
func OpenAPIJSON() ([]byte, error) {
	doc, err := Document()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(doc)
	return text.Bytes(), err
}

func load(source []byte) (*openapi3.T, error) {
	registerFormats()
	doc, err := openapi3.NewLoader().LoadFromData(source)
	if err != nil {
		return nil, fmt.Errorf("schemas: the embedded OpenAPI document: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return nil, fmt.Errorf("schemas: the embedded OpenAPI document: %w", err)
	}
	return doc, nil
}

// registerFormats gives both libraries the same strict formats, in place of
// their own lax ones of the same names. Both keep them in package variables.
var registerFormats = sync.OnceFunc(func() {
	for _, name := range format.Names() {
		f, _ := format.Lookup(name)
		openapi3.DefineStringFormatValidator(name, openapi3.NewCallbackValidator(f.Check))
		gojsonschema.FormatCheckers.Add(name, formatChecker(f.Check))
	}
})

type formatChecker func(string) error

// IsFormat implements gojsonschema.FormatChecker. A format says nothing of a
// value that is no string.
func (check formatChecker) IsFormat(input any) bool {
	s, ok := input.(string)
	return !ok || check(s) == nil
}
