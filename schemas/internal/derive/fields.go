package derive

import (
	"bytes"
	"fmt"
	goformat "go/format"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"outreach.example/conformance/schemas/internal/format"
)

// Path elements that stand for any item of an array and any entry of an object
// with free keys.
const (
	anyItem  = "ITEM"
	anyEntry = "ENTRY"
)

// field is one row of the field table, as spec.Field has it.
type field struct {
	resource, path, typ, value string
	conditional                string // empty: required
}

// fieldTable writes spec/fields_gen.go: the fields of each resource in the
// document's order, those of shared components in place of each $ref.
func (d *document) fieldTable() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "// %s\n\npackage spec\n\nvar fields = []Field{\n", Header)
	for _, s := range d.components {
		if !s.Resource {
			continue
		}
		fields, err := d.fieldsOf(nil, s.Name, "", s)
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
func (d *document) fieldsOf(to []field, resource, path string, s *schema) ([]field, error) {
	if strings.Count(path, ".") > 32 {
		return nil, fmt.Errorf("%s.%s: a field table cannot hold a shape that contains itself", resource, path)
	}
	add := func(name string, child *schema, conditional string) error {
		resolved := d.resolve(child)
		value, err := valueWords(resolved)
		if err != nil {
			return err
		}
		below := strings.TrimPrefix(path+"."+name, ".")
		to = append(to, field{resource, below, typeWords(resolved.Types), value, conditional})
		to, err = d.fieldsOf(to, resource, below, resolved)
		return err
	}
	const free = "The keys are free."
	switch {
	case s.Items != nil:
		return to, add(anyItem, s.Items, "An array may be empty.")
	case s.Additional != nil:
		return to, add(anyEntry, s.Additional, free)
	case s.Closed:
		return to, add(anyEntry, s.Properties[0].schema, s.Properties[0].Conditional)
	}
	for _, p := range s.Properties {
		if p.WriteOnly {
			continue
		}
		if err := add(p.Name, p.schema, p.Conditional); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// typeWords says a type in words that follow "is": "a string or null".
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

// valueWords says in words that follow "is" what a value must be beyond its
// type; empty for nothing.
func valueWords(s *schema) (string, error) {
	if s.Words != "" {
		return s.Words, nil
	}
	var words []string
	if s.Enum != nil {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
			if text, ok := v.(string); ok {
				values[i] = fmt.Sprintf("%q", text)
			}
		}
		words = append(words, enumerate(values))
	}
	if s.Format != "" {
		f, _ := format.Lookup(s.Format)
		words = append(words, f.Words)
	}
	if n := get(s.Bounds, "minItems"); n != nil {
		words = append(words, fmt.Sprintf("an array with a length of at least %v", n))
	}
	said := s.Enum != nil || s.Pattern == "" && !slices.ContainsFunc(s.Bounds, func(b yaml.MapItem) bool { return b.Key != "minItems" })
	if !said {
		return "", fmt.Errorf("%s: say its pattern or bounds in x-words", s.Where)
	}
	return strings.Join(words, " and "), nil
}
