package reports

import (
	"fmt"
	"io"
	"os"

	"outreach.example/conformance/reports/internal/strict"
)

// MaxSize bounds a results file, in bytes. A run of every requirement on every
// operation, all failing, stays far below it.
const MaxSize = 64 << 20

var errTooLarge = fmt.Errorf("more than %d bytes: this is not a results file", MaxSize)

// Read returns the results in the file at path. It accepts what Write writes
// and nothing else: an unknown, doubled, missing or misspelt field, another
// model version and results that contradict themselves are errors, which name
// the file and a JSON pointer.
func Read(path string) (Results, error) {
	f, err := os.Open(path)
	if err != nil {
		return Results{}, fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Results{}, fmt.Errorf("read results: %w", err)
	}
	if info.Size() > MaxSize {
		return Results{}, fmt.Errorf("%s: %w", path, errTooLarge)
	}
	body, err := io.ReadAll(io.LimitReader(f, MaxSize+1)) // a pipe has no size
	if err != nil {
		return Results{}, fmt.Errorf("read results: %w", err)
	}
	r, err := Parse(body)
	if err != nil {
		return Results{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Parse returns the results whose JSON form is body, as strictly as Read.
func Parse(body []byte) (Results, error) {
	if len(body) > MaxSize {
		return Results{}, errTooLarge
	}
	r, err := strict.Parse(body, ModelVersion, withoutNil)
	if err != nil {
		return Results{}, err
	}
	if err := r.Validate(); err != nil {
		return Results{}, err
	}
	return r, nil
}

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
