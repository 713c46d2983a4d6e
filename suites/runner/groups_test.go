package runner

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Workspaces of one group may show the same group members. Those of 2 groups may not.
func TestWorkspacesOfOneGroupShareItsMembers(t *testing.T) {
	const shared = "ISOLATION-LIST on " + spec.ListGroupMembers
	for _, tc := range []struct {
		name   string
		second profile.Workspace // in the profile
		id     string            // role whose id the second workspace has
		failed []string
	}{
		{name: "one group", second: profile.Workspace{Admin: dataset.Admin}, id: dataset.Second},
		{name: "2 groups", second: profile.Workspace{Admin: dataset.OutsiderAdmin}, id: dataset.Second, failed: []string{shared}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g, server := NewWithT(t), embedded(t)
			described := profile.Embedded()
			admin, _ := described.FullKey(dataset.Admin)
			grouped := described.Workspaces[dataset.Main]
			grouped.Admin = dataset.Admin
			described.Workspaces[dataset.Main] = grouped
			tc.second.ID = described.Workspaces[tc.id].ID
			described.Workspaces[dataset.Second] = tc.second
			group := spec.MustOperation(spec.ListGroupMembers).Path
			way := roundTripper(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, group) {
					for _, role := range []string{dataset.Main, dataset.Second} {
						if key, _ := described.FullKey(role); r.Header.Get("Authorization") == "Bearer "+key.Token {
							r = r.Clone(r.Context())
							r.Header.Set("Authorization", "Bearer "+admin.Token)
						}
					}
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			results := judged(t, t.Context(), Config{Target: &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, Profile: described},
				Transport: way, Selection: Selection{Operations: []string{spec.ListGroupMembers}, Requirements: []string{"ISOLATION-LIST"}}})
			g.Expect(of(results, reports.Fail)).To(ConsistOf(tc.failed))
			g.Expect(append(of(results, reports.Pass), of(results, reports.Fail)...)).To(ContainElement(shared))
		})
	}
}
