//go:build ignore

// Command generate writes the typed constants of the requirement ids,
// ids_gen.go, from the catalogue. Ids of single fields (SHAPE-…) get none:
// no spec names them.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

func main() {
	if err := write("ids_gen.go"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(file string) error {
	var out bytes.Buffer
	out.WriteString("// Code generated from the catalogue; DO NOT EDIT.\n\npackage spec\n\n// Ids of the requirements that are not about one field.\nconst (\n")
	for _, r := range spec.Requirements() {
		if strings.HasPrefix(r.ID, "SHAPE-") {
			continue
		}
		fmt.Fprintf(&out, "\t%s ID = %q\n", constant(r.ID), r.ID)
	}
	out.WriteString(")\n")
	source, err := format.Source(out.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
}

// constant returns the Go name of an id: AUTH-KEY-UNKNOWN is AuthKeyUnknown.
func constant(id string) string {
	words := strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '_' })
	for i, word := range words {
		if slices.Contains([]string{"ID", "IDS", "JSON", "URL"}, word) {
			continue
		}
		words[i] = word[:1] + strings.ToLower(word[1:])
	}
	return strings.Join(words, "")
}
