package derive

import (
	"bytes"
	"fmt"
	goformat "go/format"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"outreach.example/conformance/schemas/internal/format"
)

// Path elements for any item of an array and any entry of an object with free
// keys.
const (
	anyItem  = "ITEM"
	anyEntry = "ENTRY"
)

// field is one row of the field table, as spec.Field has it.
type field struct {
	resource, path, typ, value string
	conditional                string // empty: required
}

// fieldTable returns spec/fields_gen.go: the fields of each resource in the
// document's order. The fields of a component stand in place of a $ref to it.
func (d *document) fieldTable() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "// %s\n\npackage spec\n\nvar fields = []Field{\n", Header)
	for _, s := range d.components {
		if !extension[bool](s.SchemaRef, "x-resource") {
			continue
		}
		fields, err := fieldsOf(nil, s.name, "", s.Value)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			fmt.Fprintf(&out, "{Resource: %q, Path: %q, Type: %q", f.resource, f.path, f.typ)
			if f.value != "" {
				fmt.Fprintf(&out, ", Value: %q", f.value)
			}
			if f.conditional == "" {
				out.WriteString(", Required: true")
			} else {
				fmt.Fprintf(&out, ", Conditional: %q", f.conditional)
			}
			out.WriteString("},\n")
		}
	}
	out.WriteString("}\n")
	return goformat.Source(out.Bytes())
}

// fieldsOf appends the fields below an object or array.
func fieldsOf(to []field, resource, path string, s *openapi3.Schema) ([]field, error) {
	if strings.Count(path, ".") > 32 {
		return nil, fmt.Errorf("%s.%s: the shape contains itself", resource, path)
	}
	add := func(name string, child *openapi3.SchemaRef, conditional string) error {
		below := strings.TrimPrefix(path+"."+name, ".")
		value, err := valueWords(child)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", resource, below, err)
		}
		to = append(to, field{resource, below, typeWords(types(child.Value)), value, conditional})
		to, err = fieldsOf(to, resource, below, child.Value)
		return err
	}
	properties := inOrder(s.Properties)
	switch {
	case s.Items != nil:
		return to, add(anyItem, s.Items, "An array may be empty.")
	case s.AdditionalProperties.Schema != nil:
		return to, add(anyEntry, s.AdditionalProperties.Schema, "The keys are free.")
	case closed(s) && len(properties) > 0:
		return to, add(anyEntry, properties[0].SchemaRef, conditional(s, properties[0]))
	}
	for _, p := range properties {
		if p.Value.WriteOnly {
			continue
		}
		if err := add(p.name, p.SchemaRef, conditional(s, p)); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// typeWords returns a type in words that follow "is": "a string or null".
func typeWords(types []string) string {
	words := make([]string, len(types))
	for i, name := range types {
		switch name {
		case "null":
			words[i] = name
		case "object", "array", "integer":
			words[i] = "an " + name
		default:
			words[i] = "a " + name
		}
	}
	return enumerate(words)
}

func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// valueWords returns the rules for a value besides its type, in words that follow
// "is"; empty for none.
func valueWords(ref *openapi3.SchemaRef) (string, error) {
	s := ref.Value
	if words, ok := s.Extensions["x-words"].(string); ok {
		return words, nil
	}
	var words []string
	values := enum(ref)
	if values != nil {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
			if text, ok := v.(string); ok {
				texts[i] = strconv.Quote(text)
			}
		}
		words = append(words, enumerate(texts))
	}
	if f, ok := format.Lookup(formatOf(ref)); ok {
		words = append(words, f.Words)
	}
	if s.MinItems > 0 {
		words = append(words, fmt.Sprintf("an array with a length of at least %d", s.MinItems))
	}
	unsaid := patternOf(ref) != "" || slices.ContainsFunc(bounds(ref), func(b bound) bool { return b.keyword != "minItems" })
	if values == nil && unsaid {
		return "", fmt.Errorf("its pattern or bounds need x-words")
	}
	return strings.Join(words, " and "), nil
}
