package schemas

import (
	"maps"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"
)

// document31 returns the document in OpenAPI 3.1, as kin-openapi loads and validates it.
func document31(t *testing.T) *openapi3.T {
	t.Helper()
	registerFormats()
	text, err := OpenAPI31()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestBothVersionsAcceptTheSameBodies(t *testing.T) {
	old, now := document(t), document31(t)
	names := slices.Sorted(maps.Keys(resources()))
	acceptTheSame(t, func(rt *rapid.T) (body map[string]any, before, after *openapi3.Schema) {
		name := rapid.SampledFrom(names).Draw(rt, "resource")
		return example(t, name), old.Components.Schemas[name].Value, now.Components.Schemas[name].Value
	})
}

// The bodies of requests, as the operations of each version describe them.
func TestBothVersionsAcceptTheSameRequests(t *testing.T) {
	old, now := document(t), document31(t)
	acceptTheSame(t, func(rt *rapid.T) (body map[string]any, before, after *openapi3.Schema) {
		op := rapid.SampledFrom(withBody()).Draw(rt, "operation")
		schemaIn := func(doc *openapi3.T) *openapi3.Schema {
			return operationAt(t, doc, op).RequestBody.Value.Content.Get("application/json").Schema.Value
		}
		return requestExample(t, op), schemaIn(old), schemaIn(now)
	}, openapi3.VisitAsRequest())
}

// acceptTheSame mutates bodies. The schema of each version must accept the same of them.
func acceptTheSame(t *testing.T, draw func(rt *rapid.T) (body map[string]any, old, now *openapi3.Schema), options ...openapi3.SchemaValidationOption) {
	t.Helper()
	options = append(options, openapi3.EnableFormatValidation())
	valid, invalid := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		body, old, now := draw(rt)
		for range rapid.IntRange(0, 2).Draw(rt, "mutations") {
			mutate(rt, body)
		}
		before := old.VisitJSON(body, options...)
		after := now.VisitJSON(body, append(slices.Clone(options), openapi3.EnableJSONSchema2020())...)
		if (before == nil) != (after == nil) {
			rt.Fatalf("%s\n3.0: %v\n3.1: %v", mustJSON(t, body), before, after)
		}
		if before == nil {
			valid++
		} else {
			invalid++
		}
	})
	if valid == 0 || invalid == 0 {
		t.Errorf("%d mutations were valid, %d invalid: there must be both", valid, invalid)
	}
}

// Each value of a nullable field, null and a value beside the set, for both versions:
// only these schemas are written differently.
func TestBothVersionsAcceptTheSameNullableValues_long(t *testing.T) {
	old, now := document(t), document31(t)
	candidates := []any{nil, -1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 4.0, "", "x", "other", "daily_limits_hit", true, map[string]any{}, []any{}, "2026-03-01",
		"2026-03-01T09:30:00.000Z", "2026-02-30T09:30:00.000Z", "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-474b-bcce-b302099a8057"}
	compared := 0
	for name, component := range old.Components.Schemas {
		for field, property := range component.Value.Properties {
			other := now.Components.Schemas[name].Value.Properties[field]
			for _, candidate := range candidates {
				compared++
				before := property.Value.VisitJSON(candidate, openapi3.EnableFormatValidation())
				after := other.Value.VisitJSON(candidate, openapi3.EnableFormatValidation(), openapi3.EnableJSONSchema2020())
				if (before == nil) != (after == nil) {
					t.Errorf("%s.%s: %v: 3.0 says %v, 3.1 says %v", name, field, candidate, before, after)
				}
			}
		}
	}
	if compared < 100*len(candidates) {
		t.Errorf("%d comparisons", compared)
	}
}

func TestBothVersionsHaveTheSameOperations(t *testing.T) {
	old, now := document(t), document31(t)
	for path, item := range old.Paths.Map() {
		for method, op := range item.Operations() {
			other := now.Paths.Value(path).GetOperation(method)
			if other == nil || other.OperationID != op.OperationID || len(other.Parameters) != len(op.Parameters) || len(other.Responses.Map()) != len(op.Responses.Map()) {
				t.Errorf("%s %s differs between the versions", method, path)
				continue
			}
			for i, parameter := range op.Parameters {
				same := other.Parameters[i].Value
				if string(mustJSON(t, same)) != string(mustJSON(t, parameter.Value)) {
					t.Errorf("%s: the parameter %s differs between the versions", op.OperationID, parameter.Value.Name)
				}
			}
		}
	}
}
