package preflight

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// What the needs of the specs foretell is what a run then assesses.
func TestTheNeedsForetellTheRun_long(t *testing.T) {
	for _, tc := range []struct {
		name string
		drop func(*profile.Profile)
	}{
		{"the least profile, which target init writes from one key", func(p *profile.Profile) {
			main := p.Workspaces[dataset.Main]
			p.Keys, p.Writes, p.RateLimit = p.Keys[:1], profile.WritesOwn, nil
			p.Workspaces = map[string]profile.Workspace{dataset.Main: {ID: main.ID, Campaigns: main.Campaigns}}
		}},
		{"no second workspace, no revoked key, and no key with few scopes", func(p *profile.Profile) {
			delete(p.Workspaces, dataset.Second)
			p.Keys = slices.DeleteFunc(p.Keys, func(k profile.Key) bool {
				return k.Workspace == dataset.Second || k.State == profile.KeyRevoked || !slices.Contains(k.Scopes, "all:all")
			})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := embedded(t)
			tc.drop(server.Profile)
			server.Profile.BaseURL = server.BaseURL
			foretold, err := Assessable(server.Profile, runner.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			at, err := target.URL(server.Profile, "")
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
		})
	}
}

// A run creates placement tests with the values that the profile gives.
func TestValuesOfTheProfileAreSent(t *testing.T) {
	server := embedded(t)
	main := server.Profile.Workspaces[dataset.Main]
	main.Tags = []string{"01890a5d-ac96-774b-bcce-b302099a0910"}
	main.RecipientsLabels = []profile.Object{{"region": "Europe", "sub_region": "Germany", "type": "Personal", "esp": "given"}}
	main.Automations = []profile.Object{{"condition": "given", "after": []any{1, 2.5}}}
	server.Profile.Workspaces[dataset.Main] = main
	var mu sync.Mutex
	var bodies strings.Builder
	results, err := runner.Run(t.Context(), runner.Config{Target: server, Seed: 1,
		Observe: func(ex client.Exchange) {
			mu.Lock()
			defer mu.Unlock()
			bodies.Write(ex.Request.Body)
		},
		Selection: runner.Selection{Requirements: []string{"STATE-CREATE-TAGS", "STATE-CREATE-RECIPIENTS_LABELS", "STATE-CREATE-AUTOMATIONS"}}})
	if err != nil || results.Verdict != reports.Passed {
		t.Fatal(results.Verdict, results.Reasons, err)
	}
	for _, want := range []string{
		`"tags":["01890a5d-ac96-774b-bcce-b302099a0910"]`,
		`"recipients_labels":[{"esp":"given","region":"Europe","sub_region":"Germany","type":"Personal"}]`,
		`"automations":[{"after":[1,2.5],"condition":"given"}]`,
	} {
		if !strings.Contains(bodies.String(), want) {
			t.Errorf("no request has %s", want)
		}
	}
}
