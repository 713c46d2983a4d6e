package faults

import (
	"slices"
	"testing"

	"outreach.example/conformance/spec"
)

// A misspelt word would leave a mistake without a filter, and nobody would notice.
func TestMistakesBreakFilters(t *testing.T) {
	var filters []filter
	for _, op := range spec.FilterWalk.Operations() {
		filters = append(filters, filtersIn(op.ID)...)
	}
	for _, m := range filterMistakes {
		if !slices.ContainsFunc(filters, func(f filter) bool { return m.of(f) && len(f.wrong(m.side, m.doc, rule{})) > 0 }) {
			t.Errorf("%q (%s) breaks no filter", m.doc, m.side)
		}
	}
}

// The field that tells whether a row differs is one that no filter looks at.
func TestTellingFieldsAreFree(t *testing.T) {
	for _, op := range spec.ListSameValues.Operations() {
		field := tellingField(op.ID)
		if field == "" || slices.ContainsFunc(filtersIn(op.ID), func(f filter) bool { return f.field == field }) {
			t.Errorf("%s: the field %q cannot tell", op.ID, field)
		}
	}
}
