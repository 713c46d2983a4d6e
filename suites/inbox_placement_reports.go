package suites

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// inboxPlacementReports judges listing blacklist and spam-filter reports.
func inboxPlacementReports() {
	Describe(spec.ListPlacementReports, func() {
		for _, part := range reportParts {
			It("leaves out "+part.field+" on demand only", Requires(part.skips, part.keeps), func(api *API) { api.expectSkipping(part) })
		}

		documentedShape(readEachWay)
	})
}

var reportFilters = []filter{
	exactly(spec.FilterTestMissing, spec.FilterTestExtra, profile.ParamTest, "test_id"),
	windowStart(),
	windowEnd(),
}

// reportPart is a part of a report that a flag leaves out.
type reportPart struct {
	meaning, field string
	skips, keeps   spec.ID
}

var reportParts = []reportPart{
	{profile.ParamSkipSpamAssassin, "spam_assassin_report", spec.FilterSkipSpamAssassinTrue, spec.FilterSkipSpamAssassinDefault},
	{profile.ParamSkipBlacklist, "blacklist_report", spec.FilterSkipBlacklistTrue, spec.FilterSkipBlacklistDefault},
}

// expectSkipping walks the list without the flag, with true, with false, and
// without it again.
func (api *API) expectSkipping(part reportPart) {
	list := api.Request()
	name := api.Parameter(list.Operation.ID, part.meaning)
	before := api.ReadAll(list)
	skipped := api.ReadAll(list.WithQuery(name, "true"))
	kept := api.ReadAll(list.WithQuery(name, "false"))
	after := api.ReadAll(list)

	if slices.ContainsFunc(before.Rows(), func(r paging.Row) bool { return r.Value[part.field] != nil }) {
		api.For(part.skips).Expect(skipped).To(ShowTheRows(missingBetween(before, skipped, after)))
		api.For(part.skips).Expect(skipped).To(LeaveOutOnly(part.field, before, after))
	} else {
		api.For(part.skips).NotAssessed("a report that shows %s without the flag", part.field)
	}
	if gone := missingBetween(before, kept, after); len(gone) > 0 {
		api.For(part.keeps).Expect(kept).To(ShowTheRows(gone))
	}
	api.For(part.keeps).Expect(before).To(ShowPartAsIn(kept, part.field))
}

// LeaveOutOnly matches a walk in which every report lacks the part, and nothing
// else that walks before and after show.
func LeaveOutOnly(field string, before, after Walk) types.GomegaMatcher {
	rowsBefore, rowsAfter := before.ByKey(), after.ByKey()
	return onWalk("leave out "+field+" and nothing else", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		for i, page := range w.Pages {
			for j, row := range page.Rows {
				if row.Value[field] != nil {
					found.Findings = append(found.Findings, Finding{w.At(i), pointerIn(j) + "/" + field, "absent or null", shorten(describe(row.Value[field]))})
				}
				for other := range spec.Documented(w.List.Operation.Resource, rowsBefore[row.Key]) {
					if other != field && rowsBefore[row.Key][other] != nil && rowsAfter[row.Key][other] != nil && row.Value[other] == nil {
						found.Findings = append(found.Findings, Finding{w.At(i), pointerIn(j) + "/" + other, "shown, as without the flag", "absent or null"})
					}
				}
			}
		}
		return found
	})
}

// ShowPartAsIn matches a walk without the flag whose reports show the part just
// as in the walk with false.
func ShowPartAsIn(withFalse Walk, field string) types.GomegaMatcher {
	rows := withFalse.ByKey()
	return onWalk("show "+field+" without the flag just as with false", func(w Walk) Verdict {
		var found Verdict
		for i, page := range w.Pages {
			for j, row := range page.Rows {
				other, ok := rows[row.Key]
				if !ok || other[field] == nil && row.Value[field] == nil {
					continue
				}
				found.Assessed++
				if (row.Value[field] == nil) != (other[field] == nil) {
					found.Findings = append(found.Findings, Finding{w.At(i), pointerIn(j) + "/" + field, "shown without the flag just as with false",
						fmt.Sprintf("without: %t, with false: %t", row.Value[field] != nil, other[field] != nil)})
				}
			}
		}
		if found.Assessed == 0 {
			found.Missing = "a report that shows " + field
		}
		return found
	})
}

// windowStart and windowEnd cut the time window at times of rows. The other end
// lies far outside. Rows at the very end are not judged.
func windowStart() filter {
	const missing, extra = spec.FilterWindowStartMissing, spec.FilterWindowStartExtra
	return windows("starts a time window", []spec.ID{missing, extra}, func(cut time.Time) (start, end time.Time) { return cut, farFuture }, func(row, cut time.Time) (spec.ID, bool) {
		switch {
		case row.Before(cut):
			return extra, false
		case row.After(cut):
			return missing, true
		}
		return "", false
	})
}

func windowEnd() filter {
	const missing, extra = spec.FilterWindowEndMissing, spec.FilterWindowEndExtra
	return windows("ends a time window", []spec.ID{missing, extra}, func(cut time.Time) (start, end time.Time) { return farPast, cut }, func(row, cut time.Time) (spec.ID, bool) {
		switch {
		case row.After(cut):
			return extra, false
		case row.Before(cut):
			return missing, true
		}
		return "", false
	})
}

var (
	farPast   = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// timestamp renders a time as the specification does.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func windows(title string, requirements []spec.ID, window func(cut time.Time) (start, end time.Time), says func(row, cut time.Time) (spec.ID, bool)) filter {
	return filter{title, requirements, func(rows []map[string]any) []probe {
		var probes []probe
		for _, text := range spread(distinctAll(rows, "timestamp_created")) {
			cut, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				continue
			}
			start, end := window(cut)
			query := map[string]string{profile.ParamWindowStart: timestamp(start), profile.ParamWindowEnd: timestamp(end)}
			probes = append(probes, probe{query, func(row map[string]any) (spec.ID, bool) {
				created, err := time.Parse(time.RFC3339Nano, scalar(row["timestamp_created"]))
				if err != nil {
					return "", false
				}
				return says(created, cut)
			}})
		}
		return probes
	}}
}
