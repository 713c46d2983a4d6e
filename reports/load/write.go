package load

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"

	"outreach.example/conformance/internal/atomicfile"
)

//go:embed load.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// Encode returns the JSON form of r, indented. Equal results give equal bytes.
//
// Results that contradict themselves (see Validate) are encoded all the same:
// a report is worth more than its tidiness. Only a number that is NaN or
// infinite has no JSON form; the error then names its place.
func Encode(r Results) ([]byte, error) {
	r = complete(r)
	r.Run.Started = r.Run.Started.UTC()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps the & of a curl line legible
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		if problems := r.Validate(); problems != nil {
			err = problems
		}
		return nil, fmt.Errorf("load results have no JSON form: %w", err)
	}
	return b.Bytes(), nil
}

// Write puts the JSON form of r at path, whole or not at all. Missing
// directories are made.
//
// When r contradicts itself, the file is written and the error says what is
// wrong: that is a defect of the harness, and nobody should rely on the file.
func Write(path string, r Results) error {
	body, err := Encode(r)
	if err != nil {
		return err
	}
	if err := replace(path, body); err != nil {
		return fmt.Errorf("write load results: %w", err)
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%s: written, but contradicts itself (a defect of the harness): %w", path, err)
	}
	return nil
}

// replace puts body at path, whole or not at all.
func replace(path string, body []byte) error {
	return atomicfile.Replace(path, func(temporary string) error {
		return os.WriteFile(temporary, body, 0o666)
	})
}

// complete gives every array and object of the JSON form that must be there an
// empty value.
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
