package api

import (
	"maps"
	"slices"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// ChangesByItself are fields that a server may change by itself, also while it deletes.
var ChangesByItself = []string{"status", "not_sending_status", "timestamp_next_run", "timestamp_leads_updated"}

// ChangesAtItsEnd are fields that the response to a deletion may show otherwise than an earlier
// view: a server may determine the recipients of a test after its creation.
var ChangesAtItsEnd = append([]string{"recipients"}, ChangesByItself...)

// AgreeWithRow matches a response whose resource agrees with another view of it,
// field by field, apart from the fields that may change meanwhile. Undocumented fields
// may differ.
func AgreeWithRow(row map[string]any, mayChange ...string) types.GomegaMatcher {
	return &expectation[Response]{Words: "show the resource as the list does", Judge: func(r Response) Verdict {
		found := Verdict{Assessed: 1}
		resource := r.Call.Operation.Resource
		answered := spec.Documented(resource, r.Row())
		expected := spec.Documented(resource, row)
		for _, field := range slices.Sorted(maps.Keys(expected)) {
			if shown, ok := answered[field]; ok && !slices.Contains(mayChange, field) {
				one := JudgeValue(r, "/"+field, asSet(field, shown), agreeWith(asSet(field, expected[field])))
				found.Assessed += one.Assessed
				found.Add(one.Findings...)
			}
		}
		return found
	}}
}

// Fits reports whether the matcher accepts the value.
func Fits(matcher types.GomegaMatcher, value any) bool {
	ok, err := matcher.Match(value)
	return ok && err == nil
}

// ShowField matches a walk that shows the test, and a fitting member of it.
func ShowField(id, field string, value types.GomegaMatcher) types.GomegaMatcher {
	return onWalk("list the created test with a fitting "+field, func(w Walk) Verdict {
		for p, page := range w.Pages {
			for i, row := range page.Rows {
				if row.Key == paging.FoldID(id) {
					return judgeMember(w.At(p), PointerIn(i), row.Value, field, value)
				}
			}
		}
		return Verdict{Assessed: 1, Findings: []Finding{Found(w.Last(), "/items", "the test "+id+" that was created", "no page of the walk shows it")}}
	})
}
