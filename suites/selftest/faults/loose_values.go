package faults

import (
	"encoding/json"
	"maps"
	"strings"

	"outreach.example/conformance/spec"
)

// looseValue is a value of the wrong type or form that lenient servers take for a valid one.
type looseValue struct {
	field, name, doc string
	valid            func(sent any) any // the valid value; nil if the one sent is another
}

var looseValues = []looseValue{
	{"type", "boolean-type", "true for the type 1", insteadOf(true, json.Number("1"))},
	{"type", "text-type", "the type 1 as a text", insteadOf("1", json.Number("1"))},
	{"text_only", "text-for-boolean", "text_only as a text", insteadOf("true", true)},
	{"text_only", "text-for-false", "false for text_only as a text", insteadOf("false", false)},
	{"text_only", "number-for-boolean", "1 for text_only", insteadOf(json.Number("1"), true)},
	{"email_subject", "number-for-subject", "a number for email_subject", insteadOf(json.Number("7"), "7")},
	{"email_body", "boolean-for-body", "a boolean for email_body", insteadOf(true, "true")},
	{"description", "number-for-description", "a number for description", insteadOf(json.Number("7"), "7")},
	{"test_code", "boolean-for-code", "a boolean for test_code", insteadOf(true, "true")},
	{"schedule", "line-break", "a time with a line break at its end", func(sent any) any {
		schedule, _ := sent.(map[string]any)
		timing, _ := schedule["timing"].(map[string]any)
		from, _ := timing["from"].(string)
		if !strings.HasSuffix(from, "\n") {
			return nil
		}
		timing, schedule = maps.Clone(timing), maps.Clone(schedule)
		timing["from"], schedule["timing"] = strings.TrimSpace(from), timing
		return schedule
	}},
}

func insteadOf(loose, valid any) func(any) any {
	return func(sent any) any {
		if sent == loose {
			return valid
		}
		return nil
	}
}

// converted returns the creation with a valid value in place of the loose one, and what was
// sent; false if the request has no such value.
func (l looseValue) converted(r Request) (changed Request, sent any, ok bool) {
	body, isObject := objectIn(r)
	if !isObject || r.Operation != spec.CreatePlacementTest {
		return r, nil, false
	}
	valid := l.valid(body[l.field])
	if valid == nil {
		return r, nil, false
	}
	sent = body[l.field]
	body = maps.Clone(body)
	body[l.field] = valid
	r = r.clone()
	r.Body = encode(body)
	return r, sent, true
}

// echoDefects take a loose value for a valid one, and show it in the response as it was sent.
func echoDefects() []Defect {
	var defects []Defect
	for _, l := range looseValues {
		defects = append(defects, breaking("REQUEST-INVALID-"+strings.ToUpper(l.field), spec.CreatePlacementTest, "echoed-"+l.name,
			"accepts "+l.doc+" and shows it as it was sent", func(next Handler) Handler {
				return func(r Request) (Response, error) {
					changed, sent, ok := l.converted(r)
					if !ok {
						return next(r)
					}
					return onRows(r.Operation, func(_ Request, rows []map[string]any) {
						for _, row := range rows {
							row[l.field] = sent
						}
					})(next)(changed)
				}
			}))
	}
	return append(defects, breaking("REQUEST-INVALID-TEXT_ONLY", spec.CreatePlacementTest, "any-text-is-true",
		"takes every text for a true text_only", onRequest(spec.CreatePlacementTest, func(r Request) Request {
			if body, ok := objectIn(r); ok && isText(body["text_only"]) {
				body["text_only"] = true
				r.Body = encode(body)
			}
			return r
		})))
}

// convertLooseValues creates tests with the valid values in place of the loose ones.
func convertLooseValues(r Request) Request {
	for _, l := range looseValues {
		r, _, _ = l.converted(r)
	}
	return r
}
