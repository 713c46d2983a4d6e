package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/reports/internal/strict"
	"outreach.example/conformance/spec"
)

//go:embed results.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// Encode returns the JSON form of r, indented and in a stable order: checks in the
// catalogue's order, observations by open point, operation and value. Equal results
// give equal bytes.
//
// It also encodes results that Validate rejects, because they still help to find the
// cause.
func Encode(r Results) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps & in curl commands readable
	e.SetIndent("", "  ")
	if err := e.Encode(ordered(r)); err != nil {
		return nil, fmt.Errorf("results have no JSON form: %w", err)
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
		return fmt.Errorf("write results: %w", err)
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%s: written, but contradicts itself (a defect of the harness): %w", path, err)
	}
	return nil
}

// ordered returns a copy of r in the order of Encode, without nil for the arrays and
// objects of the JSON form.
func ordered(r Results) Results {
	r = withoutNil(r)
	r.Run.Started = r.Run.Started.UTC()
	r.Checks = slices.Clone(r.Checks)
	r.Observations = slices.Clone(r.Observations)

	requirement, operation := ranks(spec.Requirements(), func(r spec.Requirement) string { return r.ID }),
		ranks(spec.Operations(), func(o spec.Operation) string { return o.ID })
	slices.SortStableFunc(r.Checks, func(a, b Check) int {
		return cmp.Or(
			cmp.Compare(requirement(a.Requirement), requirement(b.Requirement)),
			cmp.Compare(a.Requirement, b.Requirement),
			cmp.Compare(operation(a.Operation), operation(b.Operation)),
			cmp.Compare(a.Operation, b.Operation))
	})
	slices.SortStableFunc(r.Observations, func(a, b Observation) int {
		return cmp.Or(
			cmp.Compare(a.OpenPoint, b.OpenPoint),
			cmp.Compare(operation(a.Operation), operation(b.Operation)),
			cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.Value, b.Value))
	})
	return r
}

// ranks returns a function from an id to its index in the table. Unknown ids, such as
// those of another version of the catalogue, come last.
func ranks[T any](table []T, id func(T) string) func(string) int {
	places := make(map[string]int, len(table))
	for i, entry := range table {
		places[id(entry)] = i
	}
	return func(id string) int {
		if place, ok := places[id]; ok {
			return place
		}
		return len(table)
	}
}

// MaxSize is the maximum size of a results file, in bytes. To read a file takes 20 times as
// much memory. No run writes a larger one (MaxWritten).
const MaxSize = 10 << 20

var format = strict.Format[Results]{Name: "results", Version: ModelVersion, MaxSize: MaxSize, Field: "checks", Complete: withoutNil, Validate: Results.Validate}

// Read returns the results in the file at path. It accepts only what Write writes. An
// unknown, duplicate or missing field, another model version, or results that
// Validate rejects are errors. They name the file and a JSON pointer.
func Read(path string) (Results, error) { return format.Read(path) }

// Parse returns the results in a JSON document, as strictly as Read.
func Parse(body []byte) (Results, error) { return format.Parse(body) }

// withoutNil returns r with an empty value for each required array and object that is
// nil.
func withoutNil(r Results) Results {
	if r.Reasons == nil {
		r.Reasons = []string{}
	}
	if r.Checks == nil {
		r.Checks = []Check{}
	}
	if r.Observations == nil {
		r.Observations = []Observation{}
	}
	if r.Troubles == nil {
		r.Troubles = []Trouble{}
	}
	if r.Traffic.Statuses == nil {
		r.Traffic.Statuses = map[string]int{}
	}
	return r
}
