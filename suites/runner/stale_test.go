package runner

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
)

// A profile may name rows that the target does not have: that is no failure, and the reason
// names the entry.
func TestStaleProfiles(t *testing.T) {
	const gone = "01941f29-7c00-7000-8000-000000000000"
	for _, c := range []struct {
		role, requirement, entry string
		change                   func(*profile.Workspace)
	}{
		{dataset.Second, "ISOLATION-UNTOUCHED", "workspaces.second.subsequences", func(w *profile.Workspace) { w.Subsequences = []string{gone} }},
		{dataset.Second, "ISOLATION-UNTOUCHED", "workspaces.second.placement_tests", func(w *profile.Workspace) { w.PlacementTests = []string{gone} }},
		{dataset.Main, "LEAD-*", "workspaces.main.subsequences", func(w *profile.Workspace) { w.Subsequences = []string{gone} }},
		{dataset.Main, "LEAD-*", "workspaces.main.leads", func(w *profile.Workspace) { w.Leads = []string{gone} }},
		{dataset.Main, "VARIABLES-*", "workspaces.main.campaigns", func(w *profile.Workspace) { w.Campaigns = []string{gone} }},
		{dataset.Main, "STATE-CREATE-CAMPAIGN_ID", "workspaces.main.campaigns", func(w *profile.Workspace) { w.Campaigns = []string{gone} }},
		{dataset.SubA, "ACCOUNTS-MOVED", "accounts of a workspace", func(w *profile.Workspace) { w.Accounts = []string{"gone@x.example"} }},
	} {
		t.Run(c.requirement+" "+c.entry, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			stale := *server.Profile
			stale.Workspaces = maps.Clone(stale.Workspaces)
			w := stale.Workspaces[c.role]
			c.change(&w)
			stale.Workspaces[c.role] = w
			results := judged(t, t.Context(), Config{Target: &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, Profile: &stale},
				Selection: Selection{Requirements: []string{c.requirement}}})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			named := 0
			for _, check := range results.Checks {
				if check.Outcome == reports.NotAssessed && strings.Contains(strings.Join(check.Missing, " "), c.entry) {
					named++
				}
			}
			g.Expect(named).To(BeNumerically(">", 0))
		})
	}
}
