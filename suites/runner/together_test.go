package runner

import (
	"sync"
	"testing"

	"outreach.example/conformance/reports"
)

// Two runs that use the same rows of one server at the same time do not fail it
// for what the other one does, and leave nothing behind.
func TestTwoRunsOnOneServer(t *testing.T) {
	t.Parallel()
	for seed := range *runs - 1 {
		server := embedded(t)
		before := tests(t, server)
		var both [2]reports.Results
		var wait sync.WaitGroup
		for i := range both {
			wait.Go(func() {
				both[i] = judged(t, t.Context(), Config{Target: server, Seed: uint64(2*seed + i), JournalDir: t.TempDir()})
			})
		}
		wait.Wait()
		for i, results := range both {
			for _, c := range results.Checks {
				if c.Outcome == reports.Fail || c.Outcome == reports.Error {
					t.Errorf("seed %d: %s on %s: %s, %+v", 2*seed+i, c.Requirement, c.Operation, c.Outcome, c.Violations)
				}
			}
			if len(results.Troubles) > 0 || results.Verdict != reports.Passed {
				t.Errorf("seed %d: %s: %v %v", 2*seed+i, results.Verdict, results.Reasons, results.Troubles)
			}
			t.Logf("seed %d: %d not assessed", 2*seed+i, len(of(results, reports.NotAssessed)))
		}
		if left := tests(t, server); len(left) != len(before) {
			t.Errorf("seed %d: left behind: %q, there were %q", seed, left, before)
		}
	}
}
