package derive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"outreach.example/conformance/schemas/internal/format"
)

const refPrefix = "#/components/schemas/"

// componentOf returns the name of the component that a $ref names.
func componentOf(s *openapi3.SchemaRef) string { return strings.TrimPrefix(s.Ref, refPrefix) }

// keywords returns the keywords of a schema in the document's order.
func keywords(s *openapi3.SchemaRef) []string {
	if s.Origin == nil {
		return nil
	}
	var names []string
	for _, field := range s.Origin.Fields {
		names = append(names, field.Name)
	}
	return names
}

// extension returns the value of an extension keyword, which may stand beside a
// $ref; the zero value if it is absent.
func extension[T any](s *openapi3.SchemaRef, name string) T {
	extensions := s.Extensions
	if s.Ref == "" {
		extensions = s.Value.Extensions
	}
	value, _ := extensions[name].(T)
	return value
}

func conditional(s *openapi3.SchemaRef) string { return extension[string](s, "x-conditional") }

// types returns the types that a schema allows, "null" last; nil for any type.
func types(s *openapi3.Schema) []string {
	names, null := slices.Clone(s.Type.Slice()), s.Nullable
	for _, alternative := range s.AnyOf {
		names = append(names, alternative.Value.Type.Slice()...)
		null = null || alternative.Value.Nullable
	}
	if null {
		names = append(names, "null")
	}
	return names
}

// enum returns the values of enum or x-enum, without null; nil for any value.
func enum(s *openapi3.SchemaRef) []any {
	if s.Value.Enum != nil {
		return s.Value.Enum
	}
	values, _ := s.Value.Extensions["x-enum"].([]any)
	return values
}

// closed reports whether a schema forbids properties that it does not list.
func closed(s *openapi3.Schema) bool {
	allowed := s.AdditionalProperties.Has
	return allowed != nil && !*allowed
}

// bound is a keyword that limits a number or a length, as draft-07 spells it.
type bound struct {
	keyword string
	value   any
}

// bounds returns the bounds of a schema in the document's order.
func bounds(s *openapi3.SchemaRef) []bound {
	v := s.Value
	var list []bound
	for _, keyword := range keywords(s) {
		switch keyword {
		case "minimum":
			if v.ExclusiveMin.IsTrue() {
				keyword = "exclusiveMinimum"
			}
			list = append(list, bound{keyword, *v.Min})
		case "maximum":
			if v.ExclusiveMax.IsTrue() {
				keyword = "exclusiveMaximum"
			}
			list = append(list, bound{keyword, *v.Max})
		case "multipleOf":
			list = append(list, bound{keyword, *v.MultipleOf})
		case "minLength":
			list = append(list, bound{keyword, v.MinLength})
		case "maxLength":
			list = append(list, bound{keyword, *v.MaxLength})
		case "minItems":
			list = append(list, bound{keyword, v.MinItems})
		case "maxItems":
			list = append(list, bound{keyword, *v.MaxItems})
		case "minProperties":
			list = append(list, bound{keyword, v.MinProps})
		case "maxProperties":
			list = append(list, bound{keyword, *v.MaxProps})
		}
	}
	return list
}

// children returns the schemas of the properties, the items and the entries.
// The name of each is its place below its parent.
func children(s *openapi3.Schema) []named {
	list := inOrder(s.Properties)
	if s.Items != nil {
		list = append(list, named{"items", s.Items})
	}
	if s.AdditionalProperties.Schema != nil {
		list = append(list, named{"additionalProperties", s.AdditionalProperties.Schema})
	}
	return list
}

// checker checks schemas by the rules at the head of openapi.yaml. It holds the
// schemas that it has checked.
type checker map[*openapi3.Schema]bool

