package faults

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"outreach.example/conformance/spec"
)

// fieldDamage is one way to damage a field.
type fieldDamage struct {
	id, words string // %s in the words is the field's name
	wrong     func(any) any
}

// damagesOf returns the ways to break the aspect of a field's table row, the
// plainest first.
func damagesOf(f spec.Field, a spec.Aspect) []fieldDamage {
	switch a {
	case spec.Type:
		return wrongTypes(f)
	case spec.Value:
		return wrongValues(f)
	default:
		return []fieldDamage{{"left-out", "omits %s", constant(removed{})}}
	}
}

// wrongTypes returns conversions to types that the field rules out.
func wrongTypes(f spec.Field) []fieldDamage {
	conversions := []struct {
		from, to string // types as the field table writes them; empty means any
		damage   fieldDamage
	}{
		{"number", "string", fieldDamage{"as-text", "shows %s as a string", toText}},
		{"boolean", "string", fieldDamage{"as-text", "shows %s as a string", toText}},
		{"object", "string", fieldDamage{"as-text", "shows %s as a string that holds the JSON", toText}},
		{"array", "string", fieldDamage{"as-text", "shows %s as a string that holds the JSON", toText}},
		{"string", "number", fieldDamage{"as-a-number", "shows a number for %s", toNumber}},
		{"boolean", "number", fieldDamage{"as-a-number", "shows %s as 0 or 1", toNumber}},
		{"object", "array", fieldDamage{"in-an-array", "wraps %s in an array", inArray}},
		{"object", "array", fieldDamage{"as-an-empty-array", "shows an empty array for %s", constant([]any{})}},
		{"array", "object", fieldDamage{"keyed-by-position", "shows an object with numbered members for %s", keyedByPosition}},
		{"null", "object", fieldDamage{"in-an-object", "wraps %s in an object", toObject}},
		{"null", "array", fieldDamage{"in-an-array", "wraps %s in an array", inArray}},
		{"", "null", fieldDamage{"as-null", "shows null for %s", toNull}},
	}
	var damages []fieldDamage
	used := map[string]bool{}
	for _, c := range conversions {
		if strings.Contains(f.Type, c.from) && !strings.Contains(f.Type, c.to) && !used[c.damage.id] {
			used[c.damage.id] = true
			damages = append(damages, c.damage)
		}
	}
	return damages
}

// wrongValues returns values of the right type outside the field's closed set,
// format, pattern or length.
func wrongValues(f spec.Field) []fieldDamage {
	if set := closedSet(f.Resource, f.Path); len(set) > 0 && f.Value != timezoneWords {
		if strings.Contains(f.Type, "number") {
			return unlistedNumbers(set)
		}
		return unlistedTexts
	}
	damages, known := valueDamages[f.Value]
	if !known {
		panic(fmt.Sprintf("faults: no damage is defined for %s of %s being %s", f.Path, f.Resource, f.Value))
	}
	return damages
}

func unlistedNumbers(set []any) []fieldDamage {
	largest := math.Inf(-1)
	for _, listed := range set {
		largest = max(largest, asFloat(listed))
	}
	return []fieldDamage{
		{"one-above", "shows %s one above the largest listed value", constant(asNumber(largest + 1))},
		{"with-a-fraction", "shows %s with a fraction", func(v any) any { return asNumber(asFloat(v) + 0.5) }},
	}
}

// asFloat converts a number from JSON or YAML.
func asFloat(v any) float64 {
	number, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return number
}

