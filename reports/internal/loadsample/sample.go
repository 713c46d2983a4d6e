// Package loadsample holds load results for tests of the model and of its views:
// realistic, hostile, minimal and empty ones. Only tests import it.
//
// It imports the models and nothing else of this module.
package loadsample

import (
	"embed"
	"encoding/json"

	"outreach.example/conformance/reports/load"
)

//go:embed testdata
var files embed.FS

// Empty returns a run without a request.
func Empty() load.Results { return read("empty") }

// Passed returns the smallest run that passes.
func Passed() load.Results { return read("passed") }

// Full returns a run of many scenarios with every part of the model.
func Full() load.Results { return read("full") }

func read(name string) (r load.Results) {
	text, err := files.ReadFile("testdata/" + name + ".json")
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		panic(name + ": " + err.Error())
	}
	return r
}
