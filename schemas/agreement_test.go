package schemas

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"outreach.example/conformance/spec"
)

func TestExamplesAreValidForBoth(t *testing.T) {
	v, doc := validator(t), document(t)
	for resource, op := range resources() {
		row := example(t, resource)
		if err := doc.Components.Schemas[resource].Value.VisitJSON(row, openapi3.VisitAsResponse()); err != nil {
			t.Errorf("%s: kin-openapi: %v", resource, err)
		}
		body, _ := wrap(op, row)
		judged := v.Answer(op, mustJSON(t, body))
		if judged.Err != nil || len(judged.Findings) > 0 || len(judged.Extra) > 0 {
			t.Errorf("%s: %+v", resource, judged)
		}
		// The examples are whole, so that everything there is to judge is judged.
		for _, f := range spec.Fields() {
			if f.Resource != resource {
				continue
			}
			for _, id := range requirementsOf(f) {
				if !slices.Contains(judged.Seen, id) {
					t.Errorf("the example of %s does not put %s to the test", resource, id)
				}
			}
		}
		if !sortedUnique(judged.Seen) {
			t.Errorf("%s: Seen is not sorted and unique: %q", resource, judged.Seen)
		}
	}
}

// Two libraries that share no code read two forms of the same shapes. Where
// they differ on a body, one form or one library is wrong.
func TestBothLibrariesAgree(t *testing.T) {
	v, doc := validator(t), document(t)
	ops := resources()
	names := slices.Sorted(maps.Keys(ops))
	valid, invalid := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		resource := rapid.SampledFrom(names).Draw(rt, "resource")
		row := example(t, resource)
		for range rapid.IntRange(1, 3).Draw(rt, "mutations") {
			mutate(rt, row)
		}
		kin := doc.Components.Schemas[resource].Value.VisitJSON(row)
		body, _ := wrap(ops[resource], row)
		ours := v.Answer(ops[resource], mustJSON(t, body))
		if ours.Err != nil {
			rt.Fatal(ours.Err)
		}
		if (kin == nil) != (len(ours.Findings) == 0) {
			rt.Fatalf("%s: %s\nkin-openapi: %v\nours: %+v", resource, mustJSON(t, row), kin, ours.Findings)
		}
		if kin != nil {
			invalid++
		} else {
			valid++
		}
	})
	if valid == 0 || invalid == 0 {
		t.Errorf("%d mutations were valid, %d invalid: there must be both", valid, invalid)
	}
}

// mutate changes one random place of a decoded object.
func mutate(t *rapid.T, row map[string]any) {
	var node any = row
	for {
		switch at := node.(type) {
		case map[string]any:
			if len(at) == 0 || rapid.IntRange(0, 9).Draw(t, "add") == 0 {
				at[rapid.SampledFrom([]string{"surprise", "7", "0", "from", "a/b"}).Draw(t, "new key")] = anyValue(2).Draw(t, "value")
				return
			}
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(at))).Draw(t, "key")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				delete(at, key)
				return
			case 1:
				at[key] = anyValue(2).Draw(t, "value")
				return
			}
			node = at[key]
		case []any:
			if len(at) == 0 {
				return
			}
			i := rapid.IntRange(0, len(at)-1).Draw(t, "index "+strconv.Itoa(len(at)))
			if rapid.Bool().Draw(t, "replace") {
				at[i] = anyValue(2).Draw(t, "value")
				return
			}
			node = at[i]
		default:
			return
		}
	}
}
