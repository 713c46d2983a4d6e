//go:build ignore

// Command results makes sure that a results file is what the CI job takes it
// for: valid, and of a run that judged everything and found nothing.
//
//	go run .ci/results.go conformance-results/results.json
package main

import (
	"fmt"
	"os"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run .ci/results.go FILE")
		os.Exit(2)
	}
	if err := inspect(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func inspect(path string) error {
	results, err := jsonfile.Run.Read(path) // holds it against the results' JSON Schema
	if err != nil {
		return err
	}
	passed := reports.Count(results.Checks).Pass
	if results.Verdict != reports.Passed || passed != len(spec.Pairs()) {
		return fmt.Errorf("the verdict is %s (%v) with %d of %d checks passed", results.Verdict, results.Reasons, passed, len(spec.Pairs()))
	}
	fmt.Printf("%s: valid, %s, %d of %d checks passed\n", path, results.Verdict, passed, len(spec.Pairs()))
	return nil
}
