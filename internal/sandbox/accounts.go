package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/spec"
)

// accounts are those that the run has moved, or meant to move.
type accounts struct {
	mu      sync.Mutex
	byEmail map[string]*account
}

// account is where an account is.
//
// It becomes doubtful if a move had no response, or if moving it back was not confirmed. A 404
// for the way back does not settle it: the lost request may still be in progress. Only a
// successful way back shows where the account is. A spec that presupposes where a doubtful
// account is cannot be assessed.
//
// Other rows cannot become doubtful. A deleted row was created by the spec or handed to it
// alone. Leads and campaigns change in the same way from any state.
type account struct {
	at        string         // id of the workspace to which the run moved it; empty: at home
	confirmed bool           // the target accepted the move
	doubt     string         // why its workspace is not known; empty if it is
	entries   map[string]int // open entry of the journal, by destination
}

// of returns what is known of an account. The caller holds the mutex.
func (a *accounts) of(email string) *account {
	if a.byEmail[email] == nil {
		a.byEmail[email] = &account{entries: map[string]int{}}
	}
	return a.byEmail[email]
}

// homeIn returns the workspace to which the account belongs according to the profile.
func homeIn(p *profile.Profile, email string) (profile.Workspace, bool) {
	for _, w := range p.Workspaces {
		if slices.Contains(w.Accounts, email) {
			return w, true
		}
	}
	return profile.Workspace{}, false
}

// recordMove opens an entry for each destination of the profile's accounts other than
// their home.
func (s *Sandbox) recordMove(c Change) error {
	if s.Journal == nil {
		return nil
	}
	away := c.text("destination_workspace_id")
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	for _, email := range c.emails() {
		home, ok := homeIn(s.Profile, email)
		a := s.accounts.of(email)
		if _, open := a.entries[away]; !ok || open || away == home.ID {
			continue
		}
		entry, err := s.Journal.Open(Entry{Do: Move, Email: email, Home: home.ID, Away: away})
		if err != nil {
			return err
		}
		a.entries[away] = entry
	}
	return nil
}

// moved notes the response to a move, and returns what moves the accounts home. A move without
// a clear response may have taken them away: the rollback looks for them at the destination. An
// account on its way home stays where it was noted, but a 404 for its next way home is no
// surprise any more. A destination that is not a UUID cannot have been reached.
func (s *Sandbox) moved(c Change, ex client.Exchange) (Undo, error) {
	destination := c.text("destination_workspace_id")
	var away []string
	var failed []error
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	for _, email := range c.emails() {
		a := s.accounts.of(email)
		if ex.Err != nil && ex.Status == 0 && !ex.Sent.IsZero() {
			a.doubt = unanswered(c, ex.Err)
		}
		switch home, listed := homeIn(s.Profile, email); {
		case ex.Status/100 == 2:
			a.at, a.confirmed, away = destination, true, append(away, email)
		case ex.Sent.IsZero(), ex.Err == nil && ex.Status < 500, uuid.Validate(destination) != nil: // after a 5xx nobody knows
			if a.at == "" {
				failed = append(failed, s.home(a))
			}
		default:
			a.confirmed = false
			if listed && home.ID != destination {
				a.at, away = destination, append(away, email)
			}
		}
	}
	if len(away) == 0 {
		return nil, errors.Join(failed...)
	}
	return func(ctx context.Context) { s.moveBack(ctx, c.By, away) }, errors.Join(failed...)
}

// home records that the account is at home. The caller holds the mutex.
func (s *Sandbox) home(a *account) error {
	var failed []error
	for _, entry := range a.entries {
		failed = append(failed, s.Journal.Close(entry))
	}
	clear(a.entries)
	return errors.Join(failed...)
}

// moveBack moves home those of the accounts that the run has moved. Another spec may have
// moved other accounts, and still rely on where they are.
func (s *Sandbox) moveBack(ctx context.Context, by string, emails []string) {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	for _, role := range slices.Sorted(maps.Keys(s.Profile.Workspaces)) {
		home := s.Profile.Workspaces[role]
		for _, email := range home.Accounts {
			a := s.accounts.of(email)
			from := a.at
			if from == "" || !slices.Contains(emails, email) {
				continue
			}
			a.at = ""
			if from != home.ID && !s.moveHome(ctx, by, email, from, home) {
				continue
			}
			if err := s.home(a); err != nil {
				s.Trouble(by, err.Error())
			}
		}
	}
}

// moveHome reports whether the account is certainly at home. A 404 says that it is not there: an
// interrupted move took it home or never took it away. If it is uncertain which, the account
// stays in the journal. So does one that the target said it moved there.
func (s *Sandbox) moveHome(ctx context.Context, by, email, from string, home profile.Workspace) bool {
	a := s.accounts.of(email)
	admin, ok := s.Profile.AdminKey(home)
	if !ok {
		a.doubt = "the profile has no key of its admin workspace"
		return false
	}
	nothing, why := reverse(ctx, s.Send, s.Profile, Change{Operation: spec.MustOperation(spec.MoveAccounts), Key: admin.ForClient(),
		Body: fixtures.MoveAccounts(from, home.ID, email)})
	switch {
	case why == "" && !nothing:
		a.doubt = ""
	case why == "" && a.confirmed:
		why = "accounts.move answered 404, but the target had moved the account there"
	}
	if why != "" {
		a.doubt = why
		s.Trouble(by, fmt.Sprintf("rollback failed: %s (`outreach-conformance cleanup` tries again)", why))
	}
	return a.doubt == ""
}

// certain denies a change if the workspace of one of its accounts is not known.
func (s *Sandbox) certain(emails []string) error {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	for _, email := range emails {
		why := s.accounts.of(email).doubt
		if slices.Contains(s.LeftAway, email) {
			why = "an earlier run may have left it elsewhere (`outreach-conformance cleanup` moves it home)"
		}
		if why != "" {
			return denied("a known location of the account %s: %s", email, why)
		}
	}
	return nil
}

func unanswered(c Change, err error) string {
	return fmt.Sprintf("%s had no response: %v", c.Operation.ID, err)
}

// encode writes a body that the package itself has made; nil for none.
func encode(body map[string]any) []byte {
	if body == nil {
		return nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("sandbox: a request body cannot be written as JSON: %v", err))
	}
	return encoded
}
