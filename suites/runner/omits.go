package runner

import (
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// onFields returns the requirements on some aspects of the fields that fit.
func onFields(fits func(spec.Field) bool, aspects ...spec.Aspect) map[string]bool {
	ids := map[string]bool{}
	for _, f := range spec.Fields() {
		for _, aspect := range aspects {
			ids[f.Requirement(aspect)] = ids[f.Requirement(aspect)] || fits(f)
		}
	}
	return ids
}

// withoutOmitted leaves out the checks of fields that the profile omits, and of their
// parts, if no response showed them. A field that is shown is judged as usual.
func withoutOmitted(checks []reports.Check, omits []string) []reports.Check {
	ids := onFields(func(f spec.Field) bool {
		return slices.ContainsFunc(omits, func(name string) bool { return strings.HasPrefix(f.Name()+".", name+".") })
	}, spec.Type, spec.Value, spec.Present)
	return slices.DeleteFunc(checks, func(c reports.Check) bool { return c.Outcome == reports.NotAssessed && ids[c.Requirement] })
}

// keepsNothing is what a check of state lacks on a stateless target.
const keepsNothing = "a target that keeps rows and changes (the target profile says stateless: true)"

// withoutState leaves the checks of state not assessed: what a stateless target shows says
// nothing about rows and changes.
func withoutState(checks []reports.Check) {
	for i, c := range checks {
		if r, known := spec.FindRequirement(c.Requirement); known && r.NeedsState() {
			checks[i] = reports.Check{Requirement: c.Requirement, Operation: c.Operation, Group: c.Group, Level: c.Level, Outcome: reports.NotAssessed,
				Missing: []string{keepsNothing}}
		}
	}
}
