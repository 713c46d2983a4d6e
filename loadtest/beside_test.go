package loadtest_test

import (
	"context"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// beside is how often a run and two loads are set upon one server.
var beside = flag.Int("beside", 1, "how often runs and loads are set upon one server together")

// ownServer is a reference server that others use at the same time, and forgets
// what was done to it with the test.
func ownServer(t *testing.T) *target.Target {
	t.Helper()
	server, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
	return server
}

// known is the server as its users know it: by the address, and with a profile
// of their own that lists no tests.
func known(t *testing.T, server *target.Target, profile *profile.Profile) *target.Target {
	t.Helper()
	at, err := target.URL(profile, server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// changing is a mixture that moves accounts, deletes subsequences, and reads and
// deletes tests that come and go, and one that uses up the limited key.
func changing(t *testing.T, lasts time.Duration) []scenario.Scenario {
	t.Helper()
	all := slices.DeleteFunc(scenario.Builtin(), func(s scenario.Scenario) bool { return s.Name != "mixed" && s.Kind != scenario.RateLimit })
	for i := range all {
		if s := &all[i]; s.Kind == scenario.RateLimit {
			s.Duration, s.Budget = 3*time.Second, 500
		} else {
			s.Rate, s.Duration, s.Warmup, s.Thresholds = 100, lasts, 0, []string{"errors=0"}
			s.Mix[spec.MoveAccounts], s.Mix[spec.DeleteSubsequence] = 10, 2
		}
	}
	return all
}

// A run and two loads that use the same rows of one server at the same time do
// not fail it for what the others do, and leave nothing behind.
func TestLoadBesideOthers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*beside) {
		server := ownServer(t)
		loads := make([]loadtest.Outcome, 2)
		var run reports.Results
		var all sync.WaitGroup
		for i := range loads {
			all.Go(func() {
				at, dir := known(t, server, asksForTests()), t.TempDir()
				var err error
				if loads[i], err = loadtest.Run(t.Context(), loadtest.Config{Target: at, Calibrate: calibrated, Scenarios: changing(t, 2*time.Second), JournalDir: dir,
					Seed: 2*seed + uint64(i) + 1, Terms: verdict.Terms{LagLimit: time.Hour}}); err != nil {
					t.Error(err)
				}
				if _, err := sandbox.Cleanup(t.Context(), testbed.Client(t, at), at.Profile, dir, nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			var err error
			if run, err = runner.Run(t.Context(), runner.Config{Target: known(t, server, profile.Embedded()), Seed: seed + 1, JournalDir: t.TempDir()}); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		for i, o := range loads {
			for _, s := range o.Results.Scenarios {
				// A busy machine may not reach the limit of the key, which proves nothing.
				if s.Verdict != reports.Passed && (s.Name == "mixed" || s.Verdict == reports.Failed) {
					t.Errorf("load %d of seed %d: %s: %s %q", i, seed, s.Name, s.Verdict, s.Reasons)
				}
				t.Logf("load %d of seed %d: %s: %s %q %q", i, seed, s.Name, s.Verdict, s.Missing, s.Notes)
			}
		}
		if run.Verdict != reports.Passed {
			t.Errorf("run of seed %d: %s %q %v", seed, run.Verdict, run.Reasons, run.Troubles)
			for _, c := range run.Checks {
				if c.Outcome == reports.Fail {
					t.Errorf("%s on %s: %+v", c.Requirement, c.Operation, c.Violations)
				}
			}
		}
		var page struct {
			Items []struct{ Name string }
		}
		key, _ := server.Profile.FullKey(dataset.Main)
		testbed.Get(t, server.BaseURL+"/api/v2/inbox-placement-tests?search=conformance&limit=100", key.Token, &page)
		if len(page.Items) > 0 {
			t.Errorf("seed %d: left behind: %v", seed, page.Items)
		}
	}
}
