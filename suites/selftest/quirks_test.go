package selftest

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

// A target that finds created tests late, and has other reasons for 404 or 401, serves
// them all the same. Only such a combination leaves no other sign of that.
func TestLateTestsAreServed(t *testing.T) {
	g := NewWithT(t)
	rules, err := judge.NewRules()
	g.Expect(err).NotTo(HaveOccurred())
	for operation, ids := range map[string][]string{
		spec.GetPlacementTest:    {"late/found-now-and-then", "precedence/existence-first"},
		spec.DeletePlacementTest: {"late/deletable", "errors/permission-401-html"},
	} {
		var quirks []faults.Quirk
		for _, id := range ids {
			quirks = append(quirks, quirkNamed(t, id))
		}
		pair := spec.Served.On(operation)
		result, err := examine(t.Context(), Embedded(ShortLists), rules, 1, tree.Judging(pair), faults.Combine(quirks...).Apply)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(result.checks[pair].Outcome).To(Equal(reports.Pass), "%s with %q: %+v", operation, ids, result.checks[pair])
	}
}

func quirkNamed(t *testing.T, id string) faults.Quirk {
	t.Helper()
	all := faults.Quirks()
	i := slices.IndexFunc(all, func(q faults.Quirk) bool { return q.ID == id })
	if i < 0 {
		t.Fatalf("there is no quirk %s", id)
	}
	return all[i]
}
