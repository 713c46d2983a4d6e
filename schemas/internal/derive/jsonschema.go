package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
)

// The $id of the schemas. Nothing is ever fetched from there: the validator
// loads the whole set before it compiles.
const idBase = "https://outreach.example/schemas/"

// variant is the side of the wire that a JSON Schema is for.
type variant struct {
	suffix  string
	leaves  func(*schema) bool // properties that this side does not carry
	closed  bool
	reached func(*document) map[string]bool
}

// Answers may carry fields that nobody documented. Requests are our own, so
// that an unknown field in one is a mistake.
var variants = []variant{
	{".schema.json", func(s *schema) bool { return s.WriteOnly }, false, func(d *document) map[string]bool { return d.answers }},
	{".request.schema.json", func(s *schema) bool { return s.ReadOnly }, true, func(d *document) map[string]bool { return d.requests }},
}

// jsonSchemas returns the draft-07 form of every component, one file for each
// variant that the document has a use for.
func (d *document) jsonSchemas() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, v := range variants {
		for _, s := range d.components {
			if !v.reached(d)[s.Name] {
				continue
			}
			file := s.Name + v.suffix
			body := yaml.MapSlice{
				{Key: "$schema", Value: "http://json-schema.org/draft-07/schema#"},
				{Key: "$id", Value: idBase + file},
				{Key: "$comment", Value: Header},
			}
			text, err := encodeJSON(append(body, v.draft07(s)...))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Where, err)
			}
			files["schemas/json/"+file] = text
		}
	}
	return files, nil
}

// draft07 rewrites one schema and drops its annotations.
func (v variant) draft07(s *schema) yaml.MapSlice {
	if s.Ref != "" {
		return yaml.MapSlice{{Key: "$ref", Value: s.Ref + v.suffix}}
	}
	var out yaml.MapSlice
	add := func(key string, value any) { out = append(out, yaml.MapItem{Key: key, Value: value}) }
	if types := s.typeKeyword(); types != nil {
		add("type", types)
	}
	if s.Enum != nil {
		add("enum", s.enumKeyword())
	} else {
		if s.Pattern != "" {
			add("pattern", s.Pattern)
		}
		out = append(out, exclusiveBounds(s.Bounds)...)
	}
	if s.Format != "" {
		add("format", s.Format)
	}
	if s.Items != nil {
		add("items", v.draft07(s.Items))
	}
	required, properties := []any{}, yaml.MapSlice{}
	for _, p := range s.Properties {
		if v.leaves(p.schema) {
			continue
		}
		properties = append(properties, yaml.MapItem{Key: p.Name, Value: v.draft07(p.schema)})
		if slices.Contains(s.Required, p.Name) {
			required = append(required, p.Name)
		}
	}
	if len(required) > 0 {
		add("required", required)
	}
	if len(properties) > 0 {
		add("properties", properties)
	}
	switch {
	case s.Additional != nil:
		add("additionalProperties", v.draft07(s.Additional))
	case s.Closed || v.closed && len(s.Properties) > 0:
		add("additionalProperties", false)
	}
	return out
}

// typeKeyword is the value of `type` in draft-07 and later; nil for none.
func (s *schema) typeKeyword() any {
	switch len(s.Types) {
	case 0:
		return nil
	case 1:
		return s.Types[0]
	}
	list := make([]any, len(s.Types))
	for i, name := range s.Types {
		list[i] = name
	}
	return list
}

// enumKeyword is the value of `enum` where null must be listed to be allowed.
func (s *schema) enumKeyword() []any {
	if slices.Contains(s.Types, "null") {
		return append(slices.Clone(s.Enum), nil)
	}
	return s.Enum
}

// exclusiveBounds turns `minimum: 0, exclusiveMinimum: true` into
// `exclusiveMinimum: 0`.
func exclusiveBounds(bounds yaml.MapSlice) yaml.MapSlice {
	exclusive := map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
	var out yaml.MapSlice
	for _, item := range bounds {
		if item.Value == true {
			continue
		}
		if name, ok := exclusive[item.Key.(string)]; ok && get(bounds, name) == true {
			item.Key = name
		}
		out = append(out, item)
	}
	return out
}

// encodeJSON writes a value indented, with the members of objects in their order.
func encodeJSON(value any) ([]byte, error) {
	var flat, out bytes.Buffer
	if err := appendJSON(&flat, value); err != nil {
		return nil, err
	}
	if err := json.Indent(&out, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func appendJSON(out *bytes.Buffer, value any) error {
	list := func(open, end byte, n int, each func(i int) error) error {
		out.WriteByte(open)
		for i := range n {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := each(i); err != nil {
				return err
			}
		}
		out.WriteByte(end)
		return nil
	}
	switch value := value.(type) {
	case yaml.MapSlice:
		return list('{', '}', len(value), func(i int) error {
			if err := appendJSON(out, fmt.Sprint(value[i].Key)); err != nil {
				return err
			}
			out.WriteByte(':')
			return appendJSON(out, value[i].Value)
		})
	case []any:
		return list('[', ']', len(value), func(i int) error { return appendJSON(out, value[i]) })
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
