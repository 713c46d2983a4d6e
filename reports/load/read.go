package load

import "outreach.example/conformance/reports/internal/strict"

// MaxSize bounds a load results file, in bytes. A soak of a day with a point a
// second stays below it.
const MaxSize = 128 << 20

var format = strict.Format[Results]{Name: "load results", Version: ModelVersion, MaxSize: MaxSize, Complete: complete, Validate: Results.Validate}

// Read returns the results in the file at path. It accepts what Write writes
// and nothing else: an unknown, doubled, missing or misspelt field, another
// model version and results that contradict themselves are errors, which name
// the file and a JSON pointer.
func Read(path string) (Results, error) { return format.Read(path) }

// Parse returns the results whose JSON form is body, as strictly as Read.
func Parse(body []byte) (Results, error) { return format.Parse(body) }
