package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// Case is what the engine generates: one query of a list, or a sequence of steps. Exactly
// one of them is set.
type Case struct {
	List  *List  `json:"list,omitempty"`
	Steps []Step `json:"steps,omitempty"`
}

// List is a query of a list with some key.
type List struct {
	Operation string       `json:"operation"`
	Role      string       `json:"role"`            // whose list it is
	Key       string       `json:"key"`             // name in the profile
	Limit     string       `json:"limit,omitempty"` // out of range, for a single page
	Query     oracle.Query `json:"query"`
}

// Step is one request of a sequence, or a walk. Tests are counted in the order of their
// creation.
type Step struct {
	Do       string               `json:"do"`                 // one of the actions
	Test     int                  `json:"test,omitempty"`     // which test it is about
	Create   suites.NewTestFields `json:"create,omitzero"`    // of a creation
	Metadata string               `json:"metadata,omitempty"` // of a get: true, false or nothing
	Query    oracle.Query         `json:"query,omitzero"`     // of a list; its search stands for the test's name
}

// Actions of a step.
const (
	create = "create"
	again  = "create again"
	get    = "get"
	list   = "list"
	remove = "delete"
	insert = "walk while tests are created"
	shrink = "walk while tests are deleted"
)

var actions = []string{create, again, get, list, remove, insert, shrink}

// Found is the shortest case that shows one violated requirement.
type Found struct {
	Requirement string            `json:"requirement"`
	Operation   string            `json:"operation"`
	Seed        uint64            `json:"seed"` // of the round that found it
	Case        Case              `json:"case"`
	Violation   reports.Violation `json:"violation"`
	Requests    []string          `json:"requests"` // of the case, as commands
	// Again reports whether the case showed the violation when it was tried again.
	Again bool `json:"reproduced"`
}

// Pair returns the violated requirement.
func (f Found) Pair() spec.Pair {
	return spec.Pair{Requirement: f.Requirement, Operation: f.Operation}
}

// MaxCases is the size of the largest file of cases, in bytes.
const MaxCases = 4 << 20

// EncodeCases returns the content of a file of cases.
func EncodeCases(found []Found) ([]byte, error) {
	if found == nil {
		found = []Found{}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // keeps & in curl commands readable
	encoder.SetIndent("", "  ")
	err := encoder.Encode(found)
	return text.Bytes(), err
}

// ReadCases reads what EncodeCases returns. An unknown member is an error.
func ReadCases(text []byte) ([]Found, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var found []Found
	if err := decoder.Decode(&found); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("more than one JSON value")
	}
	for i, f := range found {
		if err := f.Case.check(); err != nil {
			return nil, fmt.Errorf("case %d: %w", i+1, err)
		}
	}
	return found, nil
}

// check returns an error for a case that cannot be tried.
func (c Case) check() error {
	if (c.List == nil) == (len(c.Steps) == 0) {
		return errors.New("want either list or steps")
	}
	if c.List != nil {
		op, known := spec.FindOperation(c.List.Operation)
		if !known || op.Answer == spec.One {
			return fmt.Errorf("list.operation: %q is no list", c.List.Operation)
		}
		return checkQuery("list.query", c.List.Query)
	}
	if len(c.Steps) > mostSteps {
		return fmt.Errorf("steps: want at most %d", mostSteps)
	}
	for i, s := range c.Steps {
		if !slices.Contains(actions, s.Do) {
			return fmt.Errorf("steps[%d].do: %q is not one of %s", i, s.Do, strings.Join(actions, ", "))
		}
		if s.Do == list {
			if err := checkQuery(fmt.Sprintf("steps[%d].query", i), s.Query); err != nil {
				return err
			}
		}
		if s.Test < 0 {
			return fmt.Errorf("steps[%d].test: want 0 or more", i)
		}
	}
	return nil
}

// mostPages bounds the pages of a query in a file.
const mostPages = 1000

func checkQuery(at string, q oracle.Query) error {
	if q.Pages < 1 || q.Pages > mostPages {
		return fmt.Errorf("%s.pages: want 1 to %d", at, mostPages)
	}
	if len(q.Sizes) == 0 {
		return fmt.Errorf("%s.limits: want at least one (0 sends no limit)", at)
	}
	for _, size := range q.Sizes {
		if size < 0 || size > 100 {
			return fmt.Errorf("%s.limits: want 0 to 100, got %d", at, size)
		}
	}
	return nil
}
