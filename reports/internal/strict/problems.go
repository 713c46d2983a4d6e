package strict

import (
	"errors"
	"fmt"

	"outreach.example/conformance/internal/printable"
)

// maxProblems is the maximum number of problems in one error.
const maxProblems = 10

// Problems collects up to maxProblems problems of a document, and counts the rest.
type Problems struct {
	found []error
	more  int
}

// Unless adds a problem at the JSON pointer unless ok is true.
func (p *Problems) Unless(ok bool, pointer, format string, args ...any) {
	switch {
	case ok:
	case len(p.found) == maxProblems:
		p.more++
	default:
		p.found = append(p.found, fmt.Errorf("%s: %s", pointer, printable.Text(fmt.Sprintf(format, args...))))
	}
}

// Err returns all problems as one error, or nil if there are none.
func (p *Problems) Err() error {
	if p.more > 0 {
		return errors.Join(append(p.found, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.found...)
}
