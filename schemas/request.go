package schemas

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// Rules for requests. The harness builds the requests, so that the catalogue has
// no such requirements.
const (
	RequestJSON    = "REQUEST-JSON"    // the body is not one JSON value
	RequestType    = "REQUEST-TYPE"    // a wrong type, or an unexpected body
	RequestValue   = "REQUEST-VALUE"   // a value outside its set, format, pattern or bound
	RequestPresent = "REQUEST-PRESENT" // a required field is missing
	RequestUnknown = "REQUEST-UNKNOWN" // a read-only or undocumented field
	RequestTrouble = "REQUEST-TROUBLE" // a failure of the Validator
)

var requestRules = map[breachKind]string{wrongType: RequestType, missing: RequestPresent, unknown: RequestUnknown, wrongValue: RequestValue}

// Request checks the body of a request by the harness. Tests of request builders
// call it.
func (v *Validator) Request(op spec.Operation, body []byte) []Finding {
	trimmed := bytes.TrimSpace(body)
	if op.Body == "" {
		// The specification lets the body of a DELETE be null.
		if len(trimmed) == 0 || op.Method == http.MethodDelete && string(trimmed) == "null" {
			return nil
		}
		return []Finding{{RequestType, "", "no body", clip(strings.ToValidUTF8(string(trimmed[:min(len(trimmed), maxActual)]), "�"))}}
	}
	value, err := Decode(body)
	if err != nil {
		return []Finding{{RequestJSON, "", "one JSON value", err.Error()}}
	}
	breaches, err := v.engine.check(op.Body+".request.schema.json", value)
	if err != nil {
		return []Finding{{RequestTrouble, "", "", err.Error()}}
	}
	var findings []Finding
	for _, b := range breaches {
		f := Finding{requestRules[b.kind], pointerTo(b.tokens), b.text, render(b.value)}
		if b.kind == missing {
			f.Actual = "absent"
		}
		findings = append(findings, f)
	}
	slices.SortFunc(findings, func(x, y Finding) int {
		return cmp.Or(strings.Compare(x.Pointer, y.Pointer), strings.Compare(x.Requirement, y.Requirement), strings.Compare(x.Expected, y.Expected))
	})
	return findings
}
