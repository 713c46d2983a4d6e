package load

import (
	"bytes"
	_ "embed"

	"outreach.example/conformance/reports/jsonfile"
)

//go:embed load.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// FileName is the name of the results in the output directory of a load run.
const FileName = "load.json"

// MaxSize is the maximum size of a load results file, in bytes.
const MaxSize = 128 << 20

var file = jsonfile.Kind[Results]{Name: jsonfile.OfLoad, Version: ModelVersion, MaxSize: MaxSize, Schema: schema, Indent: " ", Prepare: complete,
	Earlier: map[string]string{"1": "cc5c0cf01057", "2": "79c7ea06a8c5"}}

// Encode returns the JSON form of r. It has none if a number is NaN or infinite.
func Encode(r Results) ([]byte, error) { return file.Encode(r) }

// Read returns the results in the file at path.
func Read(path string) (Results, error) { return file.Read(path) }

// Parse returns the results in a JSON document.
func Parse(body []byte) (Results, error) { return file.Parse(body) }

// complete returns r without nil for the arrays and objects of the JSON form.
func complete(r Results) Results {
	r.Reasons, r.Scenarios = jsonfile.Listed(r.Reasons), jsonfile.Listed(r.Scenarios)
	if r.Traffic.Statuses == nil {
		r.Traffic.Statuses = map[string]int64{}
	}
	r.Run.Started = r.Run.Started.UTC()
	return r
}
