// Package sample reads the results that tests of the models and of their views share: full,
// minimal and empty ones. Only tests import it. It imports the models and nothing else of
// this module.
package sample

import (
	"embed"
	"encoding/json"
	"reflect"
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

// free are the fields of load results whose texts a target or a user writes.
const free = " Name Version Vendor BaseURL Selection ID Note About Notes Reasons Text Why Unit Phase Failures Statement Section Expected Actual Curl Of OneOf Summary Styles Malformed Subject Stopped "

// HostileLoad returns FullLoad with a long attack on the views in each of these texts.
func HostileLoad() load.Results {
	r, full := FullLoad(), FullLoad()
	attack(reflect.ValueOf(&r).Elem(), false)
	r.Version = full.Version // the harness writes it, and the names of scenarios
	for i := range r.Scenarios {
		r.Scenarios[i].Name = full.Scenarios[i].Name
	}
	return r
}

var hostile = "javascript:alert(1)//</style><script>alert(1)</script>\"'><img src=https://evil.test/x onerror=alert(1)>\u202e\x1b[31m\xff{{.}}\x00" +
	strings.Repeat("unbroken", 75)

func attack(v reflect.Value, written bool) {
	switch v.Kind() {
	case reflect.String:
		if written && v.String() != "" {
			v.SetString(hostile)
		}
	case reflect.Map:
		if written && v.Len() > 0 {
			v.Set(reflect.ValueOf(map[string]int64{hostile: 1}))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			attack(v.Elem(), written)
		}
	case reflect.Slice:
		for i := range v.Len() {
			attack(v.Index(i), written)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			attack(v.Field(i), strings.Contains(free, " "+v.Type().Field(i).Name+" "))
		}
	}
}
