// Command openapi lints OpenAPI documents with two linters that share no code. It exits
// with 1 if one of them finds anything.
//
//	go -C tools run ./openapi ../schemas/openapi.yaml ../schemas/openapi-3.1.yaml
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/speakeasy-api/openapi/linter"
	"github.com/speakeasy-api/openapi/openapi"
	rules "github.com/speakeasy-api/openapi/openapi/linter"
)

func main() {
	failed := len(os.Args) < 2
	for _, path := range os.Args[1:] {
		for _, lint := range []func(string) error{metaschema, style} {
			if err := lint(path); err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
				failed = true
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}

// metaschema validates a document against the JSON Schema of its version of OpenAPI.
func metaschema(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		return err
	}
	v, wrong := validator.NewValidator(doc)
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	_, found := v.ValidateDocument()
	var all []error
	for _, f := range found {
		all = append(all, fmt.Errorf("libopenapi: %s: %s", f.Message, f.Reason))
		for _, detail := range f.SchemaValidationErrors {
			all = append(all, fmt.Errorf("libopenapi: %s", detail.Reason))
		}
	}
	return errors.Join(all...)
}

// style validates a document and applies the rules of the linter, except those of ignored.
func style(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	doc, invalid, err := openapi.Unmarshal(ctx, bytes.NewReader(text))
	if err != nil {
		return err
	}
	config := linter.NewConfig()
	config.Extends = []string{"recommended"}
	for rule := range ignored {
		config.Rules = append(config.Rules, linter.RuleEntry{ID: rule, Disabled: new(true)})
	}
	l, err := rules.NewLinter(config)
	if err != nil {
		return err
	}
	output, err := l.Lint(ctx, linter.NewDocumentInfo(doc, path), invalid, nil)
	if err != nil {
		return err
	}
	var all []error
	for _, result := range output.Results {
		all = append(all, fmt.Errorf("speakeasy: %w", result))
	}
	return errors.Join(all...)
}

// ignored holds the rules that ask for what the specification does not say, with the
// reason.
var ignored = map[string]string{
	"owasp-security-hosts-https-oas3": "the address is that of the server under test, often on this machine",
}
