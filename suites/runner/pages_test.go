package runner

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A server that answers 200 to all and shows no page has kept no rule of pages.
func TestNoPageIsNoPass(t *testing.T) {
	server := embedded(t)
	for _, tc := range []struct {
		name, contentType, body string
		shown                   []string // requirements that such answers put to the test
	}{
		{"empty object", "application/json", `{}`, []string{"PAGE-ITEMS-PRESENT"}},
		{"items of another type", "application/json", `{"items": {"0": {}}}`, []string{"PAGE-ITEMS-PRESENT", "PAGE-ITEMS-TYPE"}},
		{"web page", "text/html", `<html></html>`, nil},
		{"null", "application/json", `null`, nil},
		{"no row", "application/json", `{"items": []}`, []string{
			"PAGE-ITEMS-PRESENT", "PAGE-ITEMS-TYPE", "PAGE-LIMIT-ACCEPTED", "PAGE-LIMIT-ABSENT", "PAGE-LIMIT-OUT-OF-RANGE", "PAGE-WALK-ENDS"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: server, Transport: saying(tc.contentType, tc.body),
				Selection: Selection{Groups: []string{string(spec.GroupPages)}, Requirements: []string{"PAGE-*", "SORT-*"}}})
			for _, c := range results.Checks {
				about := c.Requirement + " on " + c.Operation
				if slices.Contains(tc.shown, c.Requirement) {
					g.Expect(c.Outcome).To(BeElementOf(reports.Pass, reports.Fail), about)
					continue
				}
				g.Expect(c.Outcome).To(Equal(reports.NotAssessed), about)
				if strings.HasPrefix(c.Requirement, "PAGE-LIMIT") && tc.name != "no row" {
					g.Expect(c.Missing).To(And(ContainElement("a page with items"), HaveEach(HavePrefix("a page with items"))), about)
				}
			}
		})
	}
}
