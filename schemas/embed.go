package schemas

import (
	"embed"
	"io/fs"
)

var (
	//go:embed openapi.yaml
	openAPI []byte
	//go:embed json/*.schema.json
	jsonSchemas embed.FS
)

// OpenAPI returns the document of all shapes, OpenAPI 3.0.3 in YAML.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }

// JSONSchemas returns the derived draft-07 schemas: <Component>.schema.json for
// what an answer holds, <Component>.request.schema.json for what a request does.
// They refer to each other by file name.
func JSONSchemas() fs.FS {
	sub, err := fs.Sub(jsonSchemas, "json")
	if err != nil {
		panic(err) // the path is a constant that the embedding makes sure of
	}
	return sub
}
