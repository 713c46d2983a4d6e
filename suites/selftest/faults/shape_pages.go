package faults

import (
	"encoding/json"
	"strconv"

	"outreach.example/conformance/spec"
)

// pageFormDefects damage the two members of a page.
func pageFormDefects() []Defect {
	damages := []struct {
		breaks, id, words string
		when              occasion
		spoil             func(page map[string]any)
	}{
		{"PAGE-ITEMS-PRESENT", "data-for-items", "calls the items of a page “data”", always, func(page map[string]any) {
			page["data"] = page["items"]
			delete(page, "items")
		}},
		{"PAGE-ITEMS-PRESENT", "items-left-out", "omits items", onLastPage, func(page map[string]any) { delete(page, "items") }},
		{"PAGE-ITEMS-PRESENT", "items-left-out", "omits items", whenEmpty, func(page map[string]any) { delete(page, "items") }},

		{"PAGE-ITEMS-TYPE", "items-null", "shows null for items", onLastPage, inMember("items", toNull)},
		{"PAGE-ITEMS-TYPE", "items-null", "shows null for items", whenEmpty, inMember("items", toNull)},
		{"PAGE-ITEMS-TYPE", "items-an-object", "shows an object for items", whenEmpty, inMember("items", keyedByPosition)},
		{"PAGE-ITEMS-TYPE", "items-keyed-by-position", "shows an object with numbered members for items", always, inMember("items", keyedByPosition)},
		{"PAGE-ITEMS-TYPE", "items-in-a-string", "shows a string that holds the JSON for items", everyThirdTime, inMember("items", toText)},
		{"PAGE-ITEMS-TYPE", "last-item-null", "ends the items with null", onLastPage, inMember("items", func(v any) any {
			items, _ := v.([]any)
			return append(items, nil)
		})},
		{"PAGE-ITEMS-TYPE", "item-in-an-array", "wraps an item in an array", everyThirdTime, inMember("items", func(v any) any {
			if items, _ := v.([]any); len(items) > 0 {
				items[len(items)-1] = inArray(items[len(items)-1])
			}
			return v
		})},

		{"PAGE-CURSOR-TYPE", "cursor-a-number", "shows a number for next_starting_after", always, inMember("next_starting_after", constant(json.Number("100")))},
		{"PAGE-CURSOR-TYPE", "cursor-false", "shows false for next_starting_after", onLastPage, inMember("next_starting_after", constant(false))},
		{"PAGE-CURSOR-TYPE", "cursor-zero", "shows 0 for next_starting_after", onLastPage, inMember("next_starting_after", constant(json.Number("0")))},
		{"PAGE-CURSOR-TYPE", "cursor-false", "shows false for next_starting_after", whenEmpty, inMember("next_starting_after", constant(false))},
		{"PAGE-CURSOR-TYPE", "cursor-an-object", "shows an object for next_starting_after", everyThirdTime, inMember("next_starting_after", toObject)},
		{"PAGE-CURSOR-TYPE", "cursor-in-an-array", "shows an array for next_starting_after", everyThirdTime, inMember("next_starting_after", inArray)},
	}
	var defects []Defect
	for _, op := range spec.Operations() {
		if op.Answer != spec.Page {
			continue
		}
		for _, d := range damages {
			if d.when.id == whenEmpty.id && !canBeEmpty(op.ID) {
				continue
			}
			defects = append(defects, Defect{
				ID:     defectID(op.ID, d.id, d.when.id),
				Breaks: spec.Pair{Requirement: d.breaks, Operation: op.ID},
				Doc:    sentence(d.words, d.when.words),
				Apply: onOccasion(d.when, op.ID, onValue(func(body any) any {
					if page, ok := body.(map[string]any); ok {
						d.spoil(page)
					}
					return body
				})),
			})
		}
	}
	return defects
}

// canBeEmpty reports whether a valid request can select no rows of the list.
func canBeEmpty(operation string) bool {
	switch operation {
	case spec.ListGroupMembers, spec.ListDFYOrders, spec.ListTagMappings:
		return false // no filter, or only ids that may have to exist
	}
	return true
}

// inMember replaces a member of an object.
func inMember(member string, wrong func(any) any) func(map[string]any) {
	return func(object map[string]any) { object[member] = wrong(object[member]) }
}

func constant(v any) func(any) any { return func(any) any { return v } }

func toNull(any) any { return nil }

func toObject(v any) any { return map[string]any{"value": v} }

func inArray(v any) any { return []any{v} }

// toText converts a value to a string: scalars as they are, others as JSON.
func toText(v any) any {
	if text, ok := v.(string); ok {
		return text
	}
	return string(encode(v))
}

// toNumber converts a boolean to 0 or 1, and others to the length of their
// JSON.
func toNumber(v any) any {
	switch v {
	case true:
		return json.Number("1")
	case false:
		return json.Number("0")
	}
	return json.Number(strconv.Itoa(len(encode(v))))
}

// keyedByPosition converts an array to an object, like encoders of languages
// without arrays.
func keyedByPosition(v any) any {
	items, _ := v.([]any)
	object := map[string]any{}
	for i, item := range items {
		object[strconv.Itoa(i)] = item
	}
	return object
}
