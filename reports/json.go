package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"slices"

	"outreach.example/conformance/spec"
)

//go:embed results.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// KindOfRun is the kind of file that holds results of a run (KindOf).
const KindOfRun = "results.json of run"

// MaxSize is the maximum size of a results file, in bytes. To read a file takes 20 times as
// much memory. No run writes a larger one (MaxWritten).
const MaxSize = 10 << 20

var file = File[Results]{Kind: KindOfRun, Version: ModelVersion, MaxSize: MaxSize, Schema: schema, Indent: "  ", Prepare: ordered,
	Earlier: map[string]string{"1": "cc5c0cf01057", "2": "d4545ecb5811"}}

// Encode returns the JSON form of r in a stable order: checks in the catalogue's order,
// observations by open point, operation and value.
func Encode(r Results) ([]byte, error) { return file.Encode(r) }

// Write replaces the file at path with the JSON form of r, atomically. It creates
// missing directories.
func Write(path string, r Results) error { return file.Write(path, r) }

// Read returns the results in the file at path.
func Read(path string) (Results, error) { return file.Read(path) }

// Parse returns the results in a JSON document.
func Parse(body []byte) (Results, error) { return file.Parse(body) }

// ordered returns a copy of r in the order of Encode, without nil for the arrays and
// objects of the JSON form.
func ordered(r Results) Results {
	r.Reasons, r.Checks, r.Observations, r.Troubles = Listed(r.Reasons), Listed(r.Checks), Listed(r.Observations), Listed(r.Troubles)
	if r.Traffic.Statuses == nil {
		r.Traffic.Statuses = map[string]int{}
	}
	r.Run.Started = r.Run.Started.UTC()
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

// Listed returns a copy of the list that is not nil.
func Listed[T any](list []T) []T { return append([]T{}, list...) }

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
