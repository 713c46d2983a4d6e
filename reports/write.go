package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/spec"
)

//go:embed results.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// Encode returns the JSON form of r, indented and in a stable order: checks
// in the catalogue's order, observations by silence, operation and value. Equal findings give equal bytes.
//
// Results that contradict themselves (see Validate) are encoded all the same:
// a report is worth more than its tidiness.
func Encode(r Results) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps the & of a curl line legible
	e.SetIndent("", "  ")
	if err := e.Encode(ordered(r)); err != nil {
		return nil, fmt.Errorf("results have no JSON form: %w", err)
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
	err = atomicfile.Replace(path, func(temporary string) error {
		return os.WriteFile(temporary, body, 0o666)
	})
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%s: written, but contradicts itself (a defect of the harness): %w", path, err)
	}
	return nil
}

// ordered returns a copy of r in the order of Encode, without nil where the
// JSON form has an array or an object.
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
			cmp.Compare(a.Silence, b.Silence),
			cmp.Compare(operation(a.Operation), operation(b.Operation)),
			cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.Value, b.Value))
	})
	return r
}

// ranks gives the place of an id in a table; one that the table lacks, of
// another version of the catalogue perhaps, comes last.
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
