package reports

import "outreach.example/conformance/reports/internal/strict"

// MaxSize bounds a results file, in bytes. A run of every requirement on every
// operation, all failing, stays far below it.
const MaxSize = 64 << 20

var format = strict.Format[Results]{Name: "results", Version: ModelVersion, MaxSize: MaxSize, Complete: withoutNil, Validate: Results.Validate}

// Read returns the results in the file at path. It accepts what Write writes
// and nothing else: an unknown, doubled, missing or misspelt field, another
// model version and results that contradict themselves are errors, which name
// the file and a JSON pointer.
func Read(path string) (Results, error) { return format.Read(path) }

// Parse returns the results whose JSON form is body, as strictly as Read.
func Parse(body []byte) (Results, error) { return format.Parse(body) }

// withoutNil gives every array and object of the JSON form that must be there
// an empty value, and keeps the order.
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
