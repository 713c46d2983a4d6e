package judge

import (
	"regexp"
	"slices"

	"outreach.example/conformance/reports"
)

// withExample returns at most maxViolations of the shown violations and v. Those that
// differ in form come first, in the order in which they came, then the copies. So a
// page that shows two examples shows two kinds of them, if there are.
func withExample(shown []reports.Violation, v reports.Violation) []reports.Violation {
	seen := map[string]bool{}
	different := 0
	for _, other := range shown {
		if f := form(other); !seen[f] {
			seen[f] = true
			different++
		}
	}
	at := len(shown)
	if !seen[form(v)] {
		at = different
	}
	if at >= maxViolations {
		return shown
	}
	shown = slices.Insert(shown, at, v)
	return shown[:min(len(shown), maxViolations)]
}

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
