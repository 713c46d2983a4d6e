// Package schematest holds a results model, its reader and its JSON Schema
// against each other. Only tests may import it; it imports nothing of this
// module.
package schematest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"
	"pgregory.net/rapid"
)

// Compiled is the schema that is committed.
func Compiled(t testing.TB, schema []byte) *gojsonschema.Schema {
	t.Helper()
	s, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(schema))
	if err != nil {
		t.Fatalf("the committed schema does not compile: %v", err)
	}
	return s
}

// Findings are the schema's objections to a document.
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

// ParseIsNoLaxer damages a document that is right in many ways. Whatever parse
// still accepts, the schema accepts: a file that our reader takes may be handed
// to anyone who only has the schema. Words are values of the model that damage
// may put in the place of others.
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
			t.Fatalf("Parse accepts what the schema refuses: %v", all)
		}
	})
	if accepted == 0 {
		t.Fatal("no damaged document was accepted: the property was never put to the test")
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

// SameFields makes sure that every field of the model stands in the schema and
// the other way round, and is required there unless it may be left out. A
// definition bears the name of its type in lower case, or the one that names
// gives. SameFields returns how many types and definitions it has seen.
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
