package contract

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// wrongTypes are values of each type that stay invalid if a server converts them: no number
// is 0 or 1, no text is a number, no object or array is empty.
var wrongTypes = []struct {
	typ, what string
	value     any
}{
	{openapi3.TypeNumber, "a number", 7.0},
	{openapi3.TypeString, "a word", "conformance"},
	{openapi3.TypeBoolean, "a boolean", true},
	{openapi3.TypeObject, "an object", map[string]any{"conformance": 7.0}},
	{openapi3.TypeArray, "an array", []any{[]any{7.0}}},
}

// AnItem begins the words of a variant that is an array of one invalid item.
const AnItem = "an item that is "

// inWords names a type.
var inWords = map[string]string{
	openapi3.TypeNumber: "a number", openapi3.TypeString: "a string", openapi3.TypeBoolean: "a boolean",
	openapi3.TypeObject: "an object", openapi3.TypeArray: "an array",
}

// invalidMember returns values that the schema of a member rules out. null counts only for
// a required member: a server may take null for an absent one.
func invalidMember(s *openapi3.Schema, required bool) []Variant {
	var all []Variant
	for _, wrong := range wrongTypes {
		if !s.Type.Is(wrong.typ) && !becomes(wrong.value, s) {
			all = append(all, Variant{What: wrong.what + " instead of " + inWords[s.Type.Slice()[0]], Value: wrong.value})
		}
	}
	if required && !s.Nullable {
		all = append(all, Variant{What: "null instead of " + inWords[s.Type.Slice()[0]]})
	}
	all = append(all, invalidValue(s)...)
	switch {
	case s.Type.Is(openapi3.TypeArray):
		if s.MinItems > 0 {
			all = append(all, Variant{What: "an empty array", Value: []any{}})
		}
		for _, v := range invalidMember(s.Items.Value, true) {
			all = append(all, Variant{What: AnItem + v.What, Value: []any{v.Value}})
		}
	case s.AdditionalProperties.Schema != nil:
		for _, v := range invalidMember(s.AdditionalProperties.Schema.Value, false) {
			all = append(all, Variant{What: "an entry that is " + v.What, Value: map[string]any{days[1]: v.Value}})
		}
	default:
		whole := whole(s)
		for _, name := range memberNames(s) {
			for _, v := range invalidMember(s.Properties[name].Value, false) {
				all = append(all, Variant{What: name + ": " + v.What, Value: with(whole, name, v.Value)})
			}
		}
	}
	return distinct(all)
}

// becomes reports whether the value is valid once it is converted as JavaScript converts
// it: true is the number 1, and a number or a boolean is a text.
func becomes(value any, s *openapi3.Schema) bool {
	if isFreeText(s) {
		return value == true || value == 7.0
	}
	return value == true && s.Type.Is(openapi3.TypeNumber) && slices.Contains(enum(s), any(1.0))
}

// isFreeText reports whether the schema allows any text.
func isFreeText(s *openapi3.Schema) bool {
	return s.Type.Is(openapi3.TypeString) && enum(s) == nil && s.Pattern == "" && formatOf(s) == ""
}

// invalidValue returns values of the right type that the schema rules out. In a query, a
// word is of the right type for everything.
func invalidValue(s *openapi3.Schema) []Variant {
	outside := func(values ...any) []Variant {
		var all []Variant
		for _, value := range values {
			all = append(all, Variant{What: text(value) + ", which is not allowed", Value: value})
		}
		return all
	}
	switch {
	case enum(s) != nil && s.Type.Is(openapi3.TypeNumber):
		least, most := ends(enum(s))
		return outside(least-1, most+1, least+0.5, -most-1)
	case enum(s) != nil: // a server may look at the form alone
		listed := slices.MaxFunc(enum(s), func(a, b any) int { return len(fmt.Sprint(a)) - len(fmt.Sprint(b)) })
		all := outside("conformance", fmt.Sprint(listed)+"x")
		if slices.Contains(enum(s), any(listedZone)) { // a server may look it up among all zones
			all = append(all, outside(unlistedZone)...)
		}
		return all
	case s.Type.Is(openapi3.TypeBoolean):
		return outside("conformance")
	case s.Type.Is(openapi3.TypeInteger) && s.Min != nil && s.Max != nil:
		return outside(*s.Min-1, *s.Max+1)
	case formatOf(s) == "date":
		return outside("tomorrow", "2030-13-01")
	case formatOf(s) == "date-time":
		return outside("tomorrow", "2030-13-01T00:00:00.000Z")
	case formatOf(s) == "email":
		return outside("conformance")
	case formatOf(s) == "uuid":
		return outside("conformance", "01890000-0000-7000-8000-00000000000g")
	case s.Pattern != "":
		return outside(slices.Concat([]any{"conformance"}, beside(s.Pattern))...)
	}
	return nil
}

// Time zones of the tz database. The document lists the first one and not the second.
const (
	listedZone   = "Europe/Belgrade"
	unlistedZone = "Europe/London"
)

// ends returns the least and the largest of some numbers.
func ends(values []any) (least, most float64) {
	for i, value := range values {
		n, _ := value.(float64)
		if i == 0 {
			least, most = n, n
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// beside returns texts that differ from the last one of the pattern in one digit, or have one
// more, and that it does not match.
func beside(pattern string) []any {
	matches, last := regexp.MustCompile(pattern), end(pattern, true)
	var all []any
	for _, longer := range []string{"1" + last, last + "1"} {
		if !matches.MatchString(longer) {
			all = append(all, longer)
		}
	}
	for i, c := range []byte(last) {
		if c < '0' || c > '8' {
			continue
		}
		if next := last[:i] + string(c+1) + last[i+1:]; !matches.MatchString(next) {
			all = append(all, next)
		}
	}
	return all
}
