package runner

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// The line of a failure sends what led to it: without that, it would not show the failure.
func TestLinesSendWhatLedToTheFailure(t *testing.T) {
	t.Parallel()
	const move = `-X POST -H "Authorization: Bearer $OUTREACH_KEY_LIMITED" -H 'Content-Type: application/json' --data-raw '{"destination_workspace_id"`
	for _, test := range []struct {
		breaks spec.Pair
		sends  []string // in this order
	}{
		{spec.StateDeleteList.On(spec.DeletePlacementTest), []string{"id=$(curl -sS -X POST", "-X DELETE", "/inbox-placement-tests/$id", "/inbox-placement-tests?limit="}},
		{spec.RateNoEffect.On(spec.MoveAccounts), []string{move, move, "*429*) break;; esac; done; curl -i " + move, "; sleep 120; curl -i " + move}},
	} {
		t.Run(test.breaks.Requirement, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: defective(t, test.breaks), JournalDir: t.TempDir(),
				Selection: Selection{Requirements: []string{test.breaks.Requirement}, Operations: []string{test.breaks.Operation}}})
			at := slices.IndexFunc(results.Checks, func(c reports.Check) bool { return c.Outcome == reports.Fail })
			g.Expect(at).NotTo(Equal(-1), "the defect was not seen")
			line := results.Checks[at].Violations[0].Curl
			rest := line
			for _, part := range test.sends {
				_, after, found := strings.Cut(rest, part)
				g.Expect(found).To(BeTrue(), "%s\nlacks %q", line, part)
				rest = after
			}
		})
	}
}
