package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// requestDefects accept requests with a missing or wrong part, or return 500.
func requestDefects() []Defect {
	return slices.Concat(fieldRequestDefects(), bodyRequestDefects(), pathIDDefects())
}

// wrongRequest is a kind of wrong requests of an operation, and how the
// operation continues if it accepts one.
type wrongRequest struct {
	operation, requirement string
	asker
	take func(*Target) behaviour
}

// defects returns the defects of a kind of wrong requests: accepted, or a
// server error.
func (w wrongRequest) defects() []Defect {
	taken := whenAsked(w.operation, w.requirement, w.asker, "taken", "accepts %s", w.take)
	return append([]Defect{taken}, misrefused(w.operation, w.requirement, w.asker, http.StatusInternalServerError)...)
}

// fieldRequestDefects covers each mistake in each field of the bodies.
func fieldRequestDefects() []Defect {
	var defects []Defect
	for _, f := range bodyFields {
		for _, m := range f.mistakes {
			defects = append(defects, f.with(m).defects()...)
			if strings.HasSuffix(m.name, "-item") {
				defects = append(defects, f.with(afterValid(m)).defects()[0])
			}
		}
		if f.operation == spec.CreatePlacementTest {
			defects = append(defects, f.createdAnyway())
			defects = append(defects, f.automatedDefects()...)
		}
	}
	return defects
}

// bodyField is a field of a request body, and the mistakes that break one
// requirement on it.
type bodyField struct {
	operation, requirement, field string
	mistakes                      []mistake
}

// with returns the wrong request with the mistake in the field.
func (f bodyField) with(m mistake) wrongRequest {
	word := strings.ReplaceAll(f.field, "_", "-")
	by := asker{word + "-" + m.name, fmt.Sprintf("a body with %s in %s", m.what, f.field), func(_ *Target, r Request) bool {
		return f.hasMistake(r, m)
	}}
	if m.absent {
		by.who = "a body without " + f.field
	}
	return wrongRequest{f.operation, f.requirement, by, f.repaired}
}

func (f bodyField) hasMistake(r Request, m mistake) bool {
	body, ok := objectIn(r)
	value, present := body[f.field]
	return ok && (m.absent && !present || present && m.wrong != nil && m.wrong(value))
}

// repaired continues with a valid value in the field, or without the field if
// it is optional.
func (f bodyField) repaired(a *Target) behaviour {
	if f.operation == spec.MoveAccounts {
		return moved
	}
	valid, given := a.validBody(f.operation)[f.field]
	return func(next Handler, r Request) (Response, error) {
		body, _ := objectIn(r)
		delete(body, f.field)
		if given {
			body[f.field] = valid
		}
		r = r.clone()
		r.Body = encode(body)
		return next(r)
	}
}

// automatedDefects accept an automated test without the field.
func (f bodyField) automatedDefects() []Defect {
	i := slices.IndexFunc(f.mistakes, func(m mistake) bool { return m.absent })
	if i < 0 || f.field == "type" {
		return nil
	}
	by := asker{strings.ReplaceAll(f.field, "_", "-") + "-of-automated-test", "an automated test without " + f.field, func(_ *Target, r Request) bool {
		body, ok := objectIn(r)
		return ok && shows("type", json.Number("2"))(body) && f.hasMistake(r, f.mistakes[i])
	}}
	return []Defect{whenAsked(f.operation, f.requirement, by, "taken", "accepts %s", f.repaired)}
}

// createdAnyway returns the defect of refusing a body but creating a test from
// it.
func (f bodyField) createdAnyway() Defect {
	by := asker{strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(f.requirement, "REQUEST-"), "_", "-")),
		"a body without a valid " + f.field, func(_ *Target, r Request) bool {
			return slices.ContainsFunc(f.mistakes, func(m mistake) bool { return f.hasMistake(r, m) })
		}}
	return whenAsked(f.operation, f.requirement, by, "created-anyway", "answers 400 to %s but creates a test from it",
		func(a *Target) behaviour {
			create := f.repaired(a)
			return func(next Handler, r Request) (Response, error) {
				answer, err := create(next, r)
				if err != nil || answer.Status != http.StatusOK {
					return answer, err
				}
				return refusal(http.StatusBadRequest), nil
			}
		})
}

