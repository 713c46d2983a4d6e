package schemas

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"outreach.example/conformance/spec"
)

var (
	sharedValidator = sync.OnceValues(New)
	sharedDocument  = sync.OnceValues(Document)
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func validator() *Validator { return must(sharedValidator()) }
func document() *openapi3.T { return must(sharedDocument()) }

func encoded(value any) []byte { return must(json.Marshal(value)) }

func object(value any) map[string]any { return must(Decode(encoded(value))).(map[string]any) }

// example returns a copy of the document's example of a resource with every field. The example
// itself lacks the fields that only some responses show: their examples stand with them.
func example(component string) map[string]any {
	schema := document().Components.Schemas[component].Value
	whole := map[string]any{}
	for name, property := range schema.Properties {
		if property.Value.Example != nil {
			whole[name] = property.Value.Example
		}
	}
	maps.Copy(whole, schema.Example.(map[string]any))
	return object(whole)
}

func operationIn(doc *openapi3.T, op spec.Operation) *openapi3.Operation {
	return doc.Paths.Value(op.Path).GetOperation(op.Method)
}

// request returns the document's example of an operation's request.
func request(op spec.Operation) map[string]any {
	return object(operationIn(document(), op).RequestBody.Value.Content.Get("application/json").Example)
}

// withBody returns the operations whose requests have a body.
func withBody() []spec.Operation {
	return slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool { return op.Body == "" })
}

// resources returns the resources with an operation that answers with one, in the simplest form.
func resources() map[string]spec.Operation {
	all := map[string]spec.Operation{}
	for _, op := range spec.Operations() {
		if first, ok := all[op.Resource]; !ok || op.Answer < first.Answer {
			all[op.Resource] = op
		}
	}
	return all
}

// wrap puts a resource into the outer form of an operation's answer and returns where it is then.
func wrap(op spec.Operation, resource any) (body []byte, prefix string) {
	switch op.Answer {
	case spec.Page:
		return encoded(map[string]any{"items": []any{resource}, "next_starting_after": nil}), "/items/0"
	case spec.Array:
		return encoded([]any{resource}), "/0"
	default:
		return encoded(resource), ""
	}
}

// brief writes findings as "REQUIREMENT pointer".
func brief(findings []Finding) (list []string) {
	for _, f := range findings {
		list = append(list, f.Requirement+" "+f.Pointer)
	}
	return list
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

// anyValue draws decoded JSON values, with a taste for those that matter here.
func anyValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		top := 8
		if depth == 0 {
			top = 6
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2, 3:
			return json.Number(rapid.SampledFrom([]string{"0", "1", "2", "3", "-1", "1.0", "0.5", "-99", "1e2", "401"}).Draw(t, "number"))
		case 4:
			return rapid.StringMatching(`[ -~é😀/~]{0,12}`).Draw(t, "string")
		case 5, 6:
			return rapid.SampledFrom([]string{"", "email", "days", "other", "success", "positive", "09:30", "2026-03-01", "2026-03-01T09:30:00.000Z",
				"01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-474b-bcce-b302099a8057", "Europe/Helsinki", "+358401234567"}).Draw(t, "word")
		case 7:
			return append([]any{}, rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "items")...)
		default:
			keys := rapid.SampledFrom([]string{"1", "7", "id", "from", "steps", "name", "a/b", "~", "odd \x00 key", ""})
			return rapid.MapOfN(keys, anyValue(depth-1), 0, 3).Draw(t, "members")
		}
	})
}
