package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// fields are the members of an object of JSON.
type fields = map[string]any

// Ways to make another value of a value. Those of a wrong type or form break a shape;
// those of the right one show something else than was sent.

func constant(v any) func(any) any { return func(any) any { return v } }
func toNull(any) any               { return nil }
func toObject(v any) any           { return fields{"value": v} }
func inArray(v any) any            { return []any{v} }
func leftOut(any) any              { return removed{} }

// toText converts a value to a string: scalars as they are, others as JSON.
func toText(v any) any {
	if text, ok := v.(string); ok {
		return text
	}
	return string(encode(v))
}

// ofText changes a string; other values stay the same.
func ofText(change func(string) string) func(any) any {
	return func(v any) any {
		if s, ok := v.(string); ok {
			return change(s)
		}
		return v
	}
}

// ofItems changes an array; other values stay the same.
func ofItems(change func([]any) []any) func(any) any {
	return func(v any) any {
		if items, ok := v.([]any); ok {
			return change(slices.Clone(items))
		}
		return v
	}
}

var cutShort = ofText(func(s string) string {
	runes := []rune(s)
	return string(runes[:max(0, len(runes)-1)])
})

// anotherID returns a UUID that differs in its last digit only.
func anotherID(id string) string {
	if id == "" {
		return id
	}
	last := "0"
	if strings.HasSuffix(id, last) {
		last = "1"
	}
	return id[:len(id)-1] + last
}

// Kinds of values in requests.
func isNumber(v any) bool { _, ok := v.(json.Number); return ok }
func isText(v any) bool   { _, ok := v.(string); return ok }
func isBool(v any) bool   { _, ok := v.(bool); return ok }
func isObject(v any) bool { _, ok := v.(fields); return ok }
func isArray(v any) bool  { _, ok := v.([]any); return ok }
func isNull(v any) bool   { return v == nil }

// textThat is a string that fits.
func textThat(fits func(string) bool) func(any) bool {
	return func(v any) bool { text, ok := v.(string); return ok && fits(text) }
}

// someItem is an array with an item that fits.
func someItem(fits func(any) bool) func(any) bool {
	return func(v any) bool { items, _ := v.([]any); return slices.ContainsFunc(items, fits) }
}

// equal compares values as JSON.
func equal(want any) func(any) bool {
	encoded := string(encode(want))
	return func(value any) bool { return string(encode(value)) == encoded }
}

// isUUID accepts only the form with dashes.
func isUUID(text string) bool {
	_, err := uuid.Parse(text)
	return err == nil && len(text) == 36
}

// hourLater returns the timestamp one hour late.
func hourLater(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return written(t.Add(time.Hour))
}

// asFloat returns a number of JSON or YAML.
func asFloat(v any) float64 {
	number, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return number
}

func sortedKeys[V any](object map[string]V) []string { return slices.Sorted(maps.Keys(object)) }

// must panics on an error in data that is part of the program and tested.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
