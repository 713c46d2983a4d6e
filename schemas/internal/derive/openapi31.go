package derive

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// openAPI31 returns the same document as OpenAPI 3.1, whose schemas are JSON
// Schema 2020-12: null is a type there, and an enum that allows it lists it.
func (d *document) openAPI31() ([]byte, error) {
	converted, err := visit(d.source, "", elsewhere, func(value any, where string, _ use) (any, error) {
		s, err := parseSchema(value, where)
		if err != nil {
			return nil, err
		}
		return s.as31(), nil
	})
	if err != nil {
		return nil, err
	}
	root := converted.(yaml.MapSlice)
	replace(root, "openapi", "3.1.0")
	named := yaml.MapSlice{}
	for _, s := range d.components {
		named = append(named, yaml.MapItem{Key: s.Name, Value: s.as31()})
	}
	replace(get(root, "components").(yaml.MapSlice), "schemas", named)
	text, err := yaml.MarshalWithOptions(root, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("openapi-3.1.yaml: %w", err)
	}
	return append([]byte("# "+Header+"\n"), text...), nil
}

func replace(m yaml.MapSlice, key string, value any) {
	for i := range m {
		if m[i].Key == key {
			m[i].Value = value
		}
	}
}

// as31 rewrites one schema and keeps its annotations.
func (s *schema) as31() yaml.MapSlice {
	out := yaml.MapSlice{}
	add := func(key string, value any) { out = append(out, yaml.MapItem{Key: key, Value: value}) }
	for _, item := range s.source {
		switch key := item.Key.(string); key {
		case "nullable":
		case "type", "anyOf":
			add("type", s.typeKeyword())
		case "enum", "x-enum":
			add("enum", s.enumKeyword())
		case "pattern":
			if s.Enum == nil {
				add(key, item.Value)
			}
		case "minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum":
			if bound := exclusiveBounds(s.Bounds); s.Enum == nil && get(bound, key) != nil {
				add(key, get(bound, key))
			}
		case "example":
			add("examples", []any{item.Value})
		case "items":
			add(key, s.Items.as31())
		case "additionalProperties":
			if s.Additional != nil {
				add(key, s.Additional.as31())
			} else {
				add(key, item.Value)
			}
		case "properties":
			properties := yaml.MapSlice{}
			for _, p := range s.Properties {
				properties = append(properties, yaml.MapItem{Key: p.Name, Value: p.as31()})
			}
			add(key, properties)
		default:
			add(key, item.Value)
		}
	}
	return out
}
