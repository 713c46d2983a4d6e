package suites

import (
	"testing"

	"outreach.example/conformance/spec"
)

func TestRowsInWords(t *testing.T) {
	for resource, want := range map[string]string{
		"InboxPlacementTest": "an inbox placement test", "DFYEmailAccountOrder": "a DFY email account order", "Lead": "a lead",
		"WorkspaceGroupMember": "a workspace group member",
	} {
		if got := inWords(resource); got != want {
			t.Errorf("%s: %q instead of %q", resource, got, want)
		}
	}
	for requirement, want := range map[string]string{
		"SHAPE-INBOX_PLACEMENT_TEST-TAGS.ITEM-TYPE":            "an inbox placement test with at least one item in tags, or the entry workspaces.main.tags (or a row of custom-tag-mappings.list)",
		"SHAPE-INBOX_PLACEMENT_TEST-SCHEDULE.TIMEZONE-VALUE":   "an inbox placement test with a value in schedule.timezone",
		"SHAPE-INBOX_PLACEMENT_TEST-SCHEDULE.DAYS.ENTRY-VALUE": "an inbox placement test with at least one entry in schedule.days",
		"SHAPE-INBOX_PLACEMENT_TEST-A.ITEM.B.ITEM.C.ITEM-TYPE": "an inbox placement test with at least one item in a[].b[].c",
	} {
		if got := rowWith(spec.MustOperation(spec.ListPlacementTests), requirement); got != want {
			t.Errorf("%s:\n%q instead of\n%q", requirement, got, want)
		}
	}
	const camel = "a lead with a value in status_summary_subseq.timestampExecuted"
	if got := rowWith(spec.MustOperation(spec.MoveLead), "SHAPE-LEAD-STATUS_SUMMARY_SUBSEQ.TIMESTAMPEXECUTED-VALUE"); got != camel {
		t.Errorf("%q instead of %q", got, camel)
	}
}
