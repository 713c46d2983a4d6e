package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/spec"
)

// hidingPlaces are where a damage to a field hides: in the last row that shows the field.
var hidingPlaces = []place{
	{"beyond-the-first-page", "in the last row of a later page", not(firstPage), isPaged},
	{"where-rows-are-filtered", "in the last row of a filtered page", filtered, func(op spec.Operation) bool { return len(filtersIn(op.ID)) > 0 }},
	{"in-the-last-row", "in the last row", always, inArrays.of},
	{"after-the-first-time", "in every response but the first", exceptFirst, func(op spec.Operation) bool {
		return op.Answer == spec.One && op.ID != spec.DeleteSubsequence
	}},
}

// fieldDefects break each row of the field tables on each operation that shows the resource:
// in the plainest way in every row, and in one of the other ways in a hiding place.
func fieldDefects() []Defect {
	var defects []Defect
	for _, f := range spec.Fields() {
		for _, aspect := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
			requirement := spec.ID(f.Requirement(aspect))
			if _, exists := spec.FindRequirement(string(requirement)); !exists {
				continue
			}
			damages := fieldDamages(f, aspect)
			for _, op := range requirement.Operations() {
				add := func(d fieldDamage, at place, spoil verb) {
					defects = append(defects, defect(requirement, op.ID, f.Path+" "+d.id+" "+at.id, strings.TrimSpace(fmt.Sprintf(d.words, f.Path)+" "+at.words),
						when(at.when, spoil)))
				}
				plainest := damages[0]
				add(plainest, everywhere, rewriting(func(_ string, row any) []byte { spoilField(row, f.Path, plainest.wrong); return encode(row) }, encode))
				// The draw is by the names, so that rows elsewhere do not change it.
				draw, others := hashed(string(requirement)+op.ID), damages[min(1, len(damages)-1):]
				places := slices.DeleteFunc(slices.Clone(hidingPlaces), func(p place) bool { return !p.of(op) })
				if len(places) > 0 {
					other := others[draw%len(others)]
					add(other, places[draw%len(places)], rows(thatFit(lastRow, func(row map[string]any) bool { return len(slotsOf(row, f.Path)) > 0 }),
						func(_ *exchange, row map[string]any) { spoilField(row, f.Path, other.wrong) }))
				}
			}
		}
	}
	return defects
}

// slot is one place of a field in a resource.
type slot struct {
	value any
	set   func(any)
}

// slotsOf returns the places of a field that are not null. In its path, ITEM stands for any item of an array, and ENTRY for any
// entry of an object.
func slotsOf(value any, path string) []slot {
	slots := []slot{{value: value}}
	for name := range strings.SplitSeq(path, ".") {
		var below []slot
		for _, s := range slots {
			switch value := s.value.(type) {
			case map[string]any:
				names := []string{name}
				if name == "ENTRY" {
					names = slices.Sorted(maps.Keys(value))
				}
				for _, name := range names {
					below = append(below, slot{value[name], setMember(value, name)})
				}
			case []any:
				for i := range value {
					below = append(below, slot{value[i], func(v any) { value[i] = v }})
				}
			}
		}
		slots = slices.DeleteFunc(below, func(s slot) bool { return s.value == nil })
	}
	return slots
}

// spoilField gives the field another value in every place of the resource.
func spoilField(row any, path string, wrong func(any) any) {
	for _, s := range slotsOf(row, path) {
		s.set(wrong(s.value))
	}
}

// fieldDamage is one way to damage a field. %s in the words is its name.
type fieldDamage struct {
	id, words string
	wrong     func(any) any
}

// fieldDamages returns the ways to break the aspect of a field, the plainest first.
func fieldDamages(f spec.Field, aspect spec.Aspect) []fieldDamage {
	switch {
	case aspect == spec.Present:
		return []fieldDamage{{"left-out", "omits %s", leftOut}}
	case aspect == spec.Value && strings.HasPrefix(f.Value, `"`):
		return unlistedTexts
	case aspect == spec.Value && len(wrongForms[f.Value]) > 0:
		return wrongForms[f.Value]
	case aspect == spec.Value:
		return []fieldDamage{
			{"one-above", "shows %s one above the largest listed value", constant(oneAbove(f.Value))},
			{"with-a-fraction", "shows %s with a fraction", toFraction},
		}
	}
	return slices.DeleteFunc([]fieldDamage{
		{"a string", "shows %s as a string", toText},
		{"a number", "shows a number for %s", toNumber},
		{"an array", "wraps %s in an array", inArray},
		{"an object", "wraps %s in an object", toObject},
		{"null", "shows null for %s", toNull},
	}, func(d fieldDamage) bool { return strings.Contains(f.Type, d.id) })
}

