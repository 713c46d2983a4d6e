package derive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"outreach.example/conformance/schemas/internal/format"
)

// schema is one OpenAPI 3.0 schema with the keywords that the document uses.
type schema struct {
	Where string // path in the document, for errors
	Name  string // of a component
	Ref   string // name of the component that stands here; all else but Conditional is empty then

	Types   []string // "null" last; empty where any type will do
	Enum    []any    // from enum or x-enum, without null
	Format  string
	Pattern string
	Bounds  yaml.MapSlice // minimum, minItems, … as draft-07 writes them

	Properties []property
	Required   []string
	Items      *schema
	// Closed: no other properties. Additional: what the others must be; nil for anything.
	Closed     bool
	Additional *schema

	ReadOnly, WriteOnly bool
	Resource            bool
	Conditional, Words  string

	source yaml.MapSlice
}

type property struct {
	Name string
	*schema
}

const refPrefix = "#/components/schemas/"

func isExtension(key string) bool { return strings.HasPrefix(key, "x-") }

// parseSchema reads one schema position. A keyword that it does not know is an error.
func parseSchema(node any, where string) (*schema, error) {
	source, ok := node.(yaml.MapSlice)
	if !ok {
		return nil, fmt.Errorf("%s: a schema is a mapping, not %T", where, node)
	}
	s := &schema{Where: where, source: source}
	var nullable, enumGiven, exclusive bool
	for _, item := range source {
		key, _ := item.Key.(string)
		var err error
		switch key {
		case "$ref":
			target, _ := item.Value.(string)
			if s.Ref, ok = strings.CutPrefix(target, refPrefix); !ok {
				return nil, fmt.Errorf("%s: $ref %q does not begin with %s", where, target, refPrefix)
			}
		case "type":
			var name string
			if name, err = read[string](item); err == nil {
				s.Types = []string{name}
			}
		case "nullable":
			nullable, err = read[bool](item)
		case "anyOf":
			s.Types, err = parseTypes(item.Value, where+".anyOf")
		case "enum":
			s.Enum, err = read[[]any](item)
			enumGiven = true
		case "x-enum":
			s.Enum, err = read[[]any](item)
		case "format":
			s.Format, err = read[string](item)
			if _, known := format.Lookup(s.Format); err == nil && !known {
				err = fmt.Errorf("unknown format %q; known are %s", s.Format, strings.Join(format.Names(), ", "))
			}
		case "pattern":
			if s.Pattern, err = read[string](item); err == nil {
				_, err = regexp.Compile(s.Pattern)
			}
		case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
			s.Bounds = append(s.Bounds, item)
		case "exclusiveMinimum", "exclusiveMaximum":
			exclusive, err = read[bool](item)
			if err == nil && exclusive {
				s.Bounds = append(s.Bounds, item)
			}
		case "properties":
			s.Properties, err = parseProperties(item.Value, where)
		case "required":
			s.Required, err = parseStrings(item)
		case "items":
			s.Items, err = parseSchema(item.Value, where+".items")
		case "additionalProperties":
			if allowed, isBool := item.Value.(bool); isBool {
				s.Closed = !allowed
			} else {
				s.Additional, err = parseSchema(item.Value, where+".additionalProperties")
			}
		case "readOnly":
			s.ReadOnly, err = read[bool](item)
		case "writeOnly":
			s.WriteOnly, err = read[bool](item)
		case "x-resource":
			s.Resource, err = read[bool](item)
		case "x-conditional":
			s.Conditional, err = read[string](item)
		case "x-words":
			s.Words, err = read[string](item)
		case "description", "example", "default":
		default:
			return nil, fmt.Errorf("%s: unknown keyword %q; teach internal/derive what it means", where, item.Key)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", where, key, err)
		}
	}
	if nullable {
		if len(s.Types) == 0 || enumGiven {
			return nil, fmt.Errorf("%s: nullable needs a type, and x-enum in place of enum (see the head of openapi.yaml)", where)
		}
		s.Types = append(s.Types, "null")
	}
	return s, s.check()
}

// check holds the schema to the document's own rules.
func (s *schema) check() error {
	if s.Ref != "" {
		for _, item := range s.source {
			if item.Key != "$ref" && item.Key != "x-conditional" {
				return fmt.Errorf("%s: tools ignore %v beside $ref", s.Where, item.Key)
			}
		}
	}
	for _, name := range s.Required {
		if !slices.ContainsFunc(s.Properties, func(p property) bool { return p.Name == name }) {
			return fmt.Errorf("%s: required names %q, which is no property", s.Where, name)
		}
	}
	for _, p := range s.Properties {
		if slices.Contains(s.Required, p.Name) == (p.Conditional != "") {
			return fmt.Errorf("%s: it must be either required or x-conditional, with the reason", p.Where)
		}
	}
	if s.Closed && len(s.Properties) > 0 {
		for _, p := range s.Properties[1:] {
			if !slices.Equal(p.Types, s.Properties[0].Types) || len(p.Types) != 1 {
				return fmt.Errorf("%s: the entries of a closed object are all of one type", s.Where)
			}
		}
	}
	return nil
}

func (s *schema) children() []*schema {
	var all []*schema
	for _, p := range s.Properties {
		all = append(all, p.schema)
	}
	for _, child := range []*schema{s.Items, s.Additional} {
		if child != nil {
			all = append(all, child)
		}
	}
	return all
}

// parseTypes reads an anyOf whose alternatives say nothing but a type: the one
// way that OpenAPI 3.0 has to allow several.
func parseTypes(node any, where string) ([]string, error) {
	alternatives, ok := node.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a list", where)
	}
	var types []string
	null := false
	for i, alternative := range alternatives {
		s, err := parseSchema(alternative, fmt.Sprintf("%s[%d]", where, i))
		if err != nil {
			return nil, err
		}
		for _, item := range s.source {
			if item.Key != "type" && item.Key != "nullable" {
				return nil, fmt.Errorf("%s: an alternative may say type and nullable, not %v", s.Where, item.Key)
			}
		}
		types = append(types, s.Types[0])
		null = null || len(s.Types) > 1
	}
	if null {
		types = append(types, "null")
	}
	return types, nil
}

func parseProperties(node any, where string) ([]property, error) {
	source, ok := node.(yaml.MapSlice)
	if !ok {
		return nil, fmt.Errorf("not a mapping")
	}
	var properties []property
	for _, item := range source {
		name, ok := item.Key.(string)
		if !ok || strings.Contains(name, ".") {
			return nil, fmt.Errorf("property name %v: it must be a string without a dot, which paths are joined by", item.Key)
		}
		s, err := parseSchema(item.Value, where+"."+name)
		if err != nil {
			return nil, err
		}
		properties = append(properties, property{name, s})
	}
	return properties, nil
}

func parseStrings(item yaml.MapItem) ([]string, error) {
	list, err := read[[]any](item)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%v is not a string", v)
		}
		out[i] = s
	}
	return out, nil
}

func read[T any](item yaml.MapItem) (T, error) {
	value, ok := item.Value.(T)
	if !ok {
		return value, fmt.Errorf("%v is a %T, not a %T", item.Value, item.Value, value)
	}
	return value, nil
}
