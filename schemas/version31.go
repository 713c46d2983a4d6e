package schemas

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// OpenAPI31 derives the same document in OpenAPI 3.1, in YAML. The two versions accept the
// same: only schemas are written differently. A type list takes the place of nullable, enum
// with null the place of x-enum, and examples the place of example.
func OpenAPI31() ([]byte, error) {
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(openAPI, &doc, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("schemas: openapi.yaml: %w", err)
	}
	for i, item := range doc {
		switch item.Key {
		case "openapi":
			doc[i].Value = "3.1.0"
		case "paths":
			doc[i].Value = mediaIn31(item.Value)
		case "components":
			components, _ := item.Value.(yaml.MapSlice)
			for j, kind := range components {
				if kind.Key == "schemas" {
					components[j].Value = each(kind.Value, schemaIn31)
				} else if kind.Key != "examples" {
					components[j].Value = mediaIn31(kind.Value)
				}
			}
		}
	}
	return yaml.MarshalWithOptions(doc, yaml.IndentSequence(true), yaml.UseSingleQuote(true))
}

// mediaIn31 rewrites the schemas of everything below a path, a parameter or a response.
// Examples are data, which may have a member of any name.
func mediaIn31(value any) any {
	switch value := value.(type) {
	case yaml.MapSlice:
		for i, item := range value {
			switch item.Key {
			case "schema":
				value[i].Value = schemaIn31(item.Value)
			case "example", "examples":
			default:
				value[i].Value = mediaIn31(item.Value)
			}
		}
	case []any:
		for i, item := range value {
			value[i] = mediaIn31(item)
		}
	}
	return value
}

// each rewrites the value of each member.
func each(value any, rewrite func(any) any) any {
	object, _ := value.(yaml.MapSlice)
	for i := range object {
		object[i].Value = rewrite(object[i].Value)
	}
	return object
}

// schemaIn31 rewrites one schema. The generator has checked that it has no other keyword whose
// meaning differs between the versions.
func schemaIn31(value any) any {
	schema, ok := value.(yaml.MapSlice)
	if !ok {
		return value // additionalProperties may be a boolean
	}
	keywords := schema.ToMap()
	_, set := keywords["x-enum"]
	out := yaml.MapSlice{}
	for _, item := range schema {
		switch item.Key {
		case "type":
			if keywords["nullable"] == true {
				item.Value = []any{item.Value, "null"}
			}
		case "nullable":
			continue
		case "minimum", "maximum", "multipleOf", "pattern":
			if set { // they say the set to tools of OpenAPI 3.0
				continue
			}
		case "x-enum":
			values, _ := item.Value.([]any)
			item = yaml.MapItem{Key: "enum", Value: append(append([]any{}, values...), nil)}
		case "example":
			item = yaml.MapItem{Key: "examples", Value: []any{item.Value}}
		case "properties":
			item.Value = each(item.Value, schemaIn31)
		case "items", "additionalProperties":
			item.Value = schemaIn31(item.Value)
		case "anyOf":
			alternatives, _ := item.Value.([]any)
			for i := range alternatives {
				alternatives[i] = schemaIn31(alternatives[i])
			}
		}
		out = append(out, item)
	}
	return out
}
