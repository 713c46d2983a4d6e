package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// requestDefects accept requests with a missing or wrong part, answer 500 to them, or refuse
// a form of a valid request (REQUEST-…).
func requestDefects() []Defect {
	return slices.Concat(fieldMistakes(), bodyMistakes(), pathMistakes(), echoes(), formDefects())
}

// wrongly returns the defects of taking a kind of wrong requests for right ones, and of
// breaking on it.
func wrongly(requirement spec.ID, op, what string, o occasion, take verb) []Defect {
	return []Defect{
		defect(requirement, op, "accepts "+what, when(o, take)),
		defect(requirement, op, "answers 500 to "+what, when(o, refuse(500))),
	}
}

// wrongValue is a kind of values that the document rules out for a field.
type wrongValue struct {
	what string
	is   func(value any) bool
}

var null = wrongValue{"null", isNull}

// jsonTypes are the types of JSON values, in the words of the document.
var jsonTypes = []wrongValue{{"object", isObject}, {"array", isArray}, {"number", isNumber}, {"string", isText}, {"boolean", isBool}}

// mistakesIn returns the kinds of values that a schema rules out, at any depth. A lenient
// server may turn a number or a boolean into a free text.
func mistakesIn(s *contract.Schema) (all []wrongValue) {
	free := s.Type.Is("string") && s.Format == "" && s.Pattern == "" && s.Enum == nil
	for _, t := range jsonTypes {
		if scalar := t.what == "number" || t.what == "boolean"; !s.Type.Is(t.what) && !(scalar && (free || s.Type.Is("number"))) {
			all = append(all, t)
		}
	}
	all = all[:min(len(all), 3)]
	within := func(where string, inner []wrongValue, parts func(v any) []any) {
		for _, m := range inner {
			all = append(all, wrongValue{m.what + where, func(v any) bool { return slices.ContainsFunc(parts(v), m.is) }})
		}
	}
	switch {
	case s.Type.Is("array"):
		items := func(v any) []any { items, _ := v.([]any); return items }
		within(" among the items", append(mistakesIn(s.Items.Value), null), items)
		// A check that looks at the first item only misses the others.
		within(" after the first item", []wrongValue{null}, func(v any) []any { return items(firstLost(v)) })
	case s.Type.Is("object"):
		for _, name := range sortedKeys(s.Properties) {
			within(" for "+name, mistakesIn(s.Properties[name].Value), func(v any) []any {
				object, _ := v.(fields)
				if value, sent := object[name]; sent {
					return []any{value}
				}
				return nil
			})
		}
		if s.AdditionalProperties.Schema != nil {
			within(" for an entry", mistakesIn(s.AdditionalProperties.Schema.Value), func(v any) []any {
				object, _ := v.(fields)
				return slices.Collect(maps.Values(object))
			})
		}
	case s.Type.Is("number"):
		number := func(fits func(f float64) bool) func(any) bool {
			return func(v any) bool { return isNumber(v) && fits(asFloat(v)) }
		}
		all = append(all, wrongValue{"fraction", number(func(f float64) bool { return f != float64(int(f)) })},
			wrongValue{"number below the range", number(func(f float64) bool { return f < 1 })},
			wrongValue{"number above the range", number(func(f float64) bool { return f > 3 || f > 2 && listedValues(s)[2] == nil })})
	case !free && s.Type.Is("string"):
		valid := validText(s)
		all = append(all, wrongValue{"word", textThat(func(text string) bool { return !valid(text) })})
		if s.Format == "" {
			all = append(all, wrongValue{"valid text with one more character", textThat(func(text string) bool {
				return len(text) > 1 && !valid(text) && (valid(text[1:]) || valid(text[:len(text)-1]))
			})})
		}
		if slices.Contains(s.Enum, any("Etc/GMT+12")) {
			all = append(all, wrongValue{"timezone that exists and is not listed", textThat(func(text string) bool {
				_, err := time.LoadLocation(text)
				return err == nil && !valid(text)
			})})
		}
	}
	return all
}

// listedValues returns the closed set of a schema, padded to three values.
func listedValues(s *contract.Schema) []any {
	values, _ := s.Extensions["x-enum"].([]any)
	return append(append(slices.Clone(s.Enum), values...), nil, nil, nil)
}

