package contract

import (
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// valid returns a value of each kind that the schema allows: each value of a set, both
// ends of a range or pattern, null, special characters in free texts.
func valid(s *openapi3.Schema) []Variant {
	var all []Variant
	switch {
	case enum(s) != nil:
		for _, value := range enum(s) {
			all = append(all, Variant{What: text(value), Value: value})
		}
	case s.Type.Is(openapi3.TypeBoolean):
		all = []Variant{{What: "true", Value: true}, {What: "false", Value: false}}
	case s.Type.Is(openapi3.TypeString):
		all = texts(s)
	case s.Type.Is(openapi3.TypeInteger) && s.Min != nil && s.Max != nil:
		all = []Variant{{What: text(*s.Min), Value: *s.Min}, {What: text(*s.Max), Value: *s.Max}}
	case s.Type.Is(openapi3.TypeArray):
		all = arrays(s)
	case s.Type.Is(openapi3.TypeObject):
		all = objects(s)
	}
	if s.Nullable {
		all = append(all, Variant{What: "null"})
	}
	return distinct(all)
}

// texts returns texts of the format or pattern of the schema, or free texts.
func texts(s *openapi3.Schema) []Variant {
	var values []string
	switch {
	case formatOf(s) == "date":
		values = []string{"2024-02-29", "2025-12-31", "2026-01-01"}
	case formatOf(s) == "date-time":
		values = []string{"2028-02-29T23:59:59.999Z", "2030-01-01T00:00:00.000Z", "2030-06-15T12:30:45.001Z"}
	case formatOf(s) != "": // an id or an address: the target decides which ones exist
		return nil
	case s.Pattern != "":
		values = []string{end(s.Pattern, false), end(s.Pattern, true)}
	default:
		return slices.Clone(freeTexts)
	}
	var all []Variant
	for _, value := range values {
		all = append(all, Variant{What: value, Value: value})
	}
	return all
}

// freeTexts are texts that servers tend to change, refuse or stumble over.
var freeTexts = []Variant{
	{What: "a text with percent signs, backslashes and other signs", Value: `100 % of a_b %25, C:\new\table \u0041, a+b=c?d#e/f;g:h`},
	{What: "a text with quotes and apostrophes", Value: `"double" 'single' “curly” O'Neil`},
	{What: "a text with markup, entities and placeholders", Value: "<b>Fish &amp; chips</b><br/>& {{firstName}} &lt;br/&gt;"},
	{What: "a text with letters beyond ASCII and characters beyond U+FFFF", Value: "Größe, Ελλάδα, 東京, עברית 🚀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👧"},
	{What: "a text of several lines", Value: "first line\nsecond line\n\n\tindented", Open: true},
	{What: "a long text", Value: strings.Repeat("A long text goes on, naïvely, and on. ", 60) + "end", Open: true},
	{What: "an empty text", Value: "", Open: true},
	{What: "blanks alone", Value: "   ", Open: true},
	{What: "a text with control characters", Value: "a bell \a and a null character \x00", Open: true},
}

// end returns the first or last text that the pattern matches, by the order of characters.
func end(pattern string, last bool) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // the document is checked when it is loaded
	}
	return endOf(parsed, last)
}

func endOf(re *syntax.Regexp, last bool) string {
	at := func(n int) int {
		if last {
			return n - 1
		}
		return 0
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass: // pairs of first and last characters
		return string(re.Rune[at(len(re.Rune))])
	case syntax.OpAlternate:
		return endOf(re.Sub[at(len(re.Sub))], last)
	case syntax.OpConcat, syntax.OpCapture:
		var all strings.Builder
		for _, sub := range re.Sub {
			all.WriteString(endOf(sub, last))
		}
		return all.String()
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEmptyMatch:
		return ""
	}
	panic("variants: no end of the pattern " + re.String())
}

// arrays returns an empty array, and an array of all values of items that have any.
func arrays(s *openapi3.Schema) []Variant {
	var all []Variant
	if item := s.Items.Value; enum(item) != nil || item.Type.Is(openapi3.TypeBoolean) {
		var items []any
		for _, v := range valid(item) {
			items = append(items, v.Value)
			all = append(all, Variant{What: "one item: " + v.What, Value: []any{v.Value}})
		}
		all = append(all, Variant{What: "several items", Value: items})
	}
	if s.MinItems == 0 {
		all = append(all, Variant{What: "an empty array", Value: []any{}, Open: true})
	}
	return all
}

// days are keys of an object with free keys. The document has one kind of these: objects
// keyed by the number of a day.
var days = []string{"0", "1", "2", "3", "4", "5", "6"}

// objects returns the whole object with each value of each member, and with members left
// out.
func objects(s *openapi3.Schema) []Variant {
	if entry := s.AdditionalProperties.Schema; entry != nil {
		return entries(entry.Value)
	}
	whole := whole(s)
	if len(whole) == 0 {
		return nil
	}
	all := []Variant{{What: "all members", Value: whole}}
	for _, name := range memberNames(s) {
		for _, v := range valid(s.Properties[name].Value) {
			all = append(all, Variant{What: name + ": " + v.What, Value: with(whole, name, v.Value), Open: v.Open})
		}
	}
	for _, name := range memberNames(s) {
		if !slices.Contains(s.Required, name) {
			all = append(all, Variant{What: "without " + name, Value: without(whole, name), Open: true})
		}
	}
	if len(s.Required) == 0 {
		for _, name := range memberNames(s) {
			all = append(all, Variant{What: name + " alone", Value: map[string]any{name: whole[name]}, Open: true})
		}
		all = append(all, Variant{What: "no members", Value: map[string]any{}, Open: true})
	}
	return all
}

// entries returns objects with free keys.
func entries(entry *openapi3.Schema) []Variant {
	values := valid(entry)
	turns := map[string]any{}
	for i, day := range days {
		turns[day] = values[i%len(values)].Value
	}
	all := []Variant{{What: "every key", Value: turns}}
	// Entries of one kind: a server may refuse a schedule of which every day is false.
	for _, day := range []string{days[0], days[len(days)-1]} {
		all = append(all, Variant{What: "only the key " + day + ": " + values[0].What, Value: map[string]any{day: values[0].Value}})
	}
	return append(all, Variant{What: "no keys", Value: map[string]any{}, Open: true})
}

// whole returns an object with the first value of each member that has one.
func whole(s *openapi3.Schema) map[string]any {
	object := map[string]any{}
	for _, name := range memberNames(s) {
		if values := valid(s.Properties[name].Value); len(values) > 0 {
			object[name] = values[0].Value
		}
	}
	return object
}

// with returns a copy of the object with another value of a member.
func with(object map[string]any, name string, value any) map[string]any {
	again := maps.Clone(object)
	again[name] = value
	return again
}

// without returns a copy of the object without a member.
func without(object map[string]any, name string) map[string]any {
	again := maps.Clone(object)
	delete(again, name)
	return again
}