// schema checks a schema and everything below it, but not what a $ref names:
// components are checked where they stand.
func (c checker) schema(where string, s *openapi3.SchemaRef) error {
	if s.Ref != "" {
		return reference(where, s)
	}
	if s.Origin == nil && !s.Value.IsEmpty() {
		return fmt.Errorf("%s: kin-openapi recorded no positions", where)
	}
	for _, keyword := range keywords(s) {
		if err := known(keyword, s); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	c[s.Value] = true
	v := s.Value
	if v.Nullable && (v.Type == nil || v.Enum != nil) {
		return fmt.Errorf("%s: nullable needs a type, and x-enum in place of enum (see the head of openapi.yaml)", where)
	}
	for i, alternative := range v.AnyOf {
		if err := c.alternative(fmt.Sprintf("%s.anyOf[%d]", where, i), alternative); err != nil {
			return err
		}
	}
	for _, child := range children(v) {
		if err := c.schema(where+"."+child.name, child.SchemaRef); err != nil {
			return err
		}
	}
	return properties(where, v)
}

// reference checks a $ref. Only x-conditional may stand beside it: other tools
// ignore every keyword there.
func reference(where string, s *openapi3.SchemaRef) error {
	if name, ok := strings.CutPrefix(s.Ref, refPrefix); !ok || strings.Contains(name, "/") {
		return fmt.Errorf("%s: $ref %q names no entry of %s", where, s.Ref, refPrefix)
	}
	for _, keyword := range keywords(s) {
		if keyword != "$ref" && keyword != "x-conditional" {
			return fmt.Errorf("%s: tools ignore %s beside $ref", where, keyword)
		}
	}
	return extensionTypes(s.Extensions)
}

// known returns an error for a keyword that this package does not know, and for
// one with a bad value that kin-openapi accepts.
func known(keyword string, s *openapi3.SchemaRef) error {
	switch keyword {
	case "type":
		if s.Origin.Sequences["type"] != nil {
			return fmt.Errorf("type: a list; OpenAPI 3.0 takes one name")
		}
		return nil
	case "nullable", "anyOf", "enum",
		"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"properties", "required", "items", "additionalProperties", "readOnly", "writeOnly",
		"description", "example", "default":
		return nil
	case "format":
		if _, ok := format.Lookup(s.Value.Format); !ok {
			return fmt.Errorf("unknown format %q; known are %s", s.Value.Format, strings.Join(format.Names(), ", "))
		}
		return nil
	case "pattern":
		_, err := regexp.Compile(s.Value.Pattern)
		return err
	case "x-resource", "x-conditional", "x-words", "x-enum":
		return extensionTypes(s.Value.Extensions)
	}
	return fmt.Errorf("unknown keyword %q; add its meaning to schemas/internal/derive", keyword)
}

// extensionTypes checks the types of the extension keywords, which kin-openapi
// does not know.
func extensionTypes(extensions map[string]any) error {
	for name, value := range extensions {
		ok := true
		switch name {
		case "x-resource":
			_, ok = value.(bool)
		case "x-conditional", "x-words":
			_, ok = value.(string)
		case "x-enum":
			_, ok = value.([]any)
		}
		if !ok {
			return fmt.Errorf("%s: wrong type %T", name, value)
		}
	}
	return nil
}

// alternative checks an alternative of anyOf. It holds a type and nothing more:
// OpenAPI 3.0 has no other way to allow several types.
func (c checker) alternative(where string, s *openapi3.SchemaRef) error {
	for _, keyword := range keywords(s) {
		if keyword != "type" && keyword != "nullable" {
			return fmt.Errorf("%s: an alternative may hold type and nullable, not %s", where, keyword)
		}
	}
	if s.Value.Type == nil {
		return fmt.Errorf("%s: an alternative needs a type", where)
	}
	return c.schema(where, s)
}

// properties checks the properties of an object.
func properties(where string, s *openapi3.Schema) error {
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("%s: required names %q, which is not in properties", where, name)
		}
	}
	list := inOrder(s.Properties)
	for _, p := range list {
		if strings.Contains(p.name, ".") {
			return fmt.Errorf("%s: property name %q: a name cannot hold a dot, which joins paths", where, p.name)
		}
		if slices.Contains(s.Required, p.name) == (conditional(p.SchemaRef) != "") {
			return fmt.Errorf("%s.%s: it needs either an entry in required or a reason in x-conditional", where, p.name)
		}
		first := list[0].Value
		if closed(s) && (len(types(p.Value)) != 1 || !slices.Equal(types(p.Value), types(first))) {
			return fmt.Errorf("%s: the entries of a closed object need one and the same type", where)
		}
	}
	return nil
}

// complete returns an error if kin-openapi finds a schema in a place that load
// does not read.
func (c checker) complete(doc *openapi3.T) error {
	return doc.WalkSchemas(func(pointer string, s *openapi3.SchemaRef) error {
		if !c[s.Value] {
			return fmt.Errorf("%s: unknown place for a schema; add it to schemas/internal/derive", pointer)
		}
		return nil
	})
}
