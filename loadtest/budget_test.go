package loadtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// shortened are the scenarios of the program that send more than phases, each of
// a second or so.
func shortened(t *testing.T) []scenario.Scenario {
	t.Helper()
	all := slices.DeleteFunc(scenario.Builtin(), func(s scenario.Scenario) bool {
		return slices.Contains([]string{"list-throughput", "spike", "soak"}, s.Name)
	})
	for i := range all {
		s := &all[i]
		s.Duration, s.Thresholds = time.Second, nil
		switch s.Kind {
		case scenario.Sustained:
			s.Duration, s.Confirm, s.MaxRate, s.Thresholds = 200*time.Millisecond, 200*time.Millisecond, 500, []string{"errors<50%"}
		case scenario.RateLimit:
			s.Duration, s.Budget = 3*time.Second, 500
		case scenario.Walk:
			s.Clients = 4
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// asksForTests is a profile that lists no tests, so that they are looked up.
func asksForTests() *profile.Profile {
	p := profile.Embedded()
	main := p.Workspaces[dataset.Main]
	main.PlacementTests = nil
	p.Workspaces[dataset.Main] = main
	return p
}

// Every request counts, whatever it is for: the server's own record says so.
func TestTheBudgetCountsAllThatIsSent(t *testing.T) {
	t.Parallel()
	// A server for each run: what one has changed the next would wait for.
	outcome := func(t *testing.T, budget int, s scenario.Scenario) (load.Results, int64) {
		t.Helper()
		server := served(t, "", "")
		server.Profile = asksForTests()
		server.Profile.Load = &profile.LoadUse{Budget: budget}
		o, err := loadtest.Run(t.Context(), loadtest.Config{Target: server, Calibrate: calibrated, Scenarios: []scenario.Scenario{s}, ByName: true, JournalDir: t.TempDir(), Seed: 1, Terms: verdict.Terms{LagLimit: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		return o.Results, truthOf(t, server).Total
	}
	for _, s := range shortened(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			whole, came := outcome(t, 0, s)
			uses := whole.Scenarios[0].Requests
			if uses == nil || came != uses.Total {
				t.Fatalf("the server counted %d requests, the results say %+v", came, uses)
			}
			budget := int(came) / 2
			switch s.Kind {
			case scenario.Walk:
				s.Duration = time.Hour // it goes as fast as the machine can, which the budget alone must end
			case scenario.Sustained:
				budget = 60 // how much more a search sends depends on what the machine can do
			}
			bounded, came := outcome(t, budget, s)
			if came > int64(budget) {
				t.Errorf("the server counted %d requests of at most %d", came, budget)
			}
			if s.Kind == scenario.RateLimit {
				return // which probes with what it may
			}
			if reasons := strings.Join(bounded.Scenarios[0].Reasons, "\n"); bounded.Verdict != reports.Inconclusive || !strings.Contains(reasons, "(load.budget)") {
				t.Errorf("%s: %s", bounded.Verdict, reasons)
			}
		})
	}
}

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
