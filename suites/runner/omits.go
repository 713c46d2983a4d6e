package runner

import (
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// presenceOf returns the requirements that the fields are present. A profile that omits
// them takes these out of the run.
func presenceOf(omits []string) map[string]bool {
	ids := map[string]bool{}
	for _, name := range omits {
		if field, known := spec.FindField(name); known {
			ids[field.Requirement(spec.Present)] = true
		}
	}
	return ids
}

// withoutOmitted leaves out the checks of fields that the profile omits, and of their
// parts, if no response showed them. A field that is shown is judged as usual.
func withoutOmitted(checks []reports.Check, omits []string) []reports.Check {
	if len(omits) == 0 {
		return checks
	}
	ids := map[string]bool{}
	for _, f := range spec.Fields() {
		if slices.ContainsFunc(omits, func(name string) bool { return f.Name() == name || strings.HasPrefix(f.Name(), name+".") }) {
			for _, aspect := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
				ids[f.Requirement(aspect)] = true
			}
		}
	}
	return slices.DeleteFunc(checks, func(c reports.Check) bool { return c.Outcome == reports.NotAssessed && ids[c.Requirement] })
}
