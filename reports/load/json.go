package load

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/reports/internal/strict"
)

//go:embed load.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// Encode returns the JSON form of r, indented. Equal results give equal bytes.
//
// It also encodes results that Validate rejects, because they still help to find the
// cause. The error names the place of a number that is NaN or infinite, which has no
// JSON form.
func Encode(r Results) ([]byte, error) {
	r = complete(r)
	r.Run.Started = r.Run.Started.UTC()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps & in curl commands readable
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		if problems := r.Validate(); problems != nil {
			err = problems
		}
		return nil, fmt.Errorf("load results have no JSON form: %w", err)
	}
	return b.Bytes(), nil
}

// Write replaces the file at path with the JSON form of r, atomically. It creates
// missing directories.
//
// If Validate rejects r, Write writes the file and returns the error. That is a
// defect of the harness, and the file is not reliable.
func Write(path string, r Results) error {
	body, err := Encode(r)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, body); err != nil {
		return fmt.Errorf("write load results: %w", err)
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%s: written, but contradicts itself (a defect of the harness): %w", path, err)
	}
	return nil
}

// complete returns r with an empty value for each required array and object that is
// nil.
func complete(r Results) Results {
	if r.Reasons == nil {
		r.Reasons = []string{}
	}
	if r.Scenarios == nil {
		r.Scenarios = []Scenario{}
	}
	if r.Traffic.Statuses == nil {
		r.Traffic.Statuses = map[string]int64{}
	}
	return r
}

// FileName is the name of the results in the output directory of a load run.
const FileName = "load.json"

// MaxSize is the maximum size of a load results file, in bytes. A soak of 1 day with a
// point per second stays below it.
const MaxSize = 128 << 20

var format = strict.Format[Results]{Name: "load results", Version: ModelVersion, MaxSize: MaxSize, Field: "scenarios", Complete: complete, Validate: Results.Validate}

// Read returns the results in the file at path. It accepts only what Write writes. An
// unknown, duplicate or missing field, another model version, or results that
// Validate rejects are errors. They name the file and a JSON pointer.
func Read(path string) (Results, error) { return format.Read(path) }

// Parse returns the results in a JSON document, as strictly as Read.
func Parse(body []byte) (Results, error) { return format.Parse(body) }
