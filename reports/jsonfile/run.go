package jsonfile

import (
	"cmp"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// Run is the file of the results of a run. It has a stable order: checks in the catalogue's
// order, observations by open point, operation and value.
var Run = Kind[reports.Results]{Name: OfRun, Version: reports.ModelVersion, MaxSize: reports.MaxSize, Schema: reports.Schema(), Indent: "  ", Prepare: ordered,
	Earlier: map[string]string{"1": "cc5c0cf01057", "2": "d4545ecb5811"}}

// Fits reports whether the JSON form of r has at most reports.MaxWritten bytes.
func Fits(r reports.Results) bool {
	const mostGrowth = 12 // a byte of text takes 6 at most, and what is not text takes far less
	if r.TextBytes() <= reports.MaxWritten/mostGrowth {
		return true
	}
	encoded, err := Run.Encode(r)
	return err != nil || len(encoded) <= reports.MaxWritten
}

// ordered returns a copy of r in the order of Encode, without nil for the arrays and
// objects of the JSON form.
func ordered(r reports.Results) reports.Results {
	r.Reasons, r.Checks, r.Observations, r.Troubles = Listed(r.Reasons), Listed(r.Checks), Listed(r.Observations), Listed(r.Troubles)
	if r.Traffic.Statuses == nil {
		r.Traffic.Statuses = map[string]int{}
	}
	r.Run.Started = r.Run.Started.UTC()
	var catalogue []string
	for _, r := range spec.Requirements() {
		catalogue = append(catalogue, r.ID)
	}
	requirement, operation := summary.Place(catalogue), summary.Place(spec.OperationIDs())
	slices.SortStableFunc(r.Checks, func(a, b reports.Check) int {
		return cmp.Or(requirement(a.Requirement, b.Requirement), operation(a.Operation, b.Operation))
	})
	slices.SortStableFunc(r.Observations, func(a, b reports.Observation) int {
		return cmp.Or(cmp.Compare(a.OpenPoint, b.OpenPoint), operation(a.Operation, b.Operation), cmp.Compare(a.Value, b.Value))
	})
	return r
}

// Listed returns a copy of the list that is not nil.
func Listed[T any](list []T) []T { return append([]T{}, list...) }