func oneAbove(listed string) any {
	largest := 0
	for word := range strings.FieldsSeq(strings.ReplaceAll(listed, ",", "")) {
		n, _ := strconv.Atoi(word) // 0 for words
		largest = max(largest, n)
	}
	return json.Number(strconv.Itoa(largest + 1))
}

func toFraction(v any) any { return json.Number(fmt.Sprint(v) + ".5") }

var unlistedTexts = []fieldDamage{
	{"not-listed", "shows an unlisted value of %s", constant("unlisted")},
	{"in-capitals", "shows %s in upper case", ofText(func(s string) string { return strings.ToUpper(cmp.Or(s, "none")) })},
	{"with-a-space", "shows %s with a trailing space", ofText(func(s string) string { return s + " " })},
}

// wrongForms breaks each format, pattern and length of the field tables. The damages keep
// the value as far as possible: real servers send a right value in a wrong form.
var wrongForms = map[string][]fieldDamage{
	"a UUID": {
		{"without-dashes", "shows %s without its dashes", replacing("-", "")},
		{"cut-short", "shows %s without its last digit", cutShort},
		{"not-hexadecimal", "shows %s with a digit that is not hexadecimal", from(35, "g")},
	},
	"a UUID of version 7": {
		{"without-dashes", "shows %s without its dashes", replacing("-", "")},
		{"of-version-4", "shows %s with version 4", over(14, "4")},
		{"of-another-variant", "shows %s with another variant", over(19, "c")},
		{"in-braces", "shows %s in braces", ofText(func(s string) string { return "{" + s + "}" })},
	},
	"an ISO 8601 UTC timestamp with milliseconds, such as 2026-03-01T09:30:00.000Z": {
		{"without-milliseconds", "shows %s without milliseconds", from(19, "Z")},
		{"with-an-offset", "shows %s with an offset in place of Z", replacing("Z", "+00:00")},
		{"with-microseconds", "shows %s with microseconds", replacing("Z", "000Z")},
		{"without-zone", "shows %s without Z", replacing("Z", "")},
		{"with-a-space", "shows %s with a space in place of T", replacing("T", " ")},
		{"without-time", "shows %s without its time", from(10, "")},
	},
	"a calendar date YYYY-MM-DD": {
		{"with-a-time", "shows %s with a time", from(10, "T00:00:00.000Z")},
		{"with-slashes", "shows %s with slashes", replacing("-", "/")},
		{"on-no-day", "shows %s on a day that does not exist", from(5, "02-30")},
	},
	"a 24-hour time HH:MM": {
		{"with-seconds", "shows %s with seconds", from(5, ":00")},
		{"with-am", "shows %s on a 12-hour clock", from(5, " AM")},
		{"at-24", "shows 24:00 for %s", constant("24:00")},
		{"one-digit", "shows %s with a single-digit hour", ofText(func(s string) string { return s[1:] })},
	},
	"a number in international E.164 format": {
		{"without-plus", "shows %s without its plus sign", replacing("+", "")},
		{"with-spaces", "shows %s with a space", over(2, " ")},
		{"in-parentheses", "shows %s in national format", ofText(func(s string) string { return "(" + s[1:4] + ") " + s[4:] })},
	},
	"a whole number, not negative": {
		{"negative", "shows -1 for %s", constant(json.Number("-1"))},
		{"with-a-fraction", "shows %s with a fraction", toFraction},
	},
	"one of the timezone values that the specification lists": {
		{"not-listed", "shows an unlisted value of %s", constant("Europe/Paris")},
		{"in-small-letters", "shows %s in lower case", ofText(strings.ToLower)},
		{"as-an-offset", "shows an offset for %s", constant("+02:00")},
	},
	"at least one key, keys 0 to 6": {
		{"without-keys", "shows %s without a key", constant(map[string]any{})},
		{"from-1-to-7", "shows %s with a key 7", constant(map[string]any{"1": true, "7": true})},
		{"by-name", "shows %s by name", constant(map[string]any{"monday": true})},
	},
	"an array with a length of at least 1": {
		{"empty", "shows an empty %s", constant([]any{})},
	},
}

func replacing(old, by string) func(any) any {
	return ofText(func(s string) string { return strings.ReplaceAll(s, old, by) })
}

// from replaces a text from a position on.
func from(at int, by string) func(any) any {
	return ofText(func(s string) string { return s[:at] + by })
}

// over replaces one character of a text.
func over(at int, by string) func(any) any {
	return ofText(func(s string) string { return s[:at] + by + s[at+1:] })
}
