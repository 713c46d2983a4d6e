package main

import (
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/spec"
)

// state is what a run may change on the reference server.
type state struct {
	refserver.State                     // accounts and campaign variables, from the truth port
	lists           map[string][]string // ids of tests and subsequences, by operation and workspace
}

// stateOf asks the reference server for its state.
func stateOf(t *testing.T, base, truth string) state {
	t.Helper()
	s := state{lists: map[string][]string{}}
	testbed.Get(t, truth+"/state", "", &s.State)
	known := profile.Embedded()
	for role := range known.Workspaces {
		key, ok := known.FullKey(role)
		if !ok || key.State == profile.KeyUnpaid {
			continue
		}
		for _, operation := range []string{spec.ListPlacementTests, spec.ListSubsequences} {
			s.lists[operation+" of "+role] = testbed.Listed(t, base+spec.MustOperation(operation).Path, key.Token)
		}
	}
	return s
}

// withoutLasting leaves out what no operation takes back: campaign variables,
// and the subsequences that the profile lets a run delete.
func (s state) withoutLasting() state {
	s.CampaignVariables = nil
	lasting := s.lists
	s.lists = map[string][]string{}
	for name, ids := range lasting {
		if name != spec.ListSubsequences+" of main" {
			s.lists[name] = ids
		}
	}
	return s
}
