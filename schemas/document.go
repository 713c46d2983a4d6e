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
	"github.com/goccy/go-yaml"
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

// JSONSchemas returns the derived draft-07 schemas of what responses hold:
// <Component>.schema.json. They refer to each other by file name.
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

// ToJSON returns OpenAPI or OpenAPI31 in JSON, with the members in the same order.
func ToJSON(document []byte) ([]byte, error) {
	compact, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("schemas: the document in JSON: %w", err)
	}
	var text bytes.Buffer
	err = json.Indent(&text, compact, "", "  ")
	return text.Bytes(), err
}

// ExampleResponses returns the example of each operation's 200 response, by the id of the
// operation. Of several examples it is the last page, as tools take it that take the first.
func ExampleResponses() (map[string]any, error) {
	doc, err := Document()
	if err != nil {
		return nil, err
	}
	examples := map[string]any{}
	for _, path := range doc.Paths.Map() {
		for _, op := range path.Operations() {
			media := op.Responses.Value("200").Value.Content["application/json"]
			switch page := media.Examples["lastPage"]; {
			case page != nil:
				examples[op.OperationID] = page.Value.Value
			case media.Example != nil:
				examples[op.OperationID] = media.Example
			default:
				examples[op.OperationID] = media.Schema.Value.Example
			}
		}
	}
	return examples, nil
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
