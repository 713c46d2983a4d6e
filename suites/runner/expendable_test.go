package runner

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// enoughExpendable is how many expendable subsequences docs/qualify-a-release.md asks for.
const enoughExpendable = 23

// Which checks lack an expendable subsequence depends on the profile alone, and not on the
// order or the speed of the specs.
func TestExpendableSubsequencesAreShared_long(t *testing.T) {
	unassessed := func(n int, seed uint64, operations ...string) []string {
		server := embedded(t)
		p := *server.Profile
		p.Workspaces = maps.Clone(p.Workspaces)
		w := p.Workspaces[dataset.Main]
		w.ExpendableSubsequences = w.ExpendableSubsequences[:n]
		p.Workspaces[dataset.Main] = w
		results := judged(t, t.Context(), Config{Target: &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, Profile: &p},
			Seed: seed, Selection: Selection{Operations: operations}})
		var missing []string
		for _, c := range results.Checks {
			if c.Outcome == reports.NotAssessed && strings.Contains(strings.Join(c.Missing, "; "), "expendable_subsequences") {
				missing = append(missing, c.Requirement+" on "+c.Operation)
			}
		}
		return missing
	}
	NewWithT(t).Expect(unassessed(enoughExpendable, 1)).To(BeEmpty())
	NewWithT(t).Expect(unassessed(enoughExpendable-1, 1)).NotTo(BeEmpty())
	const few = 10
	first := unassessed(few, 1, spec.DeleteSubsequence, spec.ListSubsequences)
	NewWithT(t).Expect(first).NotTo(BeEmpty())
	for seed := uint64(2); seed <= 4; seed++ {
		NewWithT(t).Expect(unassessed(few, seed, spec.DeleteSubsequence, spec.ListSubsequences)).To(Equal(first))
	}
}
