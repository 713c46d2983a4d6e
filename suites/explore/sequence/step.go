package sequence

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/suites"
)

// Step is one request of a sequence, or a walk. Tests are counted in the order of their
// creation, other rows in the order in which the profile lists them. A number beyond the
// last one starts over.
type Step struct {
	Do        string               `json:"do"`                  // one of the actions
	Test      int                  `json:"test,omitempty"`      // which test it is about
	Create    suites.NewTestFields `json:"create,omitzero"`     // of a creation
	Metadata  string               `json:"metadata,omitempty"`  // of a get: true, false or nothing
	Query     oracle.Query         `json:"query,omitzero"`      // of a list; its search stands for the test's name
	Limit     int                  `json:"limit,omitempty"`     // of the pages of a walk
	Row       int                  `json:"row,omitempty"`       // which lead or campaign it is about
	To        int                  `json:"to,omitempty"`        // to which subsequence a lead moves
	Variables int                  `json:"variables,omitempty"` // how many it adds
	Accounts  []int                `json:"accounts,omitempty"`  // which accounts move
}

// Actions of a step on tests of the sequence's own.
const (
	Create = "create"
	Again  = "create again"
	Get    = "get"
	List   = "list"
	Delete = "delete"
	Insert = "walk while tests are created"
	Remove = "walk while tests are deleted"
)

// Actions of a step on rows that the profile lists.
const (
	MoveLead          = "move a lead"
	AddVariables      = "add variables"
	MoveAccounts      = "move accounts"
	DeleteSubsequence = "delete a subsequence"
	MoveToDeleted     = "move a lead to the deleted subsequence"
)

var (
	onTests  = []string{Create, Again, Get, List, Delete, Insert, Remove}
	onListed = []string{MoveLead, AddVariables, MoveAccounts}
	spending = []string{DeleteSubsequence, MoveToDeleted}
)

// MaxSteps is how many steps a sequence has at most.
const MaxSteps = 10

// UsesListed reports whether the sequence changes rows that the profile lists. Only one
// sequence may do so at a time.
func UsesListed(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(onListed, s.Do) }) || Spends(steps)
}

// Spends reports whether the sequence deletes what nothing can make again. It can be played
// once.
func Spends(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(spending, s.Do) })
}

// Check returns an error for steps that cannot be played.
func Check(steps []Step) error {
	if len(steps) > MaxSteps {
		return fmt.Errorf("steps: want at most %d", MaxSteps)
	}
	actions := slices.Concat(onTests, onListed, spending)
	for i, s := range steps {
		if !slices.Contains(actions, s.Do) {
			return fmt.Errorf("steps[%d].do: %q is not one of %s", i, s.Do, strings.Join(actions, ", "))
		}
		if s.Do == List {
			if err := s.Query.Check(); err != nil {
				return fmt.Errorf("steps[%d].query.%w", i, err)
			}
		}
		if field := s.Create.Field; field != "" && !slices.Contains(suites.KeptFields(), field) {
			return fmt.Errorf("steps[%d].create.field: %q is no field of a creation that the test shows", i, field)
		}
		for name, number := range map[string]int{"test": s.Test, "limit": s.Limit, "row": s.Row, "to": s.To, "variables": s.Variables,
			"create.value": s.Create.Value} {
			if number < 0 || number > maxNumber {
				return fmt.Errorf("steps[%d].%s: want 0 to %d", i, name, maxNumber)
			}
		}
		for _, account := range s.Accounts {
			if account < 0 || account > maxNumber {
				return fmt.Errorf("steps[%d].accounts: want 0 to %d", i, maxNumber)
			}
		}
	}
	return nil
}

// maxNumber bounds the numbers of a step in a file.
const maxNumber = 1000
