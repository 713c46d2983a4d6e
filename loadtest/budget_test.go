package loadtest_test

import (
	"testing"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
)

// Shards have the budget together, and so do two targets.
func TestTheBudgetIsOfTheWholeRun(t *testing.T) {
	t.Parallel()
	server := served(t, "", "")
	config := loadtest.Config{Target: server, Calibrate: calibrated, Scenarios: []scenario.Scenario{reading(100, time.Second)}, ByName: true, JournalDir: t.TempDir(), Seed: 1, Terms: verdict.Terms{LagLimit: time.Hour}}
	for budget, want := range map[int]reports.Verdict{102: reports.Inconclusive, 104: reports.Passed} { // of which 50, the calibration and the question whether the key will do are this shard's
		server.Profile.Load = &profile.LoadUse{Budget: budget}
		config.Shard = measure.Shard{Index: 1, Of: 2}
		if o, err := loadtest.Run(t.Context(), config); err != nil || o.Results.Verdict != want {
			t.Errorf("a shard within %d requests: %s %q, %v", budget, o.Results.Verdict, o.Results.Reasons, err)
		}
	}
	config.Shard, config.Scenarios[0].Duration = measure.Shard{}, 100*time.Millisecond
	server.Profile.Load = &profile.LoadUse{Budget: 35}
	forget(t, server)
	o, err := loadtest.Compare(t.Context(), config, server, 2)
	if err != nil || o.Results.Verdict != reports.Inconclusive || truthOf(t, server).Total > 35 {
		t.Errorf("a comparison: %s %q after %d requests, %v", o.Results.Verdict, o.Results.Reasons, truthOf(t, server).Total, err)
	}
}