// validText returns what the schema of a string allows.
func validText(s *contract.Schema) func(string) bool {
	switch {
	case s.Enum != nil:
		return func(text string) bool { return slices.Contains(s.Enum, any(text)) }
	case s.Format == "uuid":
		return isUUID
	case s.Format == "email":
		return func(text string) bool { return strings.Contains(text, "@") }
	}
	return regexp.MustCompile(s.Pattern).MatchString
}

// fieldMistakes covers each wrong value in each field of the bodies.
func fieldMistakes() []Defect {
	var defects []Defect
	for _, o := range spec.Operations() {
		if o.Body == "" {
			continue
		}
		op, schema := o.ID, contract.BodySchema(o.ID)
		for _, field := range sortedKeys(schema.Properties) {
			s, take := schema.Properties[field].Value, repaired(op, field)
			if s.ReadOnly {
				continue
			}
			mistakes := mistakesIn(s)
			if op == create && slices.Contains(schema.Required, field) {
				mistakes = append(mistakes, null)
			}
			if field == "campaign_id" {
				mistakes = append(mistakes, wrongValue{"id of no campaign", textThat(func(id string) bool { return isUUID(id) && strings.HasPrefix(id, "00") })})
			}
			if invalid := invalidID(op, field); spec.Has(invalid.On(op)) {
				for i, m := range mistakes {
					both := wrongly(invalid, op, "a body with this in "+field+": "+m.what, sends(field, m.is), take)
					defects = append(defects, both[:1+(i+1)/len(mistakes)]...) // the last one breaks, too
				}
				if op == create {
					defects = append(defects, defect(invalid, op, "refuses a body with an invalid "+field+" but creates a test from it",
						when(sends(field, mistakes[len(mistakes)-1].is), then(take, func(x *exchange) {
							if x.served() {
								refuse(400)(x)
							}
						}))))
				}
			}
			if required := spec.ID("REQUEST-REQUIRED-" + strings.ToUpper(field)); spec.Has(required.On(op)) {
				defects = append(defects, wrongly(required, op, "a body without "+field, lacks(field), take)...)
				if op == create && field != "type" {
					defects = append(defects, wrongly(required, op, "an automated test without "+field,
						all(lacks(field), sends("type", equal(json.Number("2")))), take)[0])
				}
			}
		}
	}
	noEmails := sends("emails", equal([]any{}))
	return append(defects, wrongly(spec.RequestEmailsEmpty, spec.MoveAccounts, "a move of no accounts", noEmails, success)...)
}

// invalidID returns the requirement on a wrong field of the operation's body.
func invalidID(op, field string) spec.ID {
	if op == spec.MoveAccounts && field == "emails" {
		return spec.RequestInvalidAccountEmails
	}
	return spec.ID("REQUEST-INVALID-" + strings.ToUpper(field))
}

// repaired continues with a valid value in the field, or without the field if it is optional.
func repaired(op, field string) verb {
	if op == spec.MoveAccounts {
		return success
	}
	return put(field, func(x *exchange, _ any) any {
		if valid, ok := x.validBody()[field]; ok {
			return valid
		}
		return removed{}
	})
}

// validBody returns a valid body of the operation for the main workspace.
func (x *exchange) validBody() fields {
	main := x.Profile.Workspaces[dataset.Main]
	switch x.Operation {
	case create:
		return fixtures.PlacementTest(rand.New(rand.NewPCG(x.Seed, 0)), "Taken for valid")
	case spec.AddCampaignVariables:
		return fields{"variables": []any{"takenForValid"}}
	}
	return fields{"id": first(main.Leads), "subsequence_id": first(main.Subsequences)}
}

// bodyMistakes accept bodies that are not JSON or not objects.
func bodyMistakes() []Defect {
	var defects []Defect
	for _, k := range []struct {
		requirement spec.ID
		what        string
		is          occasion
	}{
		{spec.RequestJSON, "a truncated body", func(x *exchange) bool { return hasBody(x) && !json.Valid(x.Body) }},
		{spec.RequestJSON, "a body that is a form", func(x *exchange) bool { return bytes.Contains(x.Body, []byte("emails=")) }},
		{spec.RequestObject, "an array as the body", func(x *exchange) bool { return isArray(decodedOrNil(x.Body)) }},
		{spec.RequestObject, "a string as the body", func(x *exchange) bool { return isText(decodedOrNil(x.Body)) }},
	} {
		for _, op := range k.requirement.Operations() {
			take := verb(func(x *exchange) { x.edit().Body = encode(x.validBody()) })
			if op.ID == spec.MoveAccounts {
				take = success
			}
			defects = append(defects, wrongly(k.requirement, op.ID, k.what, k.is, take)...)
		}
	}
	return defects
}

