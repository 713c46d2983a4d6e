package openapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/speakeasy-api/openapi/linter"
	"github.com/speakeasy-api/openapi/openapi"
	rules "github.com/speakeasy-api/openapi/openapi/linter"
)

// validity reports members, types and references that OpenAPI does not allow, examples
// that their schemas refuse, and patterns that cannot be compiled.
func validity(path string) error {
	doc, err := openapi3.NewLoader().LoadFromFile(path)
	if err != nil {
		return fmt.Errorf("kin-openapi: %w", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return fmt.Errorf("kin-openapi: %w", err)
	}
	return nil
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
