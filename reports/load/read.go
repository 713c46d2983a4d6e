package load

import (
	"fmt"
	"io"
	"os"

	"outreach.example/conformance/reports/internal/strict"
)

// MaxSize bounds a load results file, in bytes. A soak of a day with a point a
// second stays below it.
const MaxSize = 128 << 20

var errTooLarge = fmt.Errorf("more than %d bytes: this is not a load results file", MaxSize)

// Read returns the results in the file at path. It accepts what Write writes
// and nothing else: an unknown, doubled, missing or misspelt field, another
// model version and results that contradict themselves are errors, which name
// the file and a JSON pointer.
func Read(path string) (Results, error) {
	f, err := os.Open(path)
	if err != nil {
		return Results{}, fmt.Errorf("read load results: %w", err)
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return Results{}, fmt.Errorf("read load results: %w", err)
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
	r, err := strict.Parse(body, ModelVersion, complete)
	if err != nil {
		return Results{}, err
	}
	if err := r.Validate(); err != nil {
		return Results{}, err
	}
	return r, nil
}
