package faults

import (
	"maps"
	"slices"
	"strings"
)

// Path elements of the field table for any item of an array and any entry of an
// object with free keys.
const (
	pathItem  = "ITEM"
	pathEntry = "ENTRY"
)

// slot is one place of a field in a resource.
type slot struct {
	value any
	set   func(any)
}

// removed, assigned to a slot of an object, removes the member.
type removed struct{}

// slotsAt returns the non-null places of a field.
func slotsAt(value any, path string) []slot {
	slots := []slot{{value: value}}
	for name := range strings.SplitSeq(path, ".") {
		var below []slot
		for _, s := range slots {
			below = append(below, s.below(name)...)
		}
		slots = below
	}
	return slots
}

func (s slot) below(name string) []slot {
	var slots []slot
	switch value := s.value.(type) {
	case map[string]any:
		names := []string{name}
		if name == pathEntry {
			names = slices.Sorted(maps.Keys(value))
		}
		for _, member := range names {
			if value[member] != nil {
				slots = append(slots, slot{value[member], setMember(value, member)})
			}
		}
	case []any:
		for i, item := range value {
			if name == pathItem && item != nil {
				slots = append(slots, slot{item, func(v any) { value[i] = v }})
			}
		}
	}
	return slots
}

func setMember(object map[string]any, member string) func(any) {
	return func(v any) {
		if v == (removed{}) {
			delete(object, member)
			return
		}
		object[member] = v
	}
}

// graft adds the missing field at the path and returns the value. Missing
// parents come from the sample, which has every field.
func graft(value, sample any, path string) any {
	if value == nil {
		return copyOf(sample)
	}
	if path == "" {
		return value
	}
	name, rest, _ := strings.Cut(path, ".")
	switch value := value.(type) {
	case map[string]any:
		samples, _ := sample.(map[string]any)
		if name == pathEntry {
			name = slices.Sorted(maps.Keys(samples))[0]
		}
		value[name] = graft(value[name], samples[name], rest)
		return value
	case []any:
		samples, _ := sample.([]any)
		if len(value) == 0 {
			value = append(value, nil)
		}
		value[0] = graft(value[0], samples[0], rest)
		return value
	}
	return value
}

func copyOf(v any) any {
	copied, _ := decode(encode(v))
	return copied
}
