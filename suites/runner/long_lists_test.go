package runner

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
)

// A list of any length is read in pages of a legal size.
func TestLongListsAreReadInLegalPages_long(t *testing.T) {
	g := NewWithT(t)
	subject, err := startWith(700)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(subject.Close(t.Context())).To(Succeed()) }()
	results := judged(t, t.Context(), Config{Target: subject, Seed: 1})
	g.Expect(results.Verdict).To(Equal(reports.Passed), "%v", results.Reasons)
}
