package suites

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
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

// expectSkipping walks the list without the flag, with true, with false, with false beside
// the other flag, and without it again.
func expectSkipping(api *API, part spec.Filter) {
	list, field, skips, keeps := api.Request(), part.Fields[0], part.Requirement("TRUE"), part.Requirement("DEFAULT")
	name := api.Parameter(list.Operation.ID, part.Key)
	before := api.Read(list)
	skipped := api.Read(list.WithQuery(name, "true"))
	kept := api.Read(list.WithQuery(name, "false"))
	together := list
	for _, other := range oracle.Parts(list.Operation.ID) {
		together = together.WithQuery(api.Parameter(list.Operation.ID, other.Key), "true")
	}
	alone := api.Read(together.WithQuery(name, "false"))
	both := api.Walk(together, PagesOf(max(1, len(before.Rows())/3))) // beyond the first page, too
	after := api.Read(list)

	if slices.ContainsFunc(before.Rows(), func(r paging.Row) bool { return r.Value[field] != nil }) {
		api.For(skips).Expect(skipped).To(ShowTheRows(MissingBetween(api, before, skipped, after)))
		api.For(skips).Expect(skipped).To(LeaveOutOnly(field, before, after))
		api.For(skips).Expect(both).To(LeaveOutOnly(field, Walk{}, Walk{}))
	} else {
		api.For(skips).NotAssessed("a report that shows %s without the flag", field)
	}
	if gone := MissingBetween(api, before, kept, after); len(gone) > 0 {
		api.For(keeps).Expect(kept).To(ShowTheRows(gone))
	}
	api.For(keeps).Expect(before).To(ShowPartAsIn(kept, field))
	api.For(keeps).Expect(before).To(ShowPartAsIn(alone, field))
}

// LeaveOutOnly matches a walk in which every report lacks the part, and nothing
// else that walks before and after show: empty ones do not say what else is left out.
func LeaveOutOnly(field string, before, after Walk) types.GomegaMatcher {
	rowsBefore, rowsAfter := before.ByKey(), after.ByKey()
	return OnWalk("leave out "+field+" and nothing else", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		for i, page := range w.Pages {
			for j, row := range page.Rows {
				if row.Value[field] != nil {
					found.Findings = append(found.Findings, Found(w.At(i), PointerIn(j)+"/"+field, "absent or null", Shorten(Readable(row.Value[field]))))
				}
				for other := range spec.Documented(w.List.Operation.Resource, rowsBefore[row.Key]) {
					if other != field && rowsBefore[row.Key][other] != nil && rowsAfter[row.Key][other] != nil && row.Value[other] == nil {
						found.Findings = append(found.Findings, Found(w.At(i), PointerIn(j)+"/"+other, "shown, as without the flag", schemas.Member(row.Value, other, Readable)))
					}
				}
			}
		}
		return found
	})
}

// ShowPartAsIn matches a walk without the flag whose reports show the part just
// as in the walk with false. Some report must show it.
func ShowPartAsIn(withFalse Walk, field string) types.GomegaMatcher {
	rows := withFalse.ByKey()
	return OnWalk("show "+field+" without the flag just as with false", func(w Walk) Verdict {
		var found Verdict
		for i, page := range w.Pages {
			for j, row := range page.Rows {
				other, ok := rows[row.Key]
				if !ok || other[field] == nil && row.Value[field] == nil {
					continue
				}
				found.Assessed++
				if (row.Value[field] == nil) != (other[field] == nil) {
					found.Findings = append(found.Findings, Found(w.At(i), PointerIn(j)+"/"+field, "shown without the flag just as with false",
						fmt.Sprintf("without: %t, with false: %t", row.Value[field] != nil, other[field] != nil)))
				}
			}
		}
		switch rows := w.Rows(); {
		case found.Assessed > 0:
		case len(rows) > 0 && !slices.ContainsFunc(rows, func(r paging.Row) bool { return r.Value[field] != nil }):
			found.Add(Found(w.At(0), PointerIn(0)+"/"+field, "shown by some report, since the request leaves nothing out",
				fmt.Sprintf("absent or null in each of %d reports", len(rows))))
		default:
			found.Missing = "a report that shows " + field
		}
		return found
	})
}