// pathMistakes serve ids that are not UUIDs.
func pathMistakes() []Defect {
	take := then(swapID(func(*exchange) string { return "01890000-0000-7000-8000-000000000000" }), standIn(dataset.Main))
	var defects []Defect
	for _, k := range []struct {
		what string
		is   func(id string) bool
	}{
		{"a number as the id", func(id string) bool { return strings.Trim(id, "0123456789") == "" }},
		{"a UUID with one invalid digit", func(id string) bool { return strings.Count(id, "-") == 4 && !isUUID(id) }},
		{"an id with a percent sign or an apostrophe", func(id string) bool { return strings.ContainsAny(id, "%'") }},
		{"a word as the id", func(id string) bool { return strings.Trim(id, "abcdefghijklmnopqrstuvwxyz-") == "" }},
	} {
		for _, op := range spec.RequestPathID.Operations() {
			defects = append(defects, wrongly(spec.RequestPathID, op.ID, k.what, func(x *exchange) bool { return k.is(x.ID) }, take)...)
		}
	}
	return defects
}

// echoes take a value of the wrong type or form, which a lenient server turns into a valid
// one, and show it in the response as it was sent.
func echoes() []Defect {
	var defects []Defect
	for _, l := range []struct {
		field, doc string
		loose      any
	}{
		{"type", "true for type", true},
		{"email_subject", "a number for email_subject", json.Number("7")},
		{"email_body", "a boolean for email_body", true},
	} {
		defects = append(defects, defect(spec.RequestInvalid(l.field), create, "accepts "+l.doc+" and shows it as it was sent",
			when(sends(l.field, equal(l.loose)), set(l.field, constant(l.loose))), when(sends(l.field, equal(l.loose)), repaired(create, l.field))))
	}
	return defects
}

// formDefects refuse or misread a form of a valid request: the order of members, a choice of
// optional fields, a null body.
func formDefects() []Defect {
	missing := func(n int) occasion {
		return sending(func(body fields) bool {
			unsent := slices.DeleteFunc(slices.Clone(spec.CreateOptional), func(field string) bool { _, sent := body[field]; return sent })
			return len(unsent) == n
		})
	}
	null := func(x *exchange) bool { return string(bytes.TrimSpace(x.Body)) == "null" }
	return slices.Concat(mistakes{
		spec.RequestOrder: {
			{"refuses members that are not in alphabetical order", isBackwards, refuse(400)},
			{"answers 500 to members that are not in alphabetical order", isBackwards, refuse(500)},
		},
		spec.RequestOptional: {
			{"refuses a body with all optional fields but one", missing(1), refuse(400)},
			{"answers 500 to a body with all optional fields", missing(0), refuse(500)},
			{"does not store a test with all optional fields", missing(0), inPassing},
			{"refuses the example of the document", sends("test_code", equal("ptid_a1b2c3")), refuse(400)},
		},
		spec.RequestNullBody: {
			{"refuses a deletion with the body null", null, refuse(400)},
			{"deletes nothing if the body is null", all(permitted, null), keep},
		},
	}.on(""), []Defect{
		defect(spec.RequestOrder, create, "ignores description if it is not after the other members", when(isBackwards, dropped("description"))),
		defect(spec.RequestOrder, spec.MoveAccounts, "moves nothing if the members are not in alphabetical order", when(isBackwards, success)),
	})
}

// isBackwards is a request whose members are not in alphabetical order.
func isBackwards(x *exchange) bool {
	body := x.sent()
	decoder := json.NewDecoder(bytes.NewReader(x.Body))
	_, _ = decoder.Token() // the brace: sent has read the body
	first, _ := decoder.Token()
	return len(body) > 1 && sortedKeys(body)[0] < fmt.Sprint(first)
}
