package judge

import (
	"regexp"
	"slices"

	"outreach.example/conformance/reports"
)

// examples are at most maxViolations violations of a pair. Those that differ in form
// come first, in the order in which they came, then the copies. So a page that shows two
// examples shows two kinds of them, if there are.
type examples struct {
	shown     []reports.Violation
	forms     []string // of the shown
	different int      // number of forms
}

// place returns where the violation belongs among the shown; false if nowhere.
func (e *examples) place(v reports.Violation) (at int, kind string, fits bool) {
	if e.different == maxViolations {
		return 0, "", false
	}
	kind = form(v)
	if slices.Contains(e.forms[:e.different], kind) {
		return len(e.shown), kind, len(e.shown) < maxViolations
	}
	return e.different, kind, true
}

// add shows the violation if it fits. It formats only what it shows.
func (e *examples) add(v reports.Violation, format func(reports.Violation) reports.Violation) (shown bool) {
	at, kind, fits := e.place(v)
	if !fits {
		return false
	}
	if at == e.different && !slices.Contains(e.forms[:e.different], kind) {
		e.different++
	}
	e.shown, e.forms = slices.Insert(e.shown, at, format(v)), slices.Insert(e.forms, at, kind)
	n := min(len(e.shown), maxViolations)
	e.shown, e.forms = e.shown[:n:n], e.forms[:n:n]
	return true
}

// asIs is the format of a violation that is formatted already.
func asIs(v reports.Violation) reports.Violation { return v }

// numbered is a word with a digit: an id, a number, a time or a generated name.
var numbered = regexp.MustCompile(`[\pL\pN_-]*\pN[\pL\pN_-]*`)

// form returns what violations of one kind have in common: place, expected and actual
// without their ids, numbers and array indices. A status is part of the form.
func form(v reports.Violation) string {
	status := ""
	if v.Pointer == "status" {
		status = v.Actual[:min(len(v.Actual), 3)]
	}
	return status + "\n" + numbered.ReplaceAllString(v.Pointer+"\n"+v.Expected+"\n"+v.Actual, "#")
}
