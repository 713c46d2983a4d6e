package view_test

import (
	"fmt"
	"strings"
	"testing"

	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

// An explanation fits on a screen, unless --verbose asks for everything.
func TestExplanationIsShort_long(t *testing.T) {
	const most = 45 // lines
	for _, r := range spec.Requirements() {
		e := view.Explanation{Requirement: r, Proofs: map[string][]string{}}
		for i := range 20 {
			e.Locations = append(e.Locations, fmt.Sprintf("suites/leads.go:%d", i))
		}
		for _, op := range r.Operations {
			for i := range 9 {
				e.Proofs[op] = append(e.Proofs[op], fmt.Sprintf("%s/%d: the server shows another value of every field", op, i))
			}
		}
		short := explained(t, e)
		if n := strings.Count(short, "\n"); n > most {
			t.Errorf("%s: %d lines, want at most %d", r.ID, n, most)
		}
		e.Verbose = true
		long := explained(t, e)
		for _, want := range append(e.Locations, e.Proofs[r.Operations[0]]...) {
			if !strings.Contains(long, want) {
				t.Errorf("%s --verbose lacks %q", r.ID, want)
			}
		}
		if strings.Contains(long, "more (--verbose)") {
			t.Errorf("%s --verbose leaves something out", r.ID)
		}
	}
}

func explained(t *testing.T, e view.Explanation) string {
	t.Helper()
	var b strings.Builder
	if err := view.Requirement(&b, e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
