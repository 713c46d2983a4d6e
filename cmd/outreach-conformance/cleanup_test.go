package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/spec"
)

// Cleanup rolls back all changes of a run that was killed with SIGKILL at any point.
func TestCleanupAfterARunWasKilled_long(t *testing.T) {
	t.Parallel()
	profile := profile.Embedded()
	limited, _ := profile.FullKey(dataset.Limited)
	create, move := spec.MustOperation(spec.CreatePlacementTest), spec.MustOperation(spec.MoveAccounts)
	into := func(role string) func(seen) bool {
		return func(s seen) bool {
			var body struct {
				To string `json:"destination_workspace_id"`
			}
			return s.path == move.Path && json.Unmarshal([]byte(s.body), &body) == nil && body.To == profile.Workspaces[role].ID
		}
	}
	creation := func(s seen) bool { return s.path == create.Path && s.key == limited.Token }
	for _, tc := range []struct {
		name    string
		stop    stop
		args    []string
		server  []string // arguments of the reference server
		changed bool     // the run has certainly changed something
	}{
		{name: "at the first change", stop: stop{nth: 1}},
		{name: "in the middle", stop: stop{nth: 250}},
		{name: "while a test is created", stop: stop{nth: 3, reaches: true, matches: func(s seen) bool { return s.path == create.Path }},
			args: []string{"--operation", spec.GetPlacementTest}, changed: true},
		{name: "while a rate limit is used up", stop: stop{nth: 5, reaches: true, matches: creation},
			args: []string{"--operation", create.ID, "--requirement", "RATE-*"}, server: []string{"--rate-limit", "limited=none"}, changed: true},
		{name: "while an account is away", stop: stop{nth: 1, reaches: true, matches: into(dataset.SubB)}, args: []string{"--operation", move.ID, "--requirement", "ACCOUNTS-MOVED"}, changed: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			base, truth := servingBuilt(t, tc.server...)
			front := newGate(t, base)
			before := stateOf(t, base, truth)

			front.arm(tc.stop)
			c := spawn(t, nil, append([]string{runCommand, "--seed", "1", "--target", front.URL}, tc.args...)...)
			killed(t, front, begunWithout(t, c))
			journals := filepath.Join(c.Dir, defaultOutput, "journal-*.jsonl")
			if tc.stop.nth > 1 {
				g.Expect(filepath.Glob(journals)).To(HaveLen(1))
			}
			if tc.changed {
				g.Expect(stateOf(t, base, truth).withoutLasting()).NotTo(Equal(before.withoutLasting()), "there is something to put back")
			}

			cleaning := spawn(t, nil, "cleanup", "--target", front.URL)
			cleaning.Dir = c.Dir
			e := toTheEnd(t, cleaning)
			g.Expect(e.code).To(BeZero(), "%s", e)
			g.Expect(filepath.Glob(journals)).To(BeEmpty(), "%s", e)
			after := stateOf(t, base, truth)
			g.Expect(after.withoutLasting()).To(Equal(before.withoutLasting()), "%s", e)
			g.Expect(lastingIsListed(before, after)).To(Succeed())
		})
	}
}

// What a profile permits bounds what a run changes, and what stays changed.
func TestRunChangesOnlyWhatItMay_long(t *testing.T) {
	t.Parallel()
	for _, writes := range []string{profile.WritesNone, profile.WritesOwn, profile.WritesListed} {
		t.Run(writes, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			base, truth := servingBuilt(t)
			front, known := newGate(t, base), profile.Embedded()
			known.Writes = writes
			text := must[[]byte](t)(known.YAML(""))
			before := stateOf(t, base, truth)
			exitsWith(t, 0, nil, runCommand, "--target", front.URL, "--target-profile", written(t, "server.yaml", string(text)))
			after := stateOf(t, base, truth)
			g.Expect(lastingIsListed(before, after)).To(Succeed())
			if writes != profile.WritesListed {
				g.Expect(after).To(Equal(before))
			}
			g.Expect(after.withoutLasting()).To(Equal(before.withoutLasting()))
			for _, s := range front.saw() {
				own := s.status != http.StatusOK || strings.HasPrefix(s.path, spec.MustOperation(spec.CreatePlacementTest).Path)
				if s.unsafe() && (writes == profile.WritesNone || writes == profile.WritesOwn && !own) {
					t.Errorf("%s %s", s.method, s.path)
				}
			}
		})
	}
}

// killed waits until the gate stops answering, and then kills the process.
func killed(t *testing.T, front *gate, p *process) {
	t.Helper()
	select {
	case <-front.hasStopped():
	case <-p.done:
		t.Fatalf("it ended before the gate stopped:\n%s", p.output.bytes())
	case <-time.After(patience):
		t.Fatalf("the gate does not stop:\n%s", p.output.bytes())
	}
	p.end(t, syscall.SIGKILL)
	front.open()
}

// lastingIsListed verifies that irreversible changes affect only rows that the profile
// lists.
func lastingIsListed(before, after state) error {
	profile := profile.Embedded()
	listed := profile.Workspaces[dataset.Main]
	// Some lists show too late that a key is over its limit; changes show it.
	campaigns := slices.Concat(listed.Campaigns, profile.Workspaces[dataset.Limited].Campaigns)
	for campaign := range after.CampaignVariables {
		if !slices.Contains(campaigns, campaign) {
			return fmt.Errorf("the campaign %s has variables; the profile does not list it", campaign)
		}
	}
	for _, role := range rolesWithDeletions {
		left := strings.Join(after.lists[spec.ListSubsequences+" of "+role], " ")
		for _, id := range before.lists[spec.ListSubsequences+" of "+role] {
			if !strings.Contains(left, id) && !slices.Contains(profile.Workspaces[role].ExpendableSubsequences, id) {
				return fmt.Errorf("the subsequence %s is gone; the profile does not list it as expendable", id)
			}
		}
	}
	return nil
}

// rolesWithDeletions may lose subsequences to a run. That of the limited key loses one if
// the limit serves a deletion that was sent beyond it.
var rolesWithDeletions = []string{dataset.Main, dataset.Limited}

// state is the part of the reference server that a run may change.
type state struct {
	refserver.State                     // accounts and campaign variables, from the truth port
	lists           map[string][]string // ids of tests and subsequences, by operation and workspace
}

// stateOf reads the state of the reference server.
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

// withoutLasting returns the state without irreversible changes: campaign variables, and
// the subsequences that the profile permits a run to delete.
func (s state) withoutLasting() state {
	s.CampaignVariables = nil
	lasting := s.lists
	s.lists = map[string][]string{}
	for name, ids := range lasting {
		s.lists[name] = slices.Clone(ids)
		for _, role := range rolesWithDeletions {
			if name == spec.ListSubsequences+" of "+role {
				expendable := profile.Embedded().Workspaces[role].ExpendableSubsequences
				s.lists[name] = slices.DeleteFunc(s.lists[name], func(id string) bool { return slices.Contains(expendable, id) })
			}
		}
	}
	return s
}
