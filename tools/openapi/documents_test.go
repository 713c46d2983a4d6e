package openapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const document = "../../schemas/openapi.yaml"

func TestDocuments(t *testing.T) {
	for _, path := range []string{document, "../../schemas/openapi-3.1.yaml"} {
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
