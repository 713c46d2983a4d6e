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
	for field, want := range map[string]string{
		"INBOX_PLACEMENT_TEST-TAGS.ITEM-TYPE":             "an inbox placement test with at least one item in tags, or the entry workspaces.main.tags (or a row of custom-tag-mappings.list)",
		"INBOX_PLACEMENT_TEST-SCHEDULE.TIMEZONE-VALUE":    "an inbox placement test with a value in schedule.timezone",
		"INBOX_PLACEMENT_TEST-SCHEDULE.DAYS.ENTRY-VALUE":  "an inbox placement test with at least one entry in schedule.days",
		"INBOX_PLACEMENT_TEST-A.ITEM.B.ITEM.C.ITEM-VALUE": "an inbox placement test with at least one item in a[].b[].c",
	} {
		if got := rowWith(spec.MustOperation(spec.ListPlacementTests), field); got != want {
			t.Errorf("%s:\n%q instead of\n%q", field, got, want)
		}
	}
}
