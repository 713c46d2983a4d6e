package selftest

import (
	"path"
	"slices"
	"testing"

	"outreach.example/conformance/spec"
)

// Each pattern of a companion matches a requirement of the catalogue.
func TestCompanionsAreRequirements(t *testing.T) {
	for _, c := range companions {
		for _, pattern := range []string{c.of, c.with} {
			if _, err := path.Match(pattern, ""); err != nil {
				t.Errorf("%s: %v", pattern, err)
			}
			if !slices.ContainsFunc(spec.Requirements(), func(r spec.Requirement) bool { ok, _ := path.Match(pattern, r.ID); return ok }) {
				t.Errorf("no requirement matches %s", pattern)
			}
		}
	}
}
