package schemas

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/schemas/internal/format"
)

var (
	//go:embed openapi.yaml
	openAPI []byte
	//go:embed json/*.schema.json
	jsonSchemas embed.FS
)

// OpenAPI returns the OpenAPI 3.0.3 document in YAML.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }

// JSONSchemas returns the derived draft-07 schemas: <Component>.schema.json for
// responses and <Component>.request.schema.json for requests. They refer to each
// other by file name.
func JSONSchemas() fs.FS {
	sub, err := fs.Sub(jsonSchemas, "json")
	if err != nil {
		panic(err) // the embedded path is a constant
	}
	return sub
}

// Document returns the OpenAPI document as kin-openapi loads and validates it,
// with its examples. Each call loads a new one.
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
		return nil, fmt.Errorf("schemas: openapi.yaml: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return nil, fmt.Errorf("schemas: openapi.yaml: %w", err)
	}
	return doc, nil
}

// registerFormats registers the strict formats with both libraries, in place of
// their own lax ones. Both libraries keep formats in package variables.
var registerFormats = sync.OnceFunc(func() {
	for _, name := range format.Names() {
		f, _ := format.Lookup(name)
		openapi3.DefineStringFormatValidator(name, openapi3.NewCallbackValidator(f.Check))
		gojsonschema.FormatCheckers.Add(name, formatChecker(f.Check))
	}
})

type formatChecker func(string) error

// IsFormat implements gojsonschema.FormatChecker. Every value that is not a
// string passes.
func (check formatChecker) IsFormat(input any) bool {
	s, ok := input.(string)
	return !ok || check(s) == nil
}
