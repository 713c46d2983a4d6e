//go:build ignore

// Command generate writes the files that are derived from openapi.yaml. The
// command "go generate ./schemas" runs it in that directory.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"outreach.example/conformance/schemas/internal/derive"
)

func main() {
	if err := generate(".."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes the files below the module's root. It removes the schemas of
// components that no longer exist.
func generate(root string) error {
	source, err := os.ReadFile(filepath.Join(root, "schemas", "openapi.yaml"))
	if err != nil {
		return err
	}
	files, err := derive.Files(source)
	if err != nil {
		return err
	}
	former, err := filepath.Glob(filepath.Join(root, "schemas", "json", "*.schema.json"))
	if err != nil {
		return err
	}
	for _, path := range former {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for path, content := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(path)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
