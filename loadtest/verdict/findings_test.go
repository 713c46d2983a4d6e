package verdict

import (
	"strings"
	"testing"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// What one shard has seen of a list the whole has seen.
func TestEmptyListsOfShards(t *testing.T) {
	shared := func(empty ...[]string) Outcome {
		var shares []Share
		for i, of := range empty {
			rec := made(1000, map[int]int{200: 1000})
			rec.Shard = measure.Shard{Index: i, Of: len(empty)}
			share := shareOf(rec)
			share.Empty = of
			shares = append(shares, share)
		}
		return judgedOf(t, nil, shares...)
	}
	lists := []string{spec.ListLeadLists}
	if o := shared(lists, lists); o.Verdict != reports.Inconclusive || !strings.HasPrefix(o.Reasons[0], "no checked answer has rows") {
		t.Errorf("all saw none: %s %q", o.Verdict, o.Reasons)
	}
	if o := shared(lists, nil); o.Verdict != reports.Passed {
		t.Errorf("one saw some: %s %q", o.Verdict, o.Reasons)
	}
}

// What no shard could judge, the whole has not judged either.
func TestUninspectedAnswersOfShards(t *testing.T) {
	for name, tc := range map[string]struct {
		unread, checked int64 // of 1,000 answers of each shard
		says            string
	}{
		"all were judged": {0, 1000, ""},
		"a few were not":  {10, 990, ""},
		"most were not":   {900, 100, "1800 of 2000 answers could not be checked: 1800 were compressed"},
		"none was":        {1000, 0, "none of 2000 answers could be checked: 2000 were compressed"},
	} {
		var shares []Share
		for i := range 2 {
			rec := made(1000, map[int]int{200: 1000})
			rec.Shard = measure.Shard{Index: i, Of: 2}
			share := shareOf(rec)
			share.Unread = inspect.Unread{Compressed: tc.unread}
			share.Coverage = &load.Coverage{Answers: 1000, Checked: tc.checked, LeftOut: tc.unread}
			shares = append(shares, share)
		}
		o := judgedOf(t, nil, shares...)
		if said := strings.Join(o.Reasons, "\n"); (o.Verdict == reports.Inconclusive) != (tc.says != "") || !strings.HasPrefix(said, tc.says) {
			t.Errorf("%s: %s %q, want %q", name, o.Verdict, said, tc.says)
		}
	}
}
