package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	goformat "go/format"
	"maps"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/schemas/internal/format"
)

// fieldTable returns spec/fields_gen.go: the fields of each resource in the document's order. The
// fields of a component stand in place of a $ref to it.
func (d *document) fieldTable() ([]byte, error) {
	out := bytes.NewBufferString("// " + Header + "\n\npackage spec\n\nvar fields = []Field{\n")
	for _, c := range d.Components.Schemas {
		if c.value.Resource {
			if err := d.fieldsOf(out, c.name, "", c.value); err != nil {
				return nil, err
			}
		}
	}
	out.WriteString("}\n")
	return goformat.Source(out.Bytes())
}

// fieldsOf writes the fields below an object or array. ITEM and ENTRY stand for any item of an array
// and any entry of an object with free keys.
func (d *document) fieldsOf(out *bytes.Buffer, resource, path string, s *schema) error {
	if strings.Count(path, ".") > 32 {
		return fmt.Errorf("%s%s: the shape contains itself", resource, path)
	}
	add := func(name string, child *schema, conditional string) error {
		child, below := d.resolved(child), path+"."+name
		value, err := child.inWords()
		if err != nil {
			return fmt.Errorf("%s%s: %w", resource, below, err)
		}
		fmt.Fprintf(out, "{Resource: %q, Path: %q, Type: %q", resource, below[1:], typeWords(child.types()))
		if value != "" {
			fmt.Fprintf(out, ", Value: %q", value)
		}
		if conditional == "" {
			out.WriteString(", Required: true},\n")
		} else {
			fmt.Fprintf(out, ", Conditional: %q},\n", conditional)
		}
		return d.fieldsOf(out, resource, below, child)
	}
	switch {
	case s.Items != nil:
		return add("ITEM", s.Items, "An array may be empty.")
	case s.entry() != nil:
		return add("ENTRY", s.entry(), "The keys are free.")
	case s.closed() && s.Properties != nil:
		return add("ENTRY", s.Properties[0].value, s.conditional(s.Properties[0]))
	}
	for _, p := range s.Properties {
		if p.value.WriteOnly {
			continue
		}
		if err := add(p.name, p.value, s.conditional(p)); err != nil {
			return err
		}
	}
	return nil
}

// typeWords returns types in words that follow "is": "a string or null".
func typeWords(types []string) string {
	var words []string
	for _, name := range types {
		switch name {
		case "null":
		case "object", "array", "integer":
			name = "an " + name
		default:
			name = "a " + name
		}
		words = append(words, name)
	}
	return enumerate(words)
}

func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// inWords returns the rules for a value besides its type, in words that follow "is"; empty for none.
func (s *schema) inWords() (string, error) {
	if s.Words != "" {
		return s.Words, nil
	}
	var words, values []string
	for _, v := range s.enum() {
		if text, ok := v.(string); ok {
			v = strconv.Quote(text)
		}
		values = append(values, fmt.Sprint(v))
	}
	if values != nil {
		words = append(words, enumerate(values))
	}
	if f, ok := format.Lookup(s.formatOf()); ok {
		words = append(words, f.Words)
	}
	unsaid := s.Bounds
	if unsaid.MinItems != nil {
		words = append(words, fmt.Sprintf("an array with a length of at least %d", *unsaid.MinItems))
		unsaid.MinItems = nil
	}
	if values == nil && (s.patternOf() != "" || unsaid != Bounds{}) {
		return "", fmt.Errorf("its pattern or bounds need x-words")
	}
	return strings.Join(words, " and "), nil
}

// draft07 is a schema of draft-07.
type draft07 struct {
	Schema  string `json:"$schema,omitempty"`
	ID      string `json:"$id,omitempty"`
	Comment string `json:"$comment,omitempty"`
	Ref     string `json:"$ref,omitempty"`
	Type    any    `json:"type,omitempty"`
	Enum    []any  `json:"enum,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Bounds
	Format               string              `json:"format,omitempty"`
	Items                *draft07            `json:"items,omitempty"`
	Required             []string            `json:"required,omitempty"`
	Properties           map[string]*draft07 `json:"properties,omitempty"`
	AdditionalProperties any                 `json:"additionalProperties,omitempty"`
}

// idBase begins the $id of every schema. It is a name, not an address: the validator loads all
// schemas before it compiles one.
const idBase = "https://outreach.example/schemas/"

// jsonSchemas returns the draft-07 form of each component that a response uses.
func (d *document) jsonSchemas() (map[string][]byte, error) {
	used, files := map[string]bool{}, map[string][]byte{}
	bodies := slices.Collect(maps.Values(d.Components.Responses))
	for _, at := range d.operations() {
		bodies = slices.AppendSeq(bodies, maps.Values(at.Responses))
	}
	for _, b := range bodies {
		for _, content := range b.Content {
			d.reach(content.Schema, used)
		}
	}
	for name := range used {
		out := rewritten(d.Components.Schemas.get(name))
		out.Schema, out.ID, out.Comment = "http://json-schema.org/draft-07/schema#", idBase+name+suffix, Header
		text, err := json.MarshalIndent(out, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files["schemas/json/"+name+suffix] = append(text, '\n')
	}
	return files, nil
}

// reach adds the components that a schema uses to the set.
func (d *document) reach(s *schema, set map[string]bool) {
	if s == nil || set[componentOf(s)] {
		return
	}
	if s.Ref != "" {
		set[componentOf(s)] = true
	}
	s = d.resolved(s)
	d.reach(s.Items, set)
	d.reach(s.entry(), set)
	for _, p := range s.Properties {
		d.reach(p.value, set)
	}
}

// suffix ends the names of schemas.
const suffix = ".schema.json"

// rewritten returns a schema in draft-07, without its annotations and what only requests have. A
// response may hold undocumented properties.
func rewritten(s *schema) *draft07 {
	if s.Ref != "" {
		return &draft07{Ref: componentOf(s) + suffix}
	}
	out := &draft07{Format: s.formatOf()}
	types := s.types()
	if out.Type = types; len(types) < 2 {
		out.Type = nil
		for _, name := range types {
			out.Type = name
		}
	}
	if values := s.enum(); values == nil {
		out.Pattern, out.Bounds = s.patternOf(), s.Bounds
	} else if out.Enum = values; slices.Contains(types, "null") {
		out.Enum = append(slices.Clone(values), nil)
	}
	if s.Items != nil {
		out.Items = rewritten(s.Items)
	}
	for _, p := range s.Properties {
		if p.value.WriteOnly {
			continue
		}
		if out.Properties == nil {
			out.Properties = map[string]*draft07{}
		}
		out.Properties[p.name] = rewritten(p.value)
		if slices.Contains(s.Required, p.name) {
			out.Required = append(out.Required, p.name)
		}
	}
	if s.entry() != nil {
		out.AdditionalProperties = rewritten(s.entry())
	} else if s.closed() {
		out.AdditionalProperties = false
	}
	return out
}
