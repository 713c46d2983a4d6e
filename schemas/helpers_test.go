package schemas

import (
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/schemas/schematest"
	"outreach.example/conformance/spec"
)

var sharedValidator = sync.OnceValues(New)

func validator(t testing.TB) *Validator {
	t.Helper()
	v, err := sharedValidator()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// example returns a copy of the document's example of a resource with every field,
// decoded as bodies are.
func example(t testing.TB, component string) map[string]any {
	t.Helper()
	decoded, err := Decode(exampleJSON(t, component))
	if err != nil {
		t.Fatal(err)
	}
	return decoded.(map[string]any)
}

var sharedDocument = sync.OnceValues(Document)

func exampleJSON(t testing.TB, component string) []byte {
	t.Helper()
	return mustJSON(t, schematest.Sample(t, document(t), component))
}

// resources lists the resources with an operation that answers with one, in
// the simplest form that the API has.
func resources() map[string]spec.Operation {
	all := map[string]spec.Operation{}
	for _, op := range spec.Operations() {
		if first, ok := all[op.Resource]; !ok || op.Answer < first.Answer {
			all[op.Resource] = op
		}
	}
	return all
}

// wrap puts a resource into the outer form of an operation's answer and tells
// where it is then.
func wrap(op spec.Operation, resource any) (body any, prefix string) {
	switch op.Answer {
	case spec.Page:
		return map[string]any{"items": []any{resource}, "next_starting_after": nil}, "/items/0"
	case spec.Array:
		return []any{resource}, "/0"
	default:
		return resource, ""
	}
}

func metaschemaErrors(t testing.TB, file string) error {
	t.Helper()
	text, err := fs.ReadFile(JSONSchemas(), file)
	if err != nil {
		t.Fatal(err)
	}
	loader := gojsonschema.NewSchemaLoader()
	loader.Validate = true
	loader.Draft, loader.AutoDetect = gojsonschema.Draft7, false
	return loader.AddSchemas(gojsonschema.NewBytesLoader(text))
}

func sortedUnique(list []string) bool {
	return slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list)
}
