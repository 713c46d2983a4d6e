// Package schematest compares a results model, its reader and its JSON Schema, and shows
// what the OpenAPI document holds.
// Only tests may import it. It imports nothing of this module.
package schematest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"
	"pgregory.net/rapid"
)

// Compiled returns the compiled schema.
func Compiled(t testing.TB, schema []byte) *gojsonschema.Schema {
	t.Helper()
	s, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(schema))
	if err != nil {
		t.Fatalf("the schema does not compile: %v", err)
	}
	return s
}

// Sample returns a copy of the document's example of a resource, with every documented
// field. The example itself lacks the fields that only some responses show: their
// examples stand with them.
func Sample(t testing.TB, doc *openapi3.T, resource string) map[string]any {
	t.Helper()
	schema := doc.Components.Schemas[resource].Value
	whole := map[string]any{}
	for name, property := range schema.Properties {
		if property.Value.Example != nil {
			whole[name] = property.Value.Example
		}
	}
	maps.Copy(whole, schema.Example.(map[string]any))
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	var sample map[string]any
	if err := json.Unmarshal(text, &sample); err != nil {
		t.Fatal(err)
	}
	return sample
}

// Findings returns the violations of the schema in a document.
func Findings(t interface{ Fatalf(string, ...any) }, s *gojsonschema.Schema, body []byte) []string {
	result, err := s.Validate(gojsonschema.NewBytesLoader(body))
	if err != nil {
		t.Fatalf("validate: %v", err)
	}
	var all []string
	for _, e := range result.Errors() {
		all = append(all, e.String())
	}
	return all
}

// ParseIsNoLaxer checks that the schema accepts every document that parse
// accepts: users of a file may have the schema alone. It damages a valid
// document in many ways. The damage may replace a value with one of words.
func ParseIsNoLaxer(t *testing.T, schema, base []byte, parse func([]byte) error, words ...any) {
	t.Helper()
	s := Compiled(t, schema)
	values := append(words, nil, true, "", "x", 0.0, -1.0, 0.5, 1.5, 7.0, []any{}, []any{"x"}, map[string]any{})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var tree any
		if err := json.Unmarshal(base, &tree); err != nil {
			t.Fatal(err)
		}
		damage(t, tree, values)
		body, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if parse(body) != nil {
			return
		}
		accepted++
		if all := Findings(t, s, body); len(all) > 0 {
			t.Fatalf("Parse accepts a document that the schema refuses: %v", all)
		}
	})
	if accepted == 0 {
		t.Fatal("no damaged document was accepted: the property was never tested")
	}
}

// damage replaces, removes or adds one value somewhere in a JSON tree.
func damage(t *rapid.T, tree any, values []any) {
	replacement := func() any { return rapid.SampledFrom(values).Draw(t, "replacement") }
	switch node := tree.(type) {
	case map[string]any:
		if len(node) == 0 {
			node["extra"] = replacement()
			return
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(node))).Draw(t, "key")
		switch rapid.SampledFrom([]string{"down", "down", "down", "down", "replace", "remove", "add", "case"}).Draw(t, "what") {
		case "down":
			switch node[key].(type) {
			case map[string]any, []any:
				damage(t, node[key], values)
			default:
				node[key] = replacement()
			}
		case "replace":
			node[key] = replacement()
		case "remove":
			delete(node, key)
		case "add":
			node["extra"] = replacement()
		case "case":
			node[strings.ToUpper(key)] = node[key]
			delete(node, key)
		}
	case []any:
		if len(node) > 0 {
			damage(t, node[rapid.IntRange(0, len(node)-1).Draw(t, "index")], values)
		}
	}
}

// SameFields checks that the model and the schema have the same fields, and that
// the schema requires every field without omitempty. The name of a definition is
// that of its type in lower case, or the entry of names. SameFields returns the
// numbers of types and definitions.
func SameFields(t *testing.T, schema []byte, model reflect.Type, names map[reflect.Type]string) (types, definitions int) {
	t.Helper()
	type object struct {
		Properties  map[string]json.RawMessage `json:"properties"`
		Required    []string                   `json:"required"`
		Definitions map[string]object          `json:"definitions"`
	}
	var document object
	if err := json.Unmarshal(schema, &document); err != nil {
		t.Fatal(err)
	}
	reached := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, typ.Kind()) {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || reached[typ] {
			return
		}
		reached[typ] = true
		definition, name := document, names[typ]
		if name == "" {
			name = strings.ToLower(typ.Name())
		}
		if typ != model {
			definition = document.Definitions[name]
		}
		var fields, always []string
		for i := range typ.NumField() {
			name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
			if options != "omitempty" {
				always = append(always, name)
			}
			walk(typ.Field(i).Type)
		}
		g := gomega.NewWithT(t)
		g.Expect(slices.Collect(maps.Keys(definition.Properties))).To(gomega.ConsistOf(fields), "properties of %s", typ)
		g.Expect(definition.Required).To(gomega.ConsistOf(always), "required of %s", typ)
	}
	walk(model)
	return len(reached), len(document.Definitions)
}
