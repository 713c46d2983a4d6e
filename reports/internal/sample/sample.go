// Package sample reads the results that tests of the models and of their views share: full,
// minimal and empty ones. Only tests import it. It imports the models and nothing else of
// this module.
package sample

import (
	"embed"
	"encoding/json"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

//go:embed testdata
var files embed.FS

// Full returns a failed run with every part of the model. One value in it is not UTF-8.
func Full() reports.Results {
	r := read[reports.Results]("run-full")
	for _, c := range r.Checks {
		for i := range c.Violations { // JSON cannot hold the byte
			c.Violations[i].Actual = strings.ReplaceAll(c.Violations[i].Actual, "\ufffd", "\xff")
		}
	}
	return r
}

// Passed returns a run of one operation that passes.
func Passed() reports.Results { return read[reports.Results]("run-passed") }

// Empty returns a run that did not reach its target.
func Empty() reports.Results { return read[reports.Results]("run-empty") }

// FullLoad returns a load run of many scenarios with every part of the model.
func FullLoad() load.Results { return read[load.Results]("load-full") }

// PassedLoad returns the smallest load run that passes.
func PassedLoad() load.Results { return read[load.Results]("load-passed") }

// EmptyLoad returns a load run without a request.
func EmptyLoad() load.Results { return read[load.Results]("load-empty") }

func read[T any](name string) (r T) {
	text, err := files.ReadFile("testdata/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		panic(err)
	}
	return r
}
