package schemas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"outreach.example/conformance/spec"
)

// Error checks the body of an error response by the section Errors. It knows the
// four documented statuses: 401, 402, 404 and 429.
func (v *Validator) Error(status int, body []byte) Judgement {
	text, documented := spec.ErrorText[status]
	if !documented {
		return Judgement{Err: fmt.Errorf("schemas: status %d: the specification documents no error body", status)}
	}
	prefix := "ERROR-" + strconv.Itoa(status) + "-"
	j := Judgement{Seen: []string{prefix + "BODY"}}
	find := func(part, pointer, expected, actual string) {
		j.Findings = append(j.Findings, Finding{prefix + part, pointer, expected, clip(actual)})
	}
	d := decoder{data: body}
	value, err := d.document()
	if beyond := beyondBounds(err); beyond != nil {
		return Judgement{Err: beyond}
	}
	if err != nil {
		find("BODY", "", "a JSON object", err.Error())
		return j
	}
	slices.Sort(d.twice)
	j.Body, j.Twice = value, slices.Compact(d.twice)
	object, ok := value.(map[string]any)
	if !ok {
		find("BODY", "", "a JSON object", render(value))
		return j
	}
	member := func(part, name, expected string, fits func(any) bool) {
		if object[name] == Unread {
			j.Unread = append(j.Unread, prefix+part)
			return
		}
		j.Seen = append(j.Seen, prefix+part)
		if field, present := object[name]; !present {
			find(part, "/"+name, expected, "absent")
		} else if !fits(field) {
			find(part, "/"+name, expected, render(field))
		}
	}
	member("ERROR", "error", strconv.Quote(text), func(field any) bool { return field == text })
	member("MESSAGE", "message", "a non-empty string", func(field any) bool {
		s, ok := field.(string)
		return ok && s != ""
	})
	member("STATUSCODE", "statusCode", "the number "+strconv.Itoa(status), func(field any) bool {
		number, ok := field.(json.Number)
		if !ok {
			return false
		}
		f, err := number.Float64() // 401.0 is the number 401
		return err == nil && f == float64(status)
	})
	for key := range object {
		if key != "error" && key != "message" && key != "statusCode" {
			j.Extra = append(j.Extra, "Error."+clip(key))
		}
	}
	slices.Sort(j.Extra)
	j.Extra = j.Extra[:min(len(j.Extra), maxExtra)]
	return j
}
