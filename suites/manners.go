package suites

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

// What a run may do to a target, asked before each request, and what it writes
// down before it does it.

// Spent counts requests into the budget that went out before the specs.
func (e *Env) Spent(requests int) { e.sent.Add(int64(requests)) }

// permit ends the spec if the profile does not allow the call.
func (c *check) permit(k call) {
	if c.Budget > 0 && c.sent.Add(1) > int64(c.Budget) {
		c.lack("requests: the budget of %d is used up", c.Budget)
	}
	if !k.op.Unsafe() {
		return
	}
	switch c.Profile.Writes {
	case profile.WritesNone:
		c.lack("permission to change anything (writes: none)")
	case profile.WritesOwn:
		if id, ok := c.foreign(k); ok {
			c.lack("permission to change what the run did not create (writes: own; %s names %s)", k.op.ID, id)
		}
	}
}

// foreign returns an id in the call that names something that the run neither
// created nor made up. What is no UUID names nothing.
func (c *check) foreign(k call) (string, bool) {
	named := []any{k.id}
	if k.op.ID != spec.CreatePlacementTest { // which refers to others but changes none
		body := k.object()
		for _, field := range []string{"id", "subsequence_id", "source_workspace_id", "destination_workspace_id"} {
			named = append(named, body[field])
		}
	}
	for _, value := range named {
		id, _ := value.(string)
		if _, err := uuid.Parse(id); err == nil && !c.mine.has(id) {
			return id, true
		}
	}
	return "", false
}

// announce enters a call that will change something into the journal.
func (c *check) announce(k call) (entry int) {
	if c.Journal == nil {
		return 0
	}
	switch k.op.ID {
	case spec.CreatePlacementTest:
		name, _ := k.object()["name"].(string)
		return c.enter(journal.Entry{Do: journal.Create, Name: name, Key: k.key.Name, Home: k.owner})
	case spec.MoveAccounts:
		c.announceMove(k)
	}
	return 0
}

func (c *check) enter(e journal.Entry) int {
	entry, err := c.Journal.Open(e)
	if err != nil {
		c.trouble(fmt.Sprintf("nothing is changed that cannot be written down first: %v", err))
		panic(abandoned{})
	}
	return entry
}

// announceMove enters each of the profile's accounts that leaves its home.
func (c *check) announceMove(k call) {
	body := k.object()
	away, _ := body["destination_workspace_id"].(string)
	emails, _ := body["emails"].([]string)
	c.accounts.mu.Lock()
	defer c.accounts.mu.Unlock()
	for _, email := range emails {
		home, ok := c.homeOf(email)
		if _, entered := c.accounts.seq[email]; !ok || entered || away == home.ID {
			continue
		}
		if c.accounts.seq == nil {
			c.accounts.seq = map[string]int{}
		}
		c.accounts.seq[email] = c.enter(journal.Entry{Do: journal.Move, Email: email, Home: home.ID, Away: away, Key: dataset.Admin})
	}
}

// claimMoved claims the profile's accounts that the call moves for this run.
func (c *check) claimMoved(k call) {
	if k.op.ID != spec.MoveAccounts {
		return
	}
	emails, _ := k.object()["emails"].([]string)
	for _, email := range emails {
		if _, ok := c.homeOf(email); ok {
			c.claimRows()
			return
		}
	}
}

// homeOf returns the workspace to which the profile says the account belongs.
func (c *check) homeOf(email string) (profile.Workspace, bool) {
	for _, w := range c.Profile.Workspaces {
		if slices.Contains(w.Accounts, email) {
			return w, true
		}
	}
	return profile.Workspace{}, false
}

// noteMade writes down the id of a test that was created, unless the target has
// put a key there, which no file may hold: the test's name will do.
func (c *check) noteMade(entry int, id string) {
	if c.Journal == nil || entry == 0 || c.Client.Redact(id) != id {
		return
	}
	if err := c.Journal.Made(entry, id); err != nil {
		c.trouble(err.Error())
	}
}

// noteUndone writes down that the change is gone, or never was.
func (c *check) noteUndone(entry int) {
	if err := c.undone(entry); err != nil {
		c.trouble(err.Error())
	}
}

// undone closes the journal's entry, if there is one.
func (e *Env) undone(entry int) error {
	if e.Journal == nil || entry == 0 {
		return nil
	}
	return e.Journal.Close(entry)
}

// noteHome writes down that an account is where it belongs. The caller holds accounts.mu.
func (c *check) noteHome(email string) {
	c.noteUndone(c.accounts.seq[email])
	delete(c.accounts.seq, email)
}
