package suites

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// What a valid request needs, taken from the profile or made on the target. A
// spec for which something is missing is not assessed, and says what.

// key returns the key of the role that may do everything.
func (c *check) key(role string) client.Key {
	key, ok := c.Profile.FullKey(role)
	if !ok {
		c.lack("a key of the workspace %q with the scope all:all", role)
	}
	return token(key)
}

// scopedKey returns a key of the main workspace with exactly one scope, or with none for "".
func (c *check) scopedKey(scope string) (client.Key, bool) {
	key, ok := c.Profile.ScopedKey(dataset.Main, scope)
	if !ok {
		return client.Key{}, false
	}
	return token(key), true
}

func token(key profile.Key) client.Key { return client.Key{Name: key.Name, Token: key.Token} }

// workspace returns what the profile says of the role's workspace.
func (c *check) workspace(role string) profile.Workspace { return c.Profile.Workspaces[role] }

// first returns the first of the profile's ids, or ends the spec.
func (c *check) first(ids []string, what, role string) string {
	if len(ids) == 0 {
		c.lack("the id of a %s in the workspace %q", what, role)
	}
	return ids[0]
}

// parameter returns the name of a query parameter that the specification does not show.
func (c *check) parameter(op spec.Operation, meaning string) string {
	name, ok := c.Profile.Parameter(op.ID, meaning)
	if !ok {
		c.lack("the name of the parameter %q of %s", meaning, op.ID)
	}
	return name
}

// as returns a call of the operation by the role, without what the request itself needs.
func (c *check) as(role string, op spec.Operation) call {
	return call{op: op, key: c.key(role), owner: c.owner(role)}
}

// request returns a call that is valid in every respect, by the role. A call
// that deletes names a resource that may be deleted.
func (c *check) request(role string, op spec.Operation) call {
	k := c.as(role, op)
	w := c.workspace(role)
	switch op.ID {
	case spec.AddCampaignVariables:
		return k.withID(c.first(w.Campaigns, "campaign", role)).withBody(map[string]any{"variables": []string{"conformance"}})
	case spec.MoveLead:
		return k.withBody(map[string]any{
			"id":             c.first(w.Leads, "lead", role),
			"subsequence_id": c.first(w.Subsequences, "subsequence that leads may be moved to", role),
		})
	case spec.MoveAccounts:
		source, destination := c.subWorkspaces(role)
		return k.withBody(move(source, destination, c.first(source.Accounts, "sending account of a sub-workspace", role)))
	case spec.CreatePlacementTest:
		return k.withBody(fixtures.PlacementTest(c.rng, c.word()))
	case spec.GetPlacementTest, spec.DeletePlacementTest:
		if role == dataset.Main {
			return k.withID(c.newTest().text("id"))
		}
		return k.withID(c.first(w.PlacementTests, "inbox placement test", role))
	case spec.DeleteSubsequence:
		if role == dataset.Main {
			return k.withID(c.spareSubsequence())
		}
		return k.withID(c.first(slices.Concat(w.ExpendableSubsequences, w.Subsequences), "subsequence", role))
	default:
		return k
	}
}

// harmless is request, but what deletes or moves names something that does not
// exist: for requests that must be refused before it is looked up.
func (c *check) harmless(role string, op spec.Operation) call {
	k := c.as(role, op)
	switch op.ID {
	case spec.AddCampaignVariables:
		return k.withID(c.freshID()).withBody(map[string]any{"variables": []string{"conformance"}})
	case spec.MoveLead:
		return k.withBody(map[string]any{"id": c.freshID(), "subsequence_id": c.freshID()})
	case spec.MoveAccounts:
		return k.withBody(map[string]any{"emails": []string{c.word() + "@example.com"},
			"source_workspace_id": c.freshID(), "destination_workspace_id": c.freshID()})
	case spec.GetPlacementTest, spec.DeletePlacementTest, spec.DeleteSubsequence:
		return k.withID(c.freshID())
	default:
		return c.request(role, op)
	}
}

// subWorkspaces returns two workspaces of the role's admin workspace, the first with accounts.
func (c *check) subWorkspaces(role string) (source, destination profile.Workspace) {
	var subs []profile.Workspace
	for _, name := range slices.Sorted(maps.Keys(c.Profile.Workspaces)) {
		w := c.Profile.Workspaces[name]
		if w.Admin != "" && (w.Admin == role || w.Admin == c.owner(role)) {
			subs = append(subs, w)
		}
	}
	if len(subs) < 2 {
		c.lack("two sub-workspaces of the admin workspace %q", role)
	}
	for i, sub := range subs {
		if len(sub.Accounts) > 0 {
			return sub, subs[(i+1)%len(subs)]
		}
	}
	c.lack("a sending account in a sub-workspace of %q", role)
	panic("unreachable")
}

// move is the body of an account move.
func move(source, destination profile.Workspace, emails ...string) map[string]any {
	return map[string]any{"emails": emails, "source_workspace_id": source.ID, "destination_workspace_id": destination.ID}
}

// freshID returns a version 7 UUID that no server has issued.
func (c *check) freshID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var id uuid.UUID
	for i := range id {
		id[i] = byte(c.rng.UintN(256))
	}
	// A time long before the service existed: nothing that is there bears it.
	copy(id[:6], []byte{0x00, 0x80, 0, 0, 0, id[5]})
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	c.sandbox().Adopt(id.String())
	return id.String()
}

// word returns a word that occurs nowhere else.
func (c *check) word() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("conformance%016x", c.rng.Uint64())
}
