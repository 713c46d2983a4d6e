package faults

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/spec"
)

// adminDefects returns moves by keys without the right to move, or between
// workspaces of different admin workspaces (Authentication, rule 4).
func adminDefects() []Defect {
	move := func(requirement string, by asker, damage, doc string, act behaviour) Defect {
		return whenAsked(spec.MoveAccounts, requirement, by, damage, doc, func(*Target) behaviour { return act })
	}
	var defects []Defect
	for _, by := range withoutAdminKey {
		defects = append(defects,
			wrongfullyServed(spec.MoveAccounts, "ADMIN-KEY", by),
			move("ADMIN-KEY", by, "told-success", "reports success to %s without acting", moved),
			movedAnyway("ADMIN-KEY", by, http.StatusForbidden))
		defects = append(defects, misrefused(spec.MoveAccounts, "ADMIN-KEY", by, http.StatusInternalServerError)...)
	}
	for _, by := range []asker{intoOutside, outOfOutside} {
		defects = append(defects, move("ADMIN-SAME", by, "served", "serves %s", moved))
		defects = append(defects, misrefused(spec.MoveAccounts, "ADMIN-SAME", by, http.StatusInternalServerError)...)
	}
	for _, by := range []asker{intoNowhere, outOfNowhere} {
		defects = append(defects, move("ADMIN-SAME", by, "served", "serves %s", moved))
	}
	return append(defects, movedAnyway("ADMIN-SAME", intoOutside, http.StatusForbidden))
}

// withoutAdminKey lists moves between sub-workspaces with keys that do not
// belong to an admin workspace.
var withoutAdminKey = []asker{
	{"source-key", "a move with the key of the source workspace", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return m.asker != "" && m.asker == m.source
	}},
	{"destination-key", "a move with the key of the destination workspace", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return m.asker != "" && m.asker == m.destination
	}},
	{"stranger-key", "a move with the key of a workspace that is neither source nor destination nor an admin workspace",
		func(a *Target, r Request) bool {
			m := a.moveIn(r)
			return m.asker != "" && m.asker != m.source && m.asker != m.destination && !a.isAdmin(m.asker)
		}},
}

// Moves across the border of an admin workspace with its own key.
var (
	intoOutside = asker{"destination-outside", "a move into a workspace of another admin workspace", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return m.asker != "" && a.Profile.AdminOf(m.source) == m.asker && a.isElsewhere(m.destination, m.asker)
	}}
	outOfOutside = asker{"source-outside", "a move out of a workspace of another admin workspace", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return m.asker != "" && a.Profile.AdminOf(m.destination) == m.asker && a.isElsewhere(m.source, m.asker)
	}}
)

// Moves between a workspace of the profile and one that does not exist.
var (
	intoNowhere = asker{"destination-unknown", "a move into a workspace that does not exist", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return m.asker != "" && a.Profile.AdminOf(m.source) == m.asker && isUUID(m.destination) && a.Profile.AdminOf(m.destination) == ""
	}}
	outOfNowhere = asker{"source-unknown", "a move out of a workspace that does not exist", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return m.asker != "" && a.Profile.AdminOf(m.destination) == m.asker && isUUID(m.source) && a.Profile.AdminOf(m.source) == ""
	}}
)

// accountMove holds the workspace ids and accounts of a request to move
// accounts.
type accountMove struct {
	asker, source, destination string // empty if unknown
	emails                     []any
}

func (a *Target) moveIn(r Request) accountMove {
	body, _ := objectIn(r)
	key, _ := a.keyOf(r)
	emails, _ := body["emails"].([]any)
	return accountMove{a.Profile.Workspaces[key.Workspace].ID, textOf(body, "source_workspace_id"), textOf(body, "destination_workspace_id"),
		emails}
}

func (a *Target) isAdmin(id string) bool {
	for _, w := range a.Profile.Workspaces {
		if a.Profile.AdminOf(w.ID) == id {
			return true
		}
	}
	return false
}

// isElsewhere reports whether the workspace is known to belong to another admin
// workspace.
func (a *Target) isElsewhere(id, admin string) bool {
	other := a.Profile.AdminOf(id)
	return other != "" && other != admin
}

// movedAnyway returns the defect of refusing a move but making it. The accounts
// only seem to be gone: the target receives no move.
func movedAnyway(requirement string, by asker, status int) Defect {
	d := whenAsked(spec.MoveAccounts, requirement, by, "refused-but-moved", fmt.Sprintf("answers %d to %%s but moves the accounts", status), nil)
	d.Apply = func(a *Target) Middleware {
		return func(next Handler) Handler {
			var gone goneAccounts
			return func(r Request) (Response, error) {
				m := a.moveIn(r)
				switch {
				case r.Operation != spec.MoveAccounts:
					return next(r)
				case by.fits(a, r):
					gone.add(m)
					return refusal(status), nil
				case gone.any(m):
					if _, valid := a.isValidKey(r); valid {
						return refusal(http.StatusNotFound), nil
					}
				}
				return next(r)
			}
		}
	}
	return d
}

// goneAccounts records accounts that have left a workspace.
type goneAccounts struct {
	mu   sync.Mutex
	from map[place]bool
}

// place is an account in a workspace.
type place struct{ workspace, email string }

// places returns the places that a move takes its accounts from.
func (m accountMove) places() []place {
	var all []place
	for _, email := range m.emails {
		if address, ok := email.(string); ok {
			all = append(all, place{m.source, address})
		}
	}
	return all
}

func (g *goneAccounts) add(m accountMove) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.from == nil {
		g.from = map[place]bool{}
	}
	for _, p := range m.places() {
		g.from[p] = true
	}
}

// any reports whether the move takes an account from a place it has left.
func (g *goneAccounts) any(m accountMove) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(m.places(), func(p place) bool { return g.from[p] })
}
