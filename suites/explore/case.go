package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/explore/sequence"
)

// Case is one thing to try: a query of a list, a get of a row that a list shows, or a
// sequence of steps. Exactly one of them is set.
type Case struct {
	List  *List           `json:"list,omitempty"`
	Get   *Get            `json:"get,omitempty"`
	Steps []sequence.Step `json:"steps,omitempty"`
}

// List is a query of a list with some key.
type List struct {
	Operation string       `json:"operation"`
	Role      string       `json:"role"`            // whose list it is
	Key       string       `json:"key"`             // name in the profile
	Limit     string       `json:"limit,omitempty"` // out of range, for a single page
	Query     oracle.Query `json:"query"`
}

// Get is a get of a test that the list shows, with the key that sees everything.
type Get struct {
	Role     string `json:"role"` // whose test it is
	ID       string `json:"id"`
	Metadata string `json:"metadata,omitempty"` // true, false or nothing
}

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
	kinds := 0
	for _, set := range []bool{c.List != nil, c.Get != nil, len(c.Steps) > 0} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("want one of list, get and steps")
	case c.Get != nil:
		if c.Get.ID == "" {
			return errors.New("get.id: want the id of a test")
		}
		return nil
	case c.List == nil:
		return sequence.Check(c.Steps)
	}
	op, known := spec.FindOperation(c.List.Operation)
	if !known || op.Answer == spec.One {
		return fmt.Errorf("list.operation: %q is no list", c.List.Operation)
	}
	if err := c.List.Query.Check(); err != nil {
		return fmt.Errorf("list.query.%w", err)
	}
	return nil
}