func asNumber(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

var unlistedTexts = []fieldDamage{
	{"not-listed", "shows an unlisted value of %s", constant("unlisted")},
	{"in-capitals", "shows %s in upper case", ofText(capitals)},
	{"with-a-space", "shows %s with a trailing space", ofText(func(s string) string { return s + " " })},
}

// capitals changes even the empty string, which some sets list.
func capitals(s string) string {
	if s == "" {
		return "NONE"
	}
	return strings.ToUpper(s)
}

const timezoneWords = "one of the timezone values that the specification lists"

// valueDamages maps each format, pattern and length of the field table to ways
// to break it. They keep the shown text as far as possible: real servers send a
// right value in a wrong form.
var valueDamages = map[string][]fieldDamage{
	"a UUID": {
		{"without-dashes", "shows %s without its dashes", ofText(func(s string) string { return strings.ReplaceAll(s, "-", "") })},
		{"cut-short", "shows %s without its last digit", ofText(func(s string) string { return s[:len(s)-1] })},
		{"not-hexadecimal", "shows %s with a digit that is not hexadecimal", ofText(func(s string) string { return s[:len(s)-1] + "g" })},
	},
	"a UUID of version 7": {
		{"without-dashes", "shows %s without its dashes", ofText(func(s string) string { return strings.ReplaceAll(s, "-", "") })},
		{"of-version-4", "shows %s with version 4", ofText(func(s string) string { return s[:14] + "4" + s[15:] })},
		{"of-another-variant", "shows %s with another variant", ofText(func(s string) string { return s[:19] + "c" + s[20:] })},
		{"in-braces", "shows %s in braces", ofText(func(s string) string { return "{" + s + "}" })},
	},
	"an ISO 8601 UTC timestamp with milliseconds, such as 2026-03-01T09:30:00.000Z": {
		{"without-milliseconds", "shows %s without milliseconds", ofText(func(s string) string { return s[:19] + "Z" })},
		{"with-an-offset", "shows %s with an offset in place of Z",
			ofText(func(s string) string { return strings.TrimSuffix(s, "Z") + "+00:00" })},
		{"with-microseconds", "shows %s with microseconds", ofText(func(s string) string { return strings.TrimSuffix(s, "Z") + "000Z" })},
		{"without-zone", "shows %s without Z", ofText(func(s string) string { return strings.TrimSuffix(s, "Z") })},
		{"with-a-space", "shows %s with a space in place of T", ofText(func(s string) string { return strings.Replace(s, "T", " ", 1) })},
		{"without-time", "shows %s without its time", ofText(func(s string) string { return s[:10] })},
	},
	"a calendar date YYYY-MM-DD": {
		{"with-a-time", "shows %s with a time", ofText(func(s string) string { return s + "T00:00:00.000Z" })},
		{"with-slashes", "shows %s with slashes", ofText(func(s string) string { return strings.ReplaceAll(s, "-", "/") })},
		{"on-no-day", "shows %s on a day that does not exist", ofText(func(s string) string { return s[:5] + "02-30" })},
	},
	"a 24-hour time HH:MM": {
		{"with-seconds", "shows %s with seconds", ofText(func(s string) string { return s + ":00" })},
		{"with-am", "shows %s on a 12-hour clock", ofText(func(s string) string { return s + " AM" })},
		{"at-24", "shows 24:00 for %s", constant("24:00")},
		{"one-digit", "shows %s with a single-digit hour", ofText(func(s string) string { return s[1:] })},
	},
	"a number in international E.164 format": {
		{"without-plus", "shows %s without its plus sign", ofText(func(s string) string { return strings.TrimPrefix(s, "+") })},
		{"with-spaces", "shows %s with a space", ofText(func(s string) string { return s[:2] + " " + s[2:] })},
		{"in-parentheses", "shows %s in national format", ofText(func(s string) string { return "(" + s[1:4] + ") " + s[4:] })},
	},
	"a whole number, not negative": {
		{"negative", "shows -1 for %s", constant(json.Number("-1"))},
		{"with-a-fraction", "shows %s with a fraction", func(v any) any { return asNumber(asFloat(v) + 0.5) }},
	},
	timezoneWords: {
		{"not-listed", "shows an unlisted value of %s", constant("Europe/Paris")},
		{"in-small-letters", "shows %s in lower case", ofText(strings.ToLower)},
		{"as-an-offset", "shows an offset for %s", constant("+02:00")},
	},
	"at least one key, keys 0 to 6": {
		{"without-keys", "shows %s without a key", constant(map[string]any{})},
		{"from-1-to-7", "shows %s with a key 7", func(v any) any {
			days, _ := copyOf(v).(map[string]any)
			days["7"] = true
			return days
		}},
		{"by-name", "shows %s by name", constant(map[string]any{"monday": true})},
	},
	"an array with a length of at least 1": {
		{"empty", "shows an empty %s", constant([]any{})},
	},
}

// ofText changes a string value, as every value with a format is.
func ofText(change func(string) string) func(any) any {
	return func(v any) any {
		s, _ := v.(string)
		return change(s)
	}
}
