package view_test

import (
	"reflect"
	"strings"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
)

// free are the fields of load results whose texts a target or a user writes.
const free = " Name Version Vendor BaseURL Selection ID Note About Notes Reasons Text Why Unit Phase Failures Statement Section Expected Actual Curl Of OneOf Summary Styles Malformed Subject Stopped "

// hostileLoad returns FullLoad with a long attack on the views in each of these texts.
func hostileLoad() load.Results {
	r, full := sample.FullLoad(), sample.FullLoad()
	attackAll(reflect.ValueOf(&r).Elem(), false)
	r.Version = full.Version // the harness writes it, and the names of scenarios
	for i := range r.Scenarios {
		r.Scenarios[i].Name = full.Scenarios[i].Name
	}
	return r
}

var hostileText = "javascript:alert(1)//</style><script>alert(1)</script>\"'><img src=https://evil.test/x onerror=alert(1)>\u202e\x1b[31m\xff{{.}}\x00" +
	strings.Repeat("unbroken", 75)

func attackAll(v reflect.Value, written bool) {
	switch v.Kind() {
	case reflect.String:
		if written && v.String() != "" {
			v.SetString(hostileText)
		}
	case reflect.Map:
		if written && v.Len() > 0 {
			v.Set(reflect.ValueOf(map[string]int64{hostileText: 1}))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			attackAll(v.Elem(), written)
		}
	case reflect.Slice:
		for i := range v.Len() {
			attackAll(v.Index(i), written)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			attackAll(v.Field(i), strings.Contains(free, " "+v.Type().Field(i).Name+" "))
		}
	}
}
