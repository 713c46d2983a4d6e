package faults

import (
	"regexp"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
)

// Every requirement × operation of the catalogue has a defect that breaks it,
// and no defect breaks anything else.
func TestDefectsBreakTheCatalogue(t *testing.T) {
	broken := map[spec.Pair]bool{}
	for _, d := range Defects() {
		broken[d.Breaks] = true
	}
	for _, p := range spec.Pairs() {
		if !broken[p] {
			t.Errorf("no defect breaks %s on %s", p.Requirement, p.Operation)
		}
		delete(broken, p)
	}
	for p := range broken {
		t.Errorf("the catalogue has no %s on %s", p.Requirement, p.Operation)
	}
}

func TestDefectsAreWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^[a-z.-]+/[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, d := range Defects() {
		if seen[d.ID] {
			t.Errorf("the id %s stands twice", d.ID)
		}
		seen[d.ID] = true
		if !form.MatchString(d.ID) || !strings.HasPrefix(d.ID, d.Breaks.Operation+"/") {
			t.Errorf("%s is no id of a defect of %s", d.ID, d.Breaks.Operation)
		}
		if d.Doc == "" || strings.HasSuffix(d.Doc, ".") || strings.HasPrefix(d.Doc, "the server") || strings.Contains(d.Doc, "%") {
			t.Errorf("%s: %q does not complete a sentence on the server", d.ID, d.Doc)
		}
	}
}
