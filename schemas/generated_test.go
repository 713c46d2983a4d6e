package schemas

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"outreach.example/conformance/schemas/internal/derive"
	"outreach.example/conformance/spec"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := derive.Files(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	again, err := derive.Files(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if !bytes.Equal(want, again[path]) {
			t.Errorf("%s is not generated alike each time", path)
		}
		got, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./schemas", path)
		}
	}
	present, err := filepath.Glob("json/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range present {
		if files["schemas/"+filepath.ToSlash(path)] == nil {
			t.Errorf("%s belongs to no component: run go generate ./schemas", path)
		}
	}
}

func TestRequirementIDsAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, f := range spec.Fields() {
		for _, a := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
			id, field := spec.FieldRequirement(f.Resource, f.Path, a), f.Resource+"."+f.Path
			if other, twice := seen[id]; twice {
				t.Errorf("%s stands for %s and for %s", id, other, field)
			}
			seen[id] = field
		}
		if f.Required == (f.Conditional != "") {
			t.Errorf("%s.%s: required, or conditional with a reason, and not both", f.Resource, f.Path)
		}
	}
	if len(seen) == 0 {
		t.Error("the field table is empty")
	}
}
