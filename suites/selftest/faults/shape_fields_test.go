package faults

import (
	"maps"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// TestFieldDamagesBreakOneRequirement tries every damage, also those that no defect draws, on
// the document's example of the resource, which shows every field.
func TestFieldDamagesBreakOneRequirement(t *testing.T) {
	validator, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := schemas.Document()
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, op := range spec.Operations() {
		for _, f := range spec.Fields() {
			for _, aspect := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
				requirement := f.Requirement(aspect)
				if tried[requirement] || !spec.Has(spec.ID(requirement).On(op.ID)) {
					continue
				}
				tried[requirement] = true
				for _, d := range fieldDamages(f, aspect) {
					row := wholeExample(doc, f.Resource)
					damage(row, f.Path, d.wrong)
					body := row
					switch op.Answer {
					case spec.Page:
						body = map[string]any{"items": []any{row}}
					case spec.Array:
						body = []any{row}
					}
					judged := validator.Answer(op, encode(body))
					others := slices.ContainsFunc(judged.Findings, func(found schemas.Finding) bool { return found.Requirement != requirement })
					if judged.Err != nil || len(judged.Findings) == 0 || others {
						t.Errorf("%s %s: %v, %v; want %s alone", f.Name(), d.words, judged.Findings, judged.Err, requirement)
					}
				}
			}
		}
	}
}

// wholeExample returns the example of a resource with the fields that only some responses show.
func wholeExample(doc *openapi3.T, resource string) any {
	schema, whole := doc.Components.Schemas[resource].Value, map[string]any{}
	for name, property := range schema.Properties {
		if property.Value.Example != nil {
			whole[name] = property.Value.Example
		}
	}
	maps.Copy(whole, schema.Example.(map[string]any))
	return copyOf(whole)
}
