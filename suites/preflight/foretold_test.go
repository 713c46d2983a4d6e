package preflight_test

import (
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/preflight"
	"outreach.example/conformance/suites/runner"
)

// What the rehearsal foretells is what a run then assesses: here with the least
// profile, which `target init` writes from one key.
func TestTheRehearsalForetellsTheRun(t *testing.T) {
	server, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(t.Context()); err != nil {
			t.Log(err) // the test's context has ended
		}
	})
	whole := server.Profile
	main := whole.Workspaces[dataset.Main]
	profile := &profile.Profile{Name: "least", BaseURL: server.BaseURL, Keys: whole.Keys[:1], Pace: whole.Pace, Writes: profile.WritesOwn,
		Parameters: whole.Parameters, Workspaces: map[string]profile.Workspace{dataset.Main: {ID: main.ID, Campaigns: main.Campaigns}}}
	foretold, err := preflight.Assessable(t.Context(), profile, runner.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := target.URL(profile, "")
	if err != nil {
		t.Fatal(err)
	}
	results, err := runner.Run(t.Context(), runner.Config{Target: at, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	assessed := map[spec.Group]int{}
	for _, c := range results.Checks {
		if c.Outcome == reports.Pass {
			assessed[spec.Group(c.Group)]++
		}
	}
	for _, group := range foretold {
		if group.Assessable != assessed[group.Group] {
			t.Errorf("%s: %d of %d were foretold, %d were assessed", group.Group, group.Assessable, group.Pairs, assessed[group.Group])
		}
	}
}
