package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/refserver"
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
	got(t, truth+"/state", "", &s.State)
	profile := fixtures.Embedded()
	for role := range profile.Workspaces {
		key, ok := profile.FullKey(role)
		if !ok || key.State == fixtures.KeyUnpaid {
			continue
		}
		for _, operation := range []string{spec.ListPlacementTests, spec.ListSubsequences} {
			s.lists[operation+" of "+role] = listed(t, base+spec.MustOperation(operation).Path, key.Token)
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

// listed returns the ids of a whole list.
func listed(t *testing.T, address, token string) (ids []string) {
	t.Helper()
	query := url.Values{"limit": {"100"}}
	for {
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
			Next string `json:"next_starting_after"`
		}
		got(t, address+"?"+query.Encode(), token, &page)
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if page.Next == "" {
			return ids
		}
		query.Set("starting_after", page.Next)
	}
}

// got asks for the address, again while it is too early, and reads the JSON that comes.
func got(t *testing.T, address, token string, into any) {
	t.Helper()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode == http.StatusTooManyRequests {
			_ = answer.Body.Close()
			continue
		}
		err = json.NewDecoder(answer.Body).Decode(into)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %d, %v", address, answer.StatusCode, err)
		}
		return
	}
}
