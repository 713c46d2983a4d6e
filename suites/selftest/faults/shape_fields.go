package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// hidingPlaces are where a damage to a field hides, in the last row that shows the field.
var hidingPlaces = []place{
	{" in the last row of a later page", not(firstPage), isPaged},
	{" in the last row of a filtered page", filtered, func(op spec.Operation) bool { return len(filtersIn(op.ID)) > 0 }},
	{" in the last row of every response but the first", exceptFirst, func(op spec.Operation) bool { return !isPaged(op) && sometimes.of(op) }},
}

// fieldDefects break each row of the field tables on each operation that shows the resource:
// in the plainest way in every row, and in another way in one hiding place.
func fieldDefects() []Defect {
	var defects []Defect
	for _, f := range spec.Fields() {
		for _, aspect := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
			requirement := spec.ID(f.Requirement(aspect))
			for _, op := range spec.Operations() {
				if !spec.Has(requirement.On(op.ID)) {
					continue
				}
				add := func(d fieldDamage, at place, choose choice) {
					broken := defect(requirement, op.ID, f.Path+" "+d.words+at.words,
						when(at.when, setIn(choose, f.Path, d.wrong)))
					broken.Doc = "shows " + broken.Doc
					defects = append(defects, broken)
				}
				damages := fieldDamages(f, aspect)
				add(damages[0], everywhere, eachRow)
				others := damages[min(1, len(damages)-1):]
				hidden := slices.DeleteFunc(slices.Clone(hidingPlaces), func(at place) bool { return !at.of(op) })
				if draw := hashed(f.Name() + op.ID); len(hidden) > 0 { // further fields do not change the draw
					add(others[draw%len(others)], hidden[draw/8%len(hidden)], thatFit(lastRow, showing(f.Path)))
				}
			}
		}
	}
	return defects
}

// damage changes a field in every place of the resource that shows it and is not null. In the path, ITEM
// stands for any item of an array, and ENTRY for any entry of an object.
func damage(resource any, path string, wrong func(any) any) {
	name, rest, below := strings.Cut(path, ".")
	change := func(v any, set func(any)) {
		switch {
		case v == nil:
		case below:
			damage(v, rest, wrong)
		default:
			set(wrong(v))
		}
	}
	switch value := resource.(type) {
	case fields:
		for member, v := range value {
			if member == name || name == "ENTRY" {
				change(v, setMember(value, member))
			}
		}
	case []any:
		for i, v := range value {
			change(v, func(v any) { value[i] = v })
		}
	}
}

func showing(path string) func(row fields) bool {
	return func(row fields) (shows bool) {
		damage(row, path, func(v any) any { shows = true; return v })
		return shows
	}
}

// fieldDamage is one way to damage a field. The words follow its name.
type fieldDamage struct {
	words string
	wrong func(any) any
}

// fieldDamages returns the ways to break the aspect of a field, the plainest first.
func fieldDamages(f spec.Field, aspect spec.Aspect) []fieldDamage {
	switch {
	case aspect == spec.Present:
		return []fieldDamage{{"not at all", leftOut}}
	case aspect == spec.Type:
		return slices.DeleteFunc([]fieldDamage{
			{"as a string", toText}, {"as a number", constant(json.Number("1"))}, {"as an array", inArray}, {"as an object", toObject}, {"as null", toNull},
		}, func(d fieldDamage) bool { return strings.Contains(f.Type, strings.TrimPrefix(d.words, "as ")) })
	case strings.HasPrefix(f.Value, `"`):
		return unlistedTexts
	case wrongForms[f.Value] == nil:
		return unlistedNumbers
	}
	return wrongForms[f.Value]
}

var (
	fraction      = fieldDamage{"with a fraction", func(v any) any { return json.Number(fmt.Sprint(v) + ".5") }}
	unlistedTexts = []fieldDamage{
		{"with an unlisted value", constant("unlisted")},
		{"in upper case", ofText(func(s string) string { return strings.ToUpper(cmp.Or(s, "none")) })},
		{"with a trailing space", ending(" ")},
	}
	unlistedNumbers = []fieldDamage{{"with a number above all lists", constant(json.Number("1001"))}, fraction}
)

// wrongForms breaks each format, pattern and length of the field tables. The damages keep
// the value as far as possible: real servers send a right value in a wrong form.
var wrongForms = map[string][]fieldDamage{
	"a UUID": {
		{"without dashes", replacing("-", "")},
		{"without its last digit", cutShort},
		{"with a digit that is not hexadecimal", from(35, "g")},
	},
	"a UUID of version 7": {
		{"without dashes", replacing("-", "")},
		{"with version 4", ofText(func(s string) string { return s[:14] + "4" + s[15:] })},
		{"with another variant", ofText(func(s string) string { return s[:19] + "c" + s[20:] })},
	},
	"an ISO 8601 UTC timestamp with milliseconds, such as 2026-03-01T09:30:00.000Z": {
		{"without milliseconds", from(19, "Z")},
		{"with an offset", replacing("Z", "+00:00")},
		{"with microseconds", replacing("Z", "000Z")},
		{"with a space for T", replacing("T", " ")},
	},
	"a calendar date YYYY-MM-DD": {
		{"with a time", ending("T00:00:00.000Z")},
		{"on a day that does not exist", from(5, "02-30")},
	},
	"a 24-hour time HH:MM": {
		{"with seconds", ending(":00")},
		{"as 24:00", constant("24:00")},
		{"with a single-digit hour", ofText(func(s string) string { return s[1:] })},
	},
	"a number in international E.164 format": {
		{"without its plus sign", replacing("+", "")},
	},
	"a whole number, not negative": {{"as -1", constant(json.Number("-1"))}, fraction},
	"one of the timezone values that the specification lists": {
		{"with an unlisted value", constant("Europe/Paris")},
		{"in lower case", ofText(strings.ToLower)},
	},
	"at least one key, keys 0 to 6": {
		{"without a key", constant(fields{})},
		{"with a key 7", constant(fields{"1": true, "7": true})},
	},
	"an array with a length of at least 1": {{"without an item", constant([]any{})}},
}

func replacing(old, by string) func(any) any {
	return ofText(func(s string) string { return strings.ReplaceAll(s, old, by) })
}

func ending(with string) func(any) any { return ofText(func(s string) string { return s + with }) }

// from replaces a text from a position on.
func from(at int, by string) func(any) any {
	return ofText(func(s string) string { return s[:at] + by })
}
