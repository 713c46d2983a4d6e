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
	"outreach.example/conformance/suites/api"
)

// Step is one thing that the machine does.
type Step struct {
	Do string `json:"do"` // one of the actions
	// Numbers say which rows it is about. Tests are counted in the order of their creation,
	// other rows in the order in which the profile lists them. The first number of a query
	// says which key it sends: 0 is the one that sees everything. A number beyond the last row
	// starts over.
	Numbers [3]uint `json:"numbers,omitzero"`
	// Create is what a creation sends. A step about a test creates one if there is none.
	Create   api.NewTestFields `json:"create,omitzero"`
	List     string            `json:"list,omitempty"` // operation of a query
	Role     string            `json:"role,omitempty"` // whose list or row it reads
	Query    oracle.Query      `json:"query,omitzero"`
	ID       string            `json:"id,omitempty"`       // of the row that it reads
	Metadata string            `json:"metadata,omitempty"` // of a get: true, false or nothing
}

// Actions of a step.
const (
	Query             = "query a list"
	GetRow            = "get a row"
	Create            = "create"
	Again             = "create again"
	Get               = "get"
	List              = "list"
	Delete            = "delete"
	Insert            = "walk while tests are created"
	Remove            = "walk while tests are deleted"
	MoveLead          = "move a lead"
	AddVariables      = "add variables"
	MoveAccounts      = "move accounts"
	DeleteSubsequence = "delete a subsequence"
)

var (
	onTests  = []string{Create, Again, Get, List, Delete, Insert, Remove} // tests of its own
	moves    = []string{MoveLead, AddVariables, MoveAccounts}
	onListed = append([]string{DeleteSubsequence}, moves...) // rows that the profile lists
	changes  = slices.Concat(onTests, onListed)
	actions  = append([]string{Query, GetRow}, changes...)
)

// Found is the shortest case that shows one violated requirement.
type Found struct {
	Requirement string            `json:"requirement"`
	Operation   string            `json:"operation"`
	Seed        uint64            `json:"seed"` // of the round that found it
	Steps       []Step            `json:"steps"`
	Violation   reports.Violation `json:"violation"`
	Requests    []string          `json:"requests"` // of the case, as commands
	// Again reports whether the case showed the violation when it was tried again.
	Again bool `json:"reproduced"`
}

// pair returns the violated requirement.
func (f Found) pair() spec.Pair {
	return spec.Pair{Requirement: f.Requirement, Operation: f.Operation}
}

// Bounds of a file of cases.
const (
	MaxCases = 4 << 20 // bytes
	MaxSteps = 10      // of a case
)

// EncodeCases returns the content of a file of cases.
func EncodeCases(found []Found) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // keeps & in curl commands readable
	encoder.SetIndent("", "  ")
	err := encoder.Encode(append([]Found{}, found...)) // never null
	return text.Bytes(), err
}

// ReadCases reads what EncodeCases returns. An unknown member is an error: an older version
// may have written it.
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
		if len(f.Steps) == 0 || len(f.Steps) > MaxSteps {
			return nil, fmt.Errorf("case %d: steps: want 1 to %d", i+1, MaxSteps)
		}
		for j, step := range f.Steps {
			if err := step.check(); err != nil {
				return nil, fmt.Errorf("case %d: steps[%d].%w", i+1, j, err)
			}
		}
	}
	return found, nil
}

// check returns an error for a step that cannot be played.
func (s Step) check() error {
	if !slices.Contains(actions, s.Do) {
		return fmt.Errorf("do: %q is not one of %s", s.Do, strings.Join(actions, ", "))
	}
	if s.Create.Value < 0 {
		return errors.New("create.value: want at least 0")
	}
	if field := s.Create.Field; field != "" && !slices.Contains(api.KeptFields(), field) {
		return fmt.Errorf("create.field: %q is no field of a creation that the test shows", field)
	}
	if op, known := spec.FindOperation(s.List); s.Do == Query && (!known || op.Answer == spec.One) {
		return fmt.Errorf("list: %q is no list", s.List)
	}
	if s.Do == GetRow && s.ID == "" {
		return errors.New("id: want the id of a test")
	}
	if s.Do == Query {
		if err := s.Query.Check(); err != nil {
			return fmt.Errorf("query.%w", err)
		}
	}
	return nil
}
