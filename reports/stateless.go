package reports

import "outreach.example/conformance/spec"

// LooksStateless reports whether the failures look like those of a mock that answers with
// examples: its shapes conform, it finds every unknown id, and other checks of state fail.
func LooksStateless(checks []Check) bool {
	unknown, others := 0, 0
	for _, c := range checks {
		r, known := spec.FindRequirement(c.Requirement)
		switch {
		case !known || c.Outcome == NotAssessed:
		case r.Profile == spec.ProfileShape && c.Outcome == Fail, c.Requirement == string(spec.NotFound) && c.Outcome == Pass:
			return false
		case c.Outcome != Fail || !r.NeedsState():
		case c.Requirement == string(spec.NotFound):
			unknown++
		default:
			others++
		}
	}
	return unknown > 0 && others > 0
}
