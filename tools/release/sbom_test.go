package main

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

// checkSBOM fails unless the file is valid CycloneDX and lists the program, the modules
// of the binary, and the standard library.
func checkSBOM(t *testing.T, binary, path, version string) {
	text := read(t, path)
	if wrong := invalid(t, text); len(wrong) > 0 {
		t.Errorf("the document is not valid: %v", wrong)
	}
	var bom struct {
		Metadata struct {
			Timestamp string
			Component struct{ Name, Version string }
		}
		Components   []struct{ Name, Version, Purl string }
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	if c := bom.Metadata.Component; c.Name != program || c.Version != version || bom.Metadata.Timestamp != "2026-01-02T03:04:05Z" {
		t.Errorf("the document describes %+v of %s", c, bom.Metadata.Timestamp)
	}
	var got []string
	for _, c := range bom.Components {
		purl, err := url.PathUnescape(c.Purl)
		if err != nil {
			t.Fatal(err)
		}
		if purl != "pkg:golang/"+strings.ToLower(c.Name)+"@"+c.Version {
			t.Errorf("%s %s has the package URL %s", c.Name, c.Version, c.Purl)
		}
		got = append(got, c.Name+"@"+c.Version)
	}
	want := append([]string{"stdlib@" + strings.TrimPrefix(runtime.Version(), "go")}, modules(t, binary)...)
	if !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("the document lists\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(bom.Dependencies) != 1 || len(bom.Dependencies[0].DependsOn) != len(want) {
		t.Errorf("the dependencies are %+v", bom.Dependencies)
	}
	for _, damage := range [][2]string{{`"type": "application"`, `"type": "program"`}, {`"alg": "SHA-256"`, `"alg": "h1"`}, {`"specVersion"`, `"spec"`}} {
		if damaged := strings.Replace(string(text), damage[0], damage[1], 1); damaged == string(text) || len(invalid(t, []byte(damaged))) == 0 {
			t.Errorf("the schema accepts a document with %s", damage[1])
		}
	}
}

// invalid returns what the JSON Schema of CycloneDX 1.6 finds wrong in a document. The
// library holds the schema, and those that it refers to.
func invalid(t *testing.T, document []byte) []gojsonschema.ResultError {
	t.Helper()
	library := strings.TrimSpace(command(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"))
	schemas := gojsonschema.NewSchemaLoader()
	for _, name := range []string{"spdx.schema.json", "jsf-0.82.schemax.json"} {
		if err := schemas.AddSchemas(gojsonschema.NewBytesLoader(read(t, filepath.Join(library, "schema", name)))); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := schemas.Compile(gojsonschema.NewBytesLoader(read(t, filepath.Join(library, "schema", "bom-1.6.schema.json"))))
	if err != nil {
		t.Fatal(err)
	}
	result, err := schema.Validate(gojsonschema.NewBytesLoader(document))
	if err != nil {
		t.Fatal(err)
	}
	return result.Errors()
}
