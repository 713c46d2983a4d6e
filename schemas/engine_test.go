package schemas

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

// gojsonschema panics on a number whose enum it cannot compare. Decode keeps
// such numbers away; should one get through, it is the engine's trouble.
func TestPanicsBecomeErrors(t *testing.T) {
	breaches, err := validator(t).engine.check("Lead.schema.json", map[string]any{"status": json.Number("1e400")})
	if err == nil || !strings.Contains(err.Error(), "panicked") || breaches != nil {
		t.Errorf("breaches %v, error %v", breaches, err)
	}
}

func TestUnknownSchemasAreErrors(t *testing.T) {
	if _, err := validator(t).engine.check("Nothing.schema.json", nil); err == nil {
		t.Error("no error")
	}
}

// A $ref that leads out of the embedded set must fail and never reach the network.
func TestNothingIsFetched(t *testing.T) {
	loader := gojsonschema.NewSchemaLoader()
	err := loader.AddSchema(schemaURL("A.schema.json"), gojsonschema.NewStringLoader(`{"$ref":"B.schema.json"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loader.Compile(reference("A.schema.json")); err == nil || !strings.Contains(err.Error(), "B.schema.json is not an embedded schema") {
		t.Errorf("error %v", err)
	}
}

func TestPointers(t *testing.T) {
	for want, tokens := range map[string][]string{"": nil, "/": {""}, "/a~1b/~0/0": {"a/b", "~", "0"}} {
		if got := pointerTo(tokens); got != want {
			t.Errorf("%q became %q, want %q", tokens, got, want)
		}
	}
}
