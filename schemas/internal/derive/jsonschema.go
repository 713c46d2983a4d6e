package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// idBase begins the $id of every schema. It is a name, not an address: the validator
// loads all schemas before it compiles one.
const idBase = "https://outreach.example/schemas/"

// variant is the side of an exchange that a JSON Schema is for.
type variant struct {
	suffix string
	closed bool                        // an unknown property is an error
	omits  func(*openapi3.Schema) bool // a property of the other side
	uses   func(*document) map[string]bool
}

// A response may hold undocumented properties. Requests are our own, so that an
// undocumented property is a mistake there.
var variants = []variant{
	{".schema.json", false, func(s *openapi3.Schema) bool { return s.WriteOnly }, func(d *document) map[string]bool { return d.responses }},
	{".request.schema.json", true, func(s *openapi3.Schema) bool { return s.ReadOnly }, func(d *document) map[string]bool { return d.requests }},
}

// object is a JSON object whose members have an order.
type object []member

type member struct {
	key   string
	value any
}

// jsonSchemas returns the draft-07 form of every component, one file for each
// side that uses it.
func (d *document) jsonSchemas() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, v := range variants {
		for _, s := range d.components {
			if !v.uses(d)[s.name] {
				continue
			}
			file := s.name + v.suffix
			head := object{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", idBase + file}, {"$comment", Header}}
			text, err := encodeJSON(append(head, v.draft07(s.SchemaRef)...))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			files["schemas/json/"+file] = text
		}
	}
	return files, nil
}

// draft07 rewrites one schema and drops its annotations.
func (v variant) draft07(ref *openapi3.SchemaRef) object {
	if ref.Ref != "" {
		return object{{"$ref", componentOf(ref) + v.suffix}}
	}
	s := ref.Value
	var out object
	add := func(key string, value any) { out = append(out, member{key, value}) }
	allowed := types(s)
	switch len(allowed) {
	case 0:
	case 1:
		add("type", allowed[0])
	default:
		add("type", allowed)
	}
	if values := enum(ref); values != nil {
		if slices.Contains(allowed, "null") {
			values = append(slices.Clone(values), nil)
		}
		add("enum", values)
	} else {
		if pattern := patternOf(ref); pattern != "" {
			add("pattern", pattern)
		}
		for _, b := range bounds(ref) {
			add(b.keyword, b.value)
		}
	}
	if name := formatOf(ref); name != "" {
		add("format", name)
	}
	if s.Items != nil {
		add("items", v.draft07(s.Items))
	}
	var required []string
	var properties object
	for _, p := range inOrder(s.Properties) {
		if v.omits(p.Value) {
			continue
		}
		properties = append(properties, member{p.name, v.draft07(p.SchemaRef)})
		if slices.Contains(s.Required, p.name) {
			required = append(required, p.name)
		}
	}
	if len(required) > 0 {
		add("required", required)
	}
	if len(properties) > 0 {
		add("properties", properties)
	}
	switch {
	case s.AdditionalProperties.Schema != nil:
		add("additionalProperties", v.draft07(s.AdditionalProperties.Schema))
	case closed(s) || v.closed && len(s.Properties) > 0:
		add("additionalProperties", false)
	}
	return out
}

// encodeJSON writes a value with indentation.
func encodeJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// MarshalJSON implements json.Marshaler. It keeps the order of the members.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := encoder.Encode(m.key); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
