package schemas

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
)

// The core proof: each field of each resource is damaged in every way that the
// specification forbids, and exactly its own requirement must be found, where
// the damage is. What the specification leaves open must pass.
func TestEveryDamageViolatesItsRequirement(t *testing.T) {
	v, damaged := validator(t), map[string]bool{}
	for resource, op := range resources() {
		for _, f := range spec.Fields() {
			if f.Resource != resource {
				continue
			}
			t.Run(resource+"."+f.Path, func(t *testing.T) {
				for _, d := range damages(t, f) {
					row := example(t, resource)
					at := locate(t, row, f.Path)
					d.apply(at)
					body, prefix := wrap(op, row)
					judged := v.Answer(op, mustJSON(t, body))
					if judged.Err != nil {
						t.Fatalf("%s: %v", d.name, judged.Err)
					}
					expectOnly(t, d, f, prefix+at.pointer, judged)
					if d.aspect != "" {
						damaged[f.Requirement(d.aspect)] = true
					}
				}
			})
		}
	}
	for _, s := range newFieldTables() {
		for _, id := range s.ids {
			if !damaged[id] {
				t.Errorf("no damage violates %s", id)
			}
		}
	}
}

// damage is one change to a field and the requirement that it violates.
type damage struct {
	name   string
	aspect spec.Aspect // empty: the specification allows it
	apply  func(place)
}

func expectOnly(t *testing.T, d damage, f spec.Field, pointer string, judged Judgement) {
	t.Helper()
	if d.aspect == "" {
		if len(judged.Findings) > 0 {
			t.Errorf("%s is allowed, but: %+v", d.name, judged.Findings)
		}
		return
	}
	id := f.Requirement(d.aspect)
	if len(judged.Findings) != 1 || judged.Findings[0].Requirement != id || judged.Findings[0].Pointer != pointer {
		t.Errorf("%s: want %s at %s alone, got %+v", d.name, id, pointer, judged.Findings)
		return
	}
	if found := judged.Findings[0]; found.Expected == "" || found.Actual == "" {
		t.Errorf("%s: expected or actual is empty: %+v", d.name, found)
	}
	if !slices.Contains(judged.Seen, id) {
		t.Errorf("%s: %s is violated but not among Seen", d.name, id)
	}
	if d.aspect == spec.Type && slices.Contains(judged.Seen, f.Requirement(spec.Value)) && strings.Count(f.Path, "ENTRY") == 0 {
		t.Errorf("%s: a value of a wrong type put VALUE to the test", d.name)
	}
}

func damages(t *testing.T, f spec.Field) []damage {
	var all []damage
	set := func(name string, aspect spec.Aspect, value any) {
		all = append(all, damage{name, aspect, func(at place) { at.set(value) }})
	}
	if name := f.Path[strings.LastIndex(f.Path, ".")+1:]; name != "ITEM" && name != "ENTRY" {
		missing := damage{name: "missing", apply: func(at place) { at.remove() }}
		if f.Required {
			missing.aspect = spec.Present
		}
		all = append(all, missing)
	}
	for name, value := range map[string]any{"null": nil, "a string": "no such value", "a number": json.Number("0.25"),
		"a boolean": true, "an object": map[string]any{"surprise": "here"}, "an array": []any{"surprise"}} {
		if !slices.Contains(typesOf(t, f), name) {
			set(name+" for "+f.Type, spec.Type, value)
		} else if name == "null" {
			set("null", "", nil)
		}
	}
	if f.Value != "" {
		for name, value := range badValues(t, f) {
			set(name, spec.Value, value)
		}
	}
	return all
}

// typesOf reads the words of Field.Type back into names of types.
func typesOf(t *testing.T, f spec.Field) []string {
	types := strings.Split(strings.ReplaceAll(f.Type, " or ", ", "), ", ")
	for _, name := range types {
		if !slices.Contains([]string{"null", "a string", "a number", "a boolean", "an object", "an array"}, name) {
			t.Fatalf("%s.%s: unknown type %q in %q", f.Resource, f.Path, name, f.Type)
		}
	}
	return types
}

func badValues(t *testing.T, f spec.Field) map[string]any {
	types := typesOf(t, f)
	switch {
	case strings.Contains(f.Value, "not negative"):
		return map[string]any{"a fraction": json.Number("1.5"), "a negative number": json.Number("-1")}
	case slices.Contains(types, "a number"):
		return map[string]any{"a fraction": json.Number("1.5"), "a number outside the set": json.Number("77"), "a huge number": json.Number("1e300")}
	case slices.Contains(types, "an array"):
		return map[string]any{"an empty array": []any{}}
	case slices.Contains(types, "an object"):
		return map[string]any{"an empty object": map[string]any{}, "an unknown key": map[string]any{"1": true, "7": true}, "a key in words": map[string]any{"monday": true}}
	case strings.Contains(f.Value, "UUID of version 7"):
		return map[string]any{"a UUID of version 4": "01890a5d-ac96-474b-bcce-b302099a8057", "no UUID": "no such value"}
	case strings.Contains(f.Value, "timestamp"):
		return map[string]any{"no milliseconds": "2026-03-01T09:30:00Z", "an offset": "2026-03-01T09:30:00.000+02:00", "no such day": "2026-02-30T09:30:00.000Z"}
	case strings.Contains(f.Value, "calendar date"):
		return map[string]any{"no such day": "2026-02-30", "a timestamp": "2026-03-01T00:00:00.000Z"}
	case strings.Contains(f.Value, "HH:MM"):
		return map[string]any{"hour 24": "24:00", "no leading zero": "9:00", "with seconds": "09:00:00"}
	case strings.Contains(f.Value, "E.164"):
		return map[string]any{"no plus": "14155550123", "with spaces": "+1 415 555 0123", "a leading zero": "+0415555012", "too long": "+1234567890123456"}
	}
	return map[string]any{"outside the set": "no such value"}
}

// place is where a field stands in a decoded row.
type place struct {
	pointer string
	set     func(value any)
	remove  func()
}

// locate finds the first field with a path, so that ITEM is item 0 and ENTRY
// the first key.
func locate(t *testing.T, row map[string]any, path string) place {
	t.Helper()
	at := place{set: func(any) { t.Fatal("the row itself") }}
	var value any = row
	for _, name := range strings.Split(path, ".") {
		switch parent := value.(type) {
		case map[string]any:
			key := name
			if name == "ENTRY" {
				keys := reflect.ValueOf(parent).MapKeys()
				if len(keys) == 0 {
					t.Fatalf("the example of %s has no entry", path)
				}
				key = slices.MinFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }).String()
			}
			child, ok := parent[key]
			if !ok {
				t.Fatalf("the example lacks %s", path)
			}
			value = child
			at = place{at.pointer + "/" + key, func(v any) { parent[key] = v }, func() { delete(parent, key) }}
		case []any:
			if len(parent) == 0 {
				t.Fatalf("the example of %s has no item", path)
			}
			value = parent[0]
			at = place{at.pointer + "/0", func(v any) { parent[0] = v }, nil}
		default:
			t.Fatalf("%s: %T in the example", path, value)
		}
	}
	if value == nil {
		t.Fatalf("%s is null in the example", path)
	}
	return at
}
