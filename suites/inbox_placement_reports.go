package suites

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// inboxPlacementReports judges listing blacklist and spam-filter reports.
func inboxPlacementReports() {
	Describe(spec.ListPlacementReports, func() {
		for _, part := range oracle.Parts(spec.ListPlacementReports) {
			It("leaves out "+part.Fields[0]+" on demand only", Requires(part.Requirement("TRUE"), part.Requirement("DEFAULT")), Needs(partsNamed(spec.ListPlacementReports)), func(api *API) { expectSkipping(api, part) })
		}
	})
}

// partsNamed is the need for the names of all flags that leave out parts of rows.
func partsNamed(list string) Need {
	return All(func(*profile.Profile) (needs []Need) {
		for _, part := range oracle.Parts(list) {
			needs = append(needs, Parameter(list, part.Key))
		}
		return needs
	})
}

// expectSkipping reads the list with the flag true, beside the other flags too, and with it false,
// between two reads without flags. Reports that show nothing do not say what is left out.
func expectSkipping(api *API, part spec.Filter) {
	list, field, skips, keeps := api.Request(), part.Fields[0], api.For(part.Requirement("TRUE")), api.For(part.Requirement("DEFAULT"))
	before := api.Read(list)
	ask := func(size int, value string, others bool) Asked {
		flags := map[string]string{}
		for _, p := range oracle.Parts(list.Operation.ID) {
			if others {
				flags[p.Key] = "true"
			}
		}
		flags[part.Key] = value
		return Ask(api, list, oracle.Query{Parameters: flags, Sizes: []int{size}, Pages: oracle.WholeWalk})
	}
	n := len(before.Rows())
	skipped, kept, alone := ask(spec.MaxLimit, "true", false), ask(spec.MaxLimit, "false", false), ask(spec.MaxLimit, "false", true)
	both := ask(min(spec.MaxLimit, max(1, n/3)), "true", true) // beyond the first page, too
	whole := oracle.Between(list.Operation, before.Rows(), api.Read(list).Rows())

	found := Verdict{Assessed: 1}
	add := func(a Asked, counts func(oracle.Mismatch) bool) {
		for _, m := range a.Compare(whole).Mismatches {
			if counts(m) {
				found.Add(a.Finding(m))
			}
		}
	}
	shown := slices.ContainsFunc(before.Rows(), func(r paging.Row) bool { return r.Value[field] != nil })
	byFlag := func(m oracle.Mismatch) bool { return string(m.Requirement) == skips.Pair.Requirement }
	byDefault := func(m oracle.Mismatch) bool { return string(m.Requirement) == keeps.Pair.Requirement }
	if shown {
		add(skipped, func(m oracle.Mismatch) bool {
			return m.Missing != "" || byFlag(m) || m.Actual == "absent" || m.Actual == "null" // a row, the part, or another field
		})
		add(both, byFlag)
		skips.Judge(found)
	} else {
		skips.Missing("a report that shows %s without the flag", field)
	}
	found = Verdict{Assessed: 1}
	add(kept, func(m oracle.Mismatch) bool { return m.Missing != "" || byDefault(m) })
	add(alone, byDefault)
	switch {
	case n == 0:
		keeps.Missing("a report that shows %s", field)
		return
	case !shown && len(found.Findings) == 0:
		found.Add(Found(before.At(0), PointerIn(0)+"/"+field, "shown by some report, since the request leaves nothing out", fmt.Sprintf("absent or null in each of %d reports", n)))
	}
	keeps.Judge(found)
}
