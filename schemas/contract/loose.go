package contract

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// loose returns values of another type or form that servers convert: texts and booleans for
// numbers, texts and numbers for booleans, both for texts, a line break behind a text with a form. Of an
// object it varies one member at a time.
func loose(s *openapi3.Schema) []Variant {
	var all []Variant
	add := func(what string, value any) { all = append(all, Variant{What: what, Value: value, Open: true}) }
	switch {
	case s.Type.Is(openapi3.TypeNumber) && enum(s) != nil:
		add("a number as a text", text(enum(s)[0]))
		if becomes(true, s) {
			add("true for the number 1", true)
		}
	case s.Type.Is(openapi3.TypeBoolean):
		add("true as a text", "true")
		add("false as a text", "false")
		add("1 for true", 1.0)
	case isFreeText(s):
		add("a number for a text", 7.0)
		add("a boolean for a text", true)
	case s.Type.Is(openapi3.TypeString) && s.Pattern != "" && s.Format == "":
		add("a line break at the end", end(s.Pattern, true)+"\n")
	case s.Type.Is(openapi3.TypeObject) && s.AdditionalProperties.Schema != nil:
		for _, v := range loose(s.AdditionalProperties.Schema.Value) {
			add("an entry: "+v.What, map[string]any{days[1]: v.Value})
		}
	case s.Type.Is(openapi3.TypeObject):
		for _, name := range memberNames(s) {
			for _, v := range loose(s.Properties[name].Value) {
				add(name+": "+v.What, with(whole(s), name, v.Value))
			}
		}
	}
	return all
}
