package faults

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// fieldDefects break each row of the field tables on each operation that shows
// the resource. The plainest damage to a field is in every row; the others hide
// in some rows. A single damage does both.
func fieldDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		for _, f := range spec.Fields() {
			for _, aspect := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
				if spec.Has(spec.Pair{Requirement: f.Requirement(aspect), Operation: op.ID}) && f.Resource == op.Resource {
					defects = append(defects, defectsOf(op, f, aspect)...)
				}
			}
		}
	}
	return defects
}

func defectsOf(op spec.Operation, f spec.Field, aspect spec.Aspect) []Defect {
	var defects []Defect
	add := func(d fieldDamage, where reach) {
		defects = append(defects, Defect{
			ID:     defectID(op.ID, f.Path, d.id, where.id),
			Breaks: spec.Pair{Requirement: f.Requirement(aspect), Operation: op.ID},
			Doc:    sentence(fmt.Sprintf(d.words, f.Path), where.words),
			Apply:  damaging(op, f, d.wrong, where),
		})
	}
	damages := damagesOf(f, aspect)
	for i, d := range damages {
		if i == 0 {
			add(d, everyRow)
		}
		if i > 0 || len(damages) == 1 && !givesOneAnswer(op.ID) {
			add(d, drawn(hidingPlaces(op), f.Requirement(aspect)+d.id))
		}
	}
	return defects
}

// damaging changes a field in the reached rows.
func damaging(op spec.Operation, f spec.Field, wrong func(any) any, where reach) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return func(next Handler) Handler {
			pick := where.pick(a, next)
			sample := sampleOf(f.Resource)
			return onBody(op.ID, http.StatusOK, func(r Request, body any) any {
				rows := pick(r, body, rowsIn(op.ID, body))
				slots := slotsIn(rows, f.Path, where.onePlace)
				if len(slots) == 0 && len(rows) > 0 && mayShow(a, r, f) {
					// No row shows the field, so nothing could be wrong with
					// it: one row gets it.
					graft(rows[0], sample, f.Path)
					slots = slotsIn(rows[:1], f.Path, where.onePlace)
				}
				for _, s := range slots {
					s.set(wrong(s.value))
				}
				return body
			})(next)
		}
	}
}

// slotsIn returns the places of a field in rows: all, or the last of each row.
func slotsIn(rows []map[string]any, path string, onePlace bool) []slot {
	var slots []slot
	for _, r := range rows {
		at := slotsAt(r, path)
		if onePlace && len(at) > 1 {
			at = at[len(at)-1:]
		}
		slots = append(slots, at...)
	}
	return slots
}

// mayShow reports whether an answer may show a missing field: metadata is shown
// on request, and requests may omit parts of a row.
func mayShow(a *Target, r Request, f spec.Field) bool {
	return f.Path != "metadata" && !a.filtersRows(r)
}

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

// openAPI returns the OpenAPI document, with the closed sets of values and a
// sample of each resource.
var openAPI = sync.OnceValues(schemas.Document)

// must panics on an error in data that is part of the program and tested.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// sampleOf returns the document's example of a resource. A test checks that it
// has every field.
func sampleOf(resource string) any {
	return copyOf(must(schemas.Sample(must(openAPI()), resource)))
}

// closedSet returns the documented values of a field; nil if there are none.
func closedSet(resource, path string) []any {
	schema := must(openAPI()).Components.Schemas[resource]
	for name := range strings.SplitSeq(path, ".") {
		if name == pathItem {
			schema = schema.Value.Items
		} else {
			schema = schema.Value.Properties[name]
		}
		if schema == nil {
			return nil // an entry of an object with free keys has no listed values
		}
	}
	if listed, ok := schema.Value.Extensions["x-enum"].([]any); ok {
		return listed
	}
	return schema.Value.Enum
}
