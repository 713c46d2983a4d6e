package schemas

// This file checks the harness's own files against their JSON Schemas (draft-07).

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	compiled *gojsonschema.Schema
	text     []byte
}

// Compile returns the schema. Its error is a mistake in the text.
func Compile(text []byte) (*Schema, error) {
	addFormats(text)
	compiled, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	return &Schema{compiled, text}, err
}

// Findings returns what of the document breaks the schema, sorted: the JSON pointer and what is
// wrong there. Its error means that the document could not be checked.
func (s *Schema) Findings(document []byte) (found []string, err error) {
	errs, err := s.validate(document)
	for _, e := range errs {
		if strings.HasPrefix(e.Type(), "condition_") || e.Type() == "number_all_of" {
			continue // what breaks the branch is a finding too
		}
		pointer := strings.TrimPrefix(e.Context().String("/"), "(root)")
		found = append(found, short(pointer)+": "+short(e.Description()))
	}
	if len(found) == 0 && len(errs) > 0 {
		found = []string{"breaks a condition"}
	}
	slices.Sort(found)
	return found, err
}

// validate returns the errors of gojsonschema. It panics on some numbers.
func (s *Schema) validate(document []byte) (errs []gojsonschema.ResultError, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema cannot be checked: %v", p)
		}
	}()
	result, err := s.compiled.Validate(gojsonschema.NewBytesLoader(document))
	if err != nil {
		return nil, err
	}
	return result.Errors(), nil
}

// short returns a text that fits an error.
func short(text string) string {
	const longest = 200
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}
