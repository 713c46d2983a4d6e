package strict

import (
	"errors"
	"fmt"

	"outreach.example/conformance/reports/internal/printable"
)

// maxProblems bounds how many contradictions one error lists.
const maxProblems = 10

// Problems collects what is wrong with a document, up to maxProblems.
type Problems struct {
	found []error
	more  int
}

// Unless notes a problem at the JSON pointer unless ok holds.
func (p *Problems) Unless(ok bool, pointer, format string, args ...any) {
	switch {
	case ok:
	case len(p.found) == maxProblems:
		p.more++
	default:
		p.found = append(p.found, fmt.Errorf("%s: %s", pointer, printable.Text(fmt.Sprintf(format, args...))))
	}
}

// Err is all problems as one error; nil when there are none.
func (p *Problems) Err() error {
	if p.more > 0 {
		return errors.Join(append(p.found, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.found...)
}
