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
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

// accounts remembers to which workspace the run moved each account.
type accounts struct {
	mu      sync.Mutex
	at      map[string]place          // by email; absent: at home
	entries map[string]map[string]int // email → destination → open entry of the journal
}

// place is where an account is.
type place struct {
	workspace string // id
	confirmed bool   // the target accepted the move
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
		if _, open := s.accounts.entries[email][away]; !ok || open || away == home.ID {
			continue
		}
		entry, err := s.Journal.Open(journal.Entry{Do: journal.Move, Email: email, Home: home.ID, Away: away, Key: dataset.Admin})
		if err != nil {
			return err
		}
		if s.accounts.entries == nil {
			s.accounts.entries = map[string]map[string]int{}
		}
		if s.accounts.entries[email] == nil {
			s.accounts.entries[email] = map[string]int{}
		}
		s.accounts.entries[email][away] = entry
	}
	return nil
}

// moved remembers that the accounts are at the change's destination.
func (s *Sandbox) moved(c Change, emails []string, confirmed bool) Undo {
	destination := c.text("destination_workspace_id")
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	if s.accounts.at == nil {
		s.accounts.at = map[string]place{}
	}
	for _, email := range emails {
		s.accounts.at[email] = place{destination, confirmed}
	}
	return func(ctx context.Context) { s.moveBack(ctx, c.By, emails) }
}

// maybeMoved is moved for a change with an unknown result. The rollback looks for
// an account at the destination if the change may have taken it there from home.
// An account on its way home stays where it was noted, but a 404 for its next way
// home is no surprise any more. A destination that is not a UUID cannot have been reached.
func (s *Sandbox) maybeMoved(c Change) (Undo, error) {
	destination := c.text("destination_workspace_id")
	if _, err := uuid.Parse(destination); err != nil {
		return nil, s.stayed(c)
	}
	var away []string
	for _, email := range c.emails() {
		if home, ok := homeIn(s.Profile, email); ok && home.ID != destination {
			away = append(away, email)
		}
	}
	s.doubt(c.emails())
	if len(away) == 0 {
		return nil, nil
	}
	return s.moved(c, away, false), nil
}

// doubt notes that the accounts may have left the place to which they were moved.
func (s *Sandbox) doubt(emails []string) {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	for _, email := range emails {
		if at, moved := s.accounts.at[email]; moved {
			at.confirmed = false
			s.accounts.at[email] = at
		}
	}
}

// stayed records that a refused move left the accounts where they were.
func (s *Sandbox) stayed(c Change) error {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	var failed []error
	for _, email := range c.emails() {
		if _, moved := s.accounts.at[email]; !moved {
			failed = append(failed, s.home(email))
		}
	}
	return errors.Join(failed...)
}

// home records that the account is at home. The caller holds accounts.mu.
func (s *Sandbox) home(email string) error {
	var failed []error
	for _, entry := range s.accounts.entries[email] {
		failed = append(failed, s.Journal.Close(entry))
	}
	delete(s.accounts.entries, email)
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
			at, moved := s.accounts.at[email]
			if !moved || !slices.Contains(emails, email) {
				continue
			}
			delete(s.accounts.at, email)
			if at.workspace != home.ID && !s.moveHome(ctx, by, email, at, home) {
				continue
			}
			if err := s.home(email); err != nil {
				s.Trouble(by, err.Error())
			}
		}
	}
}

// moveHome reports whether the account is certainly at home.
func (s *Sandbox) moveHome(ctx context.Context, by, email string, at place, home profile.Workspace) bool {
	back := Change{By: by, Operation: spec.MustOperation(spec.MoveAccounts),
		Body: fixtures.MoveAccounts(at.workspace, home.ID, email)}
	admin, ok := s.Profile.AdminKey(home)
	if !ok {
		s.uncertain.add(back, "the profile has no key of its admin workspace")
		return false
	}
	back.Key = admin.ForClient()
	// A 404 says that the account is not there: an interrupted move took it home
	// or never took it away. If it is uncertain which, it stays in the journal. So does
	// an account that the target said it moved there.
	settled, nothing := s.rollBack(ctx, back)
	if settled && nothing && at.confirmed {
		const why = "accounts.move answered 404, but the target had moved the account there"
		s.uncertain.add(back, why)
		s.Trouble(by, rollbackFailed(why))
	}
	return settled && s.uncertain.why(email) == ""
}

// uncertain are the accounts whose workspace is not known, each with the
// reason. A spec that presupposes where such an account is cannot be assessed.
//
// An account becomes uncertain if a move had no response, or if moving it back
// was not confirmed. A 404 for the way back does not settle it: the lost request
// may still be in progress. Only a successful way back shows where the account is.
//
// Other rows cannot become uncertain. A deleted row was created by the spec or
// handed to it alone. Leads and campaigns change in the same way from any state.
type uncertain struct {
	mu      sync.Mutex
	reasons map[string]string // by email
}

// add marks the accounts that the change moves as uncertain.
func (u *uncertain) add(c Change, reason string) {
	if c.Operation.ID != spec.MoveAccounts {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.reasons == nil {
		u.reasons = map[string]string{}
	}
	for _, email := range c.emails() {
		u.reasons[email] = reason
	}
}

// remove marks the accounts that the change moved as certain.
func (u *uncertain) remove(c Change) {
	if c.Operation.ID != spec.MoveAccounts {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, email := range c.emails() {
		delete(u.reasons, email)
	}
}

// why returns why the account is uncertain; empty if it is not.
func (u *uncertain) why(email string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.reasons[email]
}

// certain denies a change if one of its accounts is uncertain.
func (s *Sandbox) certain(emails []string) error {
	for _, email := range emails {
		why := s.uncertain.why(email)
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
