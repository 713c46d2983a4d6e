package suites

import (
	"testing"

	"outreach.example/conformance/spec"
)

// The catalogue and the specs name the same pairs.
func TestEveryPairHasASpec(t *testing.T) {
	judged := Tree.Judges()
	for _, p := range spec.Pairs() {
		if len(judged[p]) == 0 {
			t.Errorf("no spec judges %s on %s", p.Requirement, p.Operation)
		}
	}
	for p, specs := range judged {
		if !spec.Has(p) {
			t.Errorf("%q judges %s on %s, which the catalogue does not know", specs, p.Requirement, p.Operation)
		}
	}
}

func TestSpecNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Tree.Specs() {
		if seen[s.Name()] {
			t.Errorf("%q stands twice: reports could not tell the two apart", s.Name())
		}
		seen[s.Name()] = true
	}
}
