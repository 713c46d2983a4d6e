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

// extension returns the value of an extension keyword; the zero value if it is absent.
func extension[T any](s *openapi3.SchemaRef, name string) T {
	value, _ := s.Value.Extensions[name].(T)
	return value
}

// conditional returns the reason why a property may be absent; empty for a required one.
func conditional(parent *openapi3.Schema, p named) string {
	if p.Ref == "" {
		return extension[string](p.SchemaRef, "x-conditional")
	}
	refs, _ := parent.Extensions["x-conditional-refs"].(map[string]any)
	reason, _ := refs[p.name].(string)
	return reason
}

// formatOf returns the format that the validator checks: the strict one, if the schema
// names it. Formats of numbers are hints for generators of code.
func formatOf(s *openapi3.SchemaRef) string {
	if strict := extension[string](s, "x-format"); strict != "" {
		return strict
	}
	if s.Value.Type.Is(openapi3.TypeString) {
		return s.Value.Format
	}
	return ""
}

// patternOf returns the pattern that the validator checks. One that only says a strict
// format to other tools would find each fault a second time.
func patternOf(s *openapi3.SchemaRef) string {
	if extension[string](s, "x-format") != "" {
		return ""
	}
	return s.Value.Pattern
}

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
			list = append(list, bound{keyword, *v.Min})
		case "maximum":
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

// reference checks a $ref. Nothing may stand beside it: tools ignore or refuse every
// keyword there.
func reference(where string, s *openapi3.SchemaRef) error {
	if name, ok := strings.CutPrefix(s.Ref, refPrefix); !ok || strings.Contains(name, "/") {
		return fmt.Errorf("%s: $ref %q names no entry of %s", where, s.Ref, refPrefix)
	}
	for _, keyword := range keywords(s) {
		if keyword != "$ref" {
			return fmt.Errorf("%s: %s stands beside $ref (x-conditional-refs of the object takes a reason)", where, keyword)
		}
	}
	return nil
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
		"minimum", "maximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"properties", "required", "items", "additionalProperties", "readOnly", "writeOnly",
		"description", "example", "default":
		return nil
	case "format":
		return knownFormat(s.Value)
	case "x-format":
		return strictFormat(s.Value)
	case "pattern":
		_, err := regexp.Compile(s.Value.Pattern)
		return err
	case "x-resource", "x-conditional", "x-conditional-refs", "x-words", "x-enum", "x-owner", "x-names":
		return extensionTypes(s.Value.Extensions)
	}
	return fmt.Errorf("unknown keyword %q; add its meaning to schemas/internal/derive", keyword)
}

// numberFormats are the formats of numbers. They tell generators of code how large a
// number is, and rule no number out.
var numberFormats = []string{"double", "int32"}

// knownFormat returns an error for a format that is not a standard one.
func knownFormat(s *openapi3.Schema) error {
	if f, ok := format.Lookup(s.Format); ok && f.Standard == "" && s.Type.Is(openapi3.TypeString) {
		return nil
	}
	if slices.Contains(numberFormats, s.Format) && !s.Type.Is(openapi3.TypeString) {
		return nil
	}
	return fmt.Errorf("unknown format %q; known are %s, and for numbers %s", s.Format,
		strings.Join(format.Names(), ", "), strings.Join(numberFormats, ", "))
}

// strictFormat returns an error if the standard keywords beside x-format do not say the
// same.
func strictFormat(s *openapi3.Schema) error {
	name, _ := s.Extensions["x-format"].(string)
	f, ok := format.Lookup(name)
	switch {
	case !ok || f.Standard == "":
		return fmt.Errorf("x-format: unknown strict format %v", s.Extensions["x-format"])
	case s.Format != "" && s.Format != f.Standard || s.Pattern != f.Pattern:
		return fmt.Errorf("x-format %s needs the format %s, or none, and the pattern %s", name, f.Standard, f.Pattern)
	}
	return nil
}

// extensionTypes checks the types of the extension keywords, which kin-openapi
// does not know.
func extensionTypes(extensions map[string]any) error {
	for name, value := range extensions {
		ok := true
		switch name {
		case "x-resource", "x-owner":
			_, ok = value.(bool)
		case "x-conditional", "x-words", "x-names":
			_, ok = value.(string)
		case "x-conditional-refs":
			_, ok = value.(map[string]any)
		case "x-enum":
			_, ok = value.([]any)
		}
		if !ok {
			return fmt.Errorf("%s: wrong type %T", name, value)
		}
	}
	return nil
}

// alternative checks an alternative of anyOf. It holds a type and no rule more:
// OpenAPI 3.0 has no other way to allow several types.
func (c checker) alternative(where string, s *openapi3.SchemaRef) error {
	for _, keyword := range keywords(s) {
		hint := keyword == "format" && slices.Contains(numberFormats, s.Value.Format)
		if keyword != "type" && keyword != "nullable" && !hint {
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
	refs, _ := s.Extensions["x-conditional-refs"].(map[string]any)
	for name := range refs {
		if p := s.Properties[name]; p == nil || p.Ref == "" {
			return fmt.Errorf("%s: x-conditional-refs names %q, which is not a property with a $ref", where, name)
		}
	}
	list := inOrder(s.Properties)
	for _, p := range list {
		if strings.Contains(p.name, ".") {
			return fmt.Errorf("%s: property name %q: a name cannot hold a dot, which joins paths", where, p.name)
		}
		if slices.Contains(s.Required, p.name) == (conditional(s, p) != "") {
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
