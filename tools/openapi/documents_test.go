// Package openapi lints the OpenAPI documents with two linters that share no code. It holds
// tests only. It is in the module tools, so that the program needs no library of a linter.
package openapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const document = "../../schemas/openapi.yaml"

// derived returns the path of the document in OpenAPI 3.1, as the program prints it.
func derived(t *testing.T) string {
	t.Helper()
	program := exec.Command("go", "run", "./cmd/outreach-conformance", "openapi", "--version", "3.1")
	program.Dir, program.Stderr = "../..", os.Stderr
	text, err := program.Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "openapi-3.1.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDocuments(t *testing.T) {
	for _, path := range []string{document, derived(t)} {
		for name, lint := range map[string]func(string) error{"validity": validity, "style": style} {
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) {
				if err := lint(path); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Each linter finds a mistake of its own kind.
func TestLintersFindMistakes(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		lint     func(string) error
		old, new string
	}{
		"a member that OpenAPI does not have": {validity, "\ninfo:\n", "\ninformation: none\ninfo:\n"},
		"an example that its schema refuses":  {validity, "example: {variables: [", "example: {variables: [7, "},
		"a pattern that is none":              {validity, "pattern: '^[", "pattern: '^(["},
		"a reference to nothing":              {style, "#/components/schemas/Lead'", "#/components/schemas/Leed'"},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := strings.Replace(string(text), test.old, test.new, 1)
			if damaged == string(text) {
				t.Fatalf("the document does not contain %q", test.old)
			}
			file := filepath.Join(t.TempDir(), "openapi.yaml")
			if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			if test.lint(file) == nil {
				t.Error("the mistake is not found")
			}
		})
	}
}
