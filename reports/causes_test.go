package reports_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// failed returns a failed check of the catalogue's requirement.
func failed(requirement, operation, expected, actual string) reports.Check {
	r, ok := spec.FindRequirement(requirement)
	if !ok {
		panic(requirement)
	}
	return reports.Check{Requirement: requirement, Operation: operation, Group: string(r.Group), Level: string(r.Level), Outcome: reports.Fail,
		Violations: []reports.Violation{{Expected: expected, Actual: actual}}, ViolationCount: 1}
}

func TestCauses(t *testing.T) {
	const (
		timestamp = "an ISO 8601 UTC timestamp with milliseconds"
		accepted  = "a refusal (4xx), neither served nor a server error"
	)
	cases := map[string]struct {
		checks []reports.Check
		want   [][]string // requirements of each cause
	}{
		"nothing failed": {[]reports.Check{{Requirement: "SERVED", Outcome: reports.Pass}}, nil},
		"one form of timestamp everywhere": {[]reports.Check{
			failed("SHAPE-LEAD-TIMESTAMP_CREATED-VALUE", spec.MoveLead, timestamp, `"2026-01-05T04:00:00Z"`),
			failed("SHAPE-CAMPAIGN-TIMESTAMP_UPDATED-VALUE", spec.AddCampaignVariables, timestamp, `"2025-11-30T23:59:07Z"`),
			failed("SHAPE-LEAD_LABEL-TIMESTAMP_CREATED-VALUE", spec.ListLeadLabels, timestamp, `1767585600`),
		}, [][]string{{"SHAPE-LEAD-TIMESTAMP_CREATED-VALUE", "SHAPE-CAMPAIGN-TIMESTAMP_UPDATED-VALUE"}, {"SHAPE-LEAD_LABEL-TIMESTAMP_CREATED-VALUE"}}},
		"two fields": {[]reports.Check{
			failed("SHAPE-LEAD-STATUS-TYPE", spec.MoveLead, "an integer", "null"),
			failed("SHAPE-CAMPAIGN-NAME-TYPE", spec.AddCampaignVariables, "a string", "null"),
		}, [][]string{{"SHAPE-LEAD-STATUS-TYPE"}, {"SHAPE-CAMPAIGN-NAME-TYPE"}}},
		"no validation": {[]reports.Check{
			failed("REQUEST-JSON", spec.CreatePlacementTest, accepted, `200 {"id":"1"}`),
			failed("REQUEST-INVALID-NAME", spec.CreatePlacementTest, accepted, `200 {"id":"2"}`),
			failed("REQUEST-INVALID-ID", spec.MoveLead, accepted, `200 {"id":"2"}`),
			failed("REQUEST-OBJECT", spec.CreatePlacementTest, accepted, `500 oops`),
		}, [][]string{{"REQUEST-JSON", "REQUEST-INVALID-NAME"}, {"REQUEST-INVALID-ID"}, {"REQUEST-OBJECT"}}},
		"the most basic first, then the most common": {[]reports.Check{
			failed("SORT-DESC", spec.ListPlacementTests, "a", "b"),
			failed("PAGE-ORDER", spec.ListLeadLists, "a", "b"),
			failed("PAGE-ORDER", spec.ListLeadLabels, "a", "b"),
			failed("STATUS-200", spec.ListLeadLabels, "200", "500 oops"),
			failed("SERVED", spec.MoveLead, "a status", "404"),
			failed("SERVED", spec.MoveAccounts, "a status", "405"),
			failed("SCOPE-EXACT", spec.ListLeadLabels, "200", "403 no"),
		}, [][]string{{"SCOPE-EXACT"}, {"SERVED"}, {"STATUS-200"}, {"PAGE-ORDER"}, {"SORT-DESC"}}},
		"without a violation": {[]reports.Check{{Requirement: "A", Operation: "b", Outcome: reports.Fail}}, [][]string{{"A"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got [][]string
			for _, cause := range reports.Causes(tc.checks) {
				var ids []string
				for _, group := range cause.Requirements() {
					ids = append(ids, group[0].Requirement)
				}
				got = append(got, ids)
			}
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}