// validBody returns a valid body of the operation for the main workspace.
func (a *Target) validBody(operation string) map[string]any {
	main := a.Profile.Workspaces[dataset.Main]
	switch operation {
	case spec.CreatePlacementTest:
		return fixtures.PlacementTest(rand.New(rand.NewPCG(a.Seed, 0)), "Taken for valid")
	case spec.AddCampaignVariables:
		return map[string]any{"variables": []any{"takenForValid"}}
	case spec.MoveLead:
		return map[string]any{"id": first(main.Leads), "subsequence_id": first(main.Subsequences)}
	}
	return nil
}

// bodyRequestDefects accept bodies that are not JSON or not objects.
func bodyRequestDefects() []Defect {
	kinds := []struct {
		requirement, name, who string
		is                     func(body []byte) bool
	}{
		{"REQUEST-JSON", "body-cut-off", "a truncated body", func(body []byte) bool {
			_, ok := decode(body)
			return !ok && len(body) > 0
		}},
		{"REQUEST-JSON", "body-a-form", "a body that is a form", func(body []byte) bool {
			values, err := url.ParseQuery(string(body))
			return err == nil && values.Has("emails")
		}},
		{"REQUEST-OBJECT", "body-array", "an array as the body", func(body []byte) bool { return isArray(decodedOrNil(body)) }},
		{"REQUEST-OBJECT", "body-text", "a string as the body", func(body []byte) bool { return isText(decodedOrNil(body)) }},
	}
	var defects []Defect
	for _, op := range spec.Operations() {
		if op.Method != http.MethodPost {
			continue
		}
		for _, k := range kinds {
			by := asker{k.name, k.who, func(_ *Target, r Request) bool { return k.is(r.Body) }}
			defects = append(defects, wrongRequest{op.ID, k.requirement, by, takingAnotherBody(op.ID)}.defects()...)
		}
	}
	return defects
}

// takingAnotherBody continues with a valid body instead of the received one.
func takingAnotherBody(operation string) func(*Target) behaviour {
	return func(a *Target) behaviour {
		if operation == spec.MoveAccounts {
			return moved
		}
		valid := encode(a.validBody(operation))
		return func(next Handler, r Request) (Response, error) {
			r = r.clone()
			r.Body = valid
			return next(r)
		}
	}
}

// decodedOrNil returns the value of a body; nil for invalid JSON.
func decodedOrNil(body []byte) any {
	value, _ := decode(body)
	return value
}

// pathIDDefects serve ids that are not UUIDs.
func pathIDDefects() []Defect {
	kinds := []struct {
		name, who string
		is        func(id string) bool
	}{
		{"id-number", "a number as the id", func(id string) bool { return strings.Trim(id, "0123456789") == "" }},
		{"id-broken", "a UUID with one invalid digit", func(id string) bool { return strings.Count(id, "-") == 4 && !isUUID(id) }},
		{"id-sign", "an id with a percent sign or an apostrophe", func(id string) bool { return strings.ContainsAny(id, "%'") }},
		{"id-beyond-ascii", "an id with letters beyond ASCII", func(id string) bool { return strings.ContainsFunc(id, func(r rune) bool { return r > 127 }) }},
		{"id-word", "a word as the id", func(id string) bool { return strings.Trim(id, "abcdefghijklmnopqrstuvwxyz-") == "" }},
	}
	var defects []Defect
	for _, op := range spec.Operations() {
		if !op.HasPathID() {
			continue
		}
		for _, k := range kinds {
			by := asker{k.name, k.who, func(_ *Target, r Request) bool { return k.is(r.ID) }}
			defects = append(defects, wrongRequest{op.ID, "REQUEST-PATH-ID", by, servingSomeResource}.defects()...)
		}
	}
	return defects
}

// someID replaces a wrong id in a path.
const someID = "01890000-0000-7000-8000-000000000000"

// servingSomeResource answers with a resource of the main workspace under
// someID.
func servingSomeResource(a *Target) behaviour {
	serve := a.standIn()
	return func(next Handler, r Request) (Response, error) { return serve(next, r.naming(someID)) }
}
