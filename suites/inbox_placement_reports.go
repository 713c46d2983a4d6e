package suites

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"

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

// expectSkipping reads the list without the flag, with true, with false, with false beside
// the other flag, and without it again.
func expectSkipping(api *API, part spec.Filter) {
	list, field, skips, keeps := api.Request(), part.Fields[0], api.For(part.Requirement("TRUE")), api.For(part.Requirement("DEFAULT"))
	name := api.Parameter(list.Operation.ID, part.Key)
	together := list
	for _, other := range oracle.Parts(list.Operation.ID) {
		together = together.WithQuery(api.Parameter(list.Operation.ID, other.Key), "true")
	}
	before := api.Read(list)
	skipped := api.Read(list.WithQuery(name, "true"))
	kept := api.Read(list.WithQuery(name, "false"))
	alone := api.Read(together.WithQuery(name, "false"))
	both := api.Walk(together, PagesOf(max(1, len(before.Rows())/3))) // beyond the first page, too
	after := api.Read(list)

	if slices.ContainsFunc(before.Rows(), func(r paging.Row) bool { return r.Value[field] != nil }) {
		skips.Expect(skipped).To(ShowTheRows(MissingBetween(api, before, skipped, after)))
		skips.Judge(leftOutOnly(field, skipped, before, after))
		skips.Judge(leftOutOnly(field, both, Walk{}, Walk{}))
	} else {
		skips.Missing("a report that shows %s without the flag", field)
	}
	if gone := MissingBetween(api, before, kept, after); len(gone) > 0 {
		keeps.Expect(kept).To(ShowTheRows(gone))
	}
	keeps.Judge(shownAlike(field, before, kept))
	keeps.Judge(shownAlike(field, before, alone))
}

// leftOutOnly judges that each report lacks the part, and nothing else that walks before and
// after show: empty ones do not say what else is left out.
func leftOutOnly(field string, skipped, before, after Walk) Verdict {
	rowsBefore, rowsAfter := before.ByKey(), after.ByKey()
	found := Verdict{Assessed: 1}
	for p, page := range skipped.Pages {
		for i, row := range page.Rows {
			if row.Value[field] != nil {
				found.Add(Found(skipped.At(p), PointerIn(i)+"/"+field, "absent or null", Shorten(Readable(row.Value[field]))))
			}
			earlier, later := rowsBefore[row.Key], rowsAfter[row.Key]
			for other := range spec.Documented(skipped.List.Operation.Resource, earlier) {
				if other != field && earlier[other] != nil && later[other] != nil && row.Value[other] == nil {
					found.Add(Found(skipped.At(p), PointerIn(i)+"/"+other, "shown, as without the flag", schemas.Member(row.Value, other, Readable)))
				}
			}
		}
	}
	return found
}

// shownAlike judges that the reports without the flag show the part just as with false. Some
// report must show it.
func shownAlike(field string, without, withFalse Walk) (found Verdict) {
	rows := withFalse.ByKey()
	shown := false
	for p, page := range without.Pages {
		for i, row := range page.Rows {
			here, there := row.Value[field] != nil, rows[row.Key][field] != nil
			shown = shown || here
			if rows[row.Key] == nil || !here && !there {
				continue
			}
			found.Assessed++
			if here != there {
				found.Add(Found(without.At(p), PointerIn(i)+"/"+field, "shown without the flag just as with false", fmt.Sprintf("without: %t, with false: %t", here, there)))
			}
		}
	}
	switch n := len(without.Rows()); {
	case found.Assessed > 0:
	case n > 0 && !shown:
		found.Add(Found(without.At(0), PointerIn(0)+"/"+field, "shown by some report, since the request leaves nothing out", fmt.Sprintf("absent or null in each of %d reports", n)))
	default:
		found.Missing = "a report that shows " + field
	}
	return found
}
