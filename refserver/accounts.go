package refserver

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// accountBook knows which sending accounts each workspace has. Addresses are
// compared without regard to case.
type accountBook struct {
	mu sync.Mutex
	of map[string]map[string]bool // workspace id → addresses in lower case
}

func newAccountBook() *accountBook { return &accountBook{of: map[string]map[string]bool{}} }

func (b *accountBook) add(workspace string, emails []string) {
	accounts := map[string]bool{}
	for _, email := range emails {
		accounts[strings.ToLower(email)] = true
	}
	b.of[workspace] = accounts
}

func (b *accountBook) fork() *accountBook {
	b.mu.Lock()
	defer b.mu.Unlock()
	fork := newAccountBook()
	for workspace, accounts := range b.of {
		fork.of[workspace] = maps.Clone(accounts)
	}
	return fork
}

// list returns the accounts of each workspace, sorted.
func (b *accountBook) list() map[string][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string][]string{}
	for workspace, accounts := range b.of {
		all[workspace] = append([]string{}, slices.Sorted(maps.Keys(accounts))...)
	}
	return all
}

// move moves all the accounts or, if the source lacks one of them, none.
func (b *accountBook) move(emails []string, source, destination string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, email := range emails {
		if !b.of[source][email] {
			return false
		}
	}
	for _, email := range emails {
		delete(b.of[source], email)
		b.of[destination][email] = true
	}
	return true
}

// moveAccounts moves sending accounts between two workspaces of the key's admin
// workspace. A workspace of another admin workspace is answered like one that
// does not exist, so that a key learns nothing of it.
func moveAccounts(c *call) error {
	body, err := c.object()
	if err != nil {
		return err
	}
	emails := body.texts("emails", required, "an email address", func(s string) (string, bool) {
		s, ok := anAddress(s)
		return strings.ToLower(s), ok
	})
	source := or(body.uuid("source_workspace_id", required))
	destination := or(body.uuid("destination_workspace_id", required))
	if len(emails) == 0 {
		body.wrong("emails", "an array with at least 1 item")
	}
	if source == destination {
		body.wrong("destination_workspace_id", "another workspace than the source")
	}
	if body.err != nil {
		return body.err
	}
	if !c.administers(source) || !c.administers(destination) {
		return errNotFound
	}
	if !c.world.accounts.move(emails, source, destination) {
		return errNotFound
	}
	moved, err := render(struct {
		Emails      []string `json:"emails"`
		Source      string   `json:"source_workspace_id"`
		Destination string   `json:"destination_workspace_id"`
	}{emails, source, destination})
	if err != nil {
		return err
	}
	c.notify("accounts.moved", moved, "")
	return c.send([]byte(`{"status":"success"}`))
}

// administers reports whether the key's workspace is the admin workspace of the other.
func (c *call) administers(id string) bool {
	ws := c.world.byID[id]
	return ws != nil && ws.adminID == c.ws.id
}
