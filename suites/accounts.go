package suites

import (
	"net/http"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// accounts judges moving accounts between workspaces. No operation lists
// accounts: where an account is shows only in whether it can be moved from there.
func accounts() []Spec {
	op := spec.MustOperation(spec.MoveAccounts)
	return []Spec{
		{op.ID, "moves accounts there and back", on(op, "ACCOUNTS-MOVED"), func(c *check) {
			source, destination := c.subWorkspaces(dataset.Admin)
			c.movesThereAndBack(c.as(dataset.Admin, op), source, destination)
		}},
		{op.ID, "refuses the key of a workspace that is no admin workspace", on(op, "ADMIN-KEY"), func(c *check) {
			source, destination := c.subWorkspaces(dataset.Admin)
			keys := c.plainKeys(source, destination)
			if len(keys) == 0 {
				c.lack("a key with the scope all:all of a workspace that is not an admin workspace (%s, %s)", dataset.SubA, dataset.Second)
			}
			for _, key := range keys {
				c.refusesMove("ADMIN-KEY", call{op: op, key: key}, source, destination)
			}
		}},
		{op.ID, "refuses workspaces that share no admin workspace", on(op, "ADMIN-SAME"), func(c *check) {
			source, _ := c.subWorkspaces(dataset.Admin)
			outsider := c.workspace(dataset.Outsider)
			if outsider.ID == "" {
				c.lack("the id of the workspace %q, which has another admin workspace", dataset.Outsider)
			}
			admin := c.as(dataset.Admin, op)
			c.refusesMove("ADMIN-SAME", admin, source, outsider)
			if len(outsider.Accounts) > 0 {
				c.expect("ADMIN-SAME", c.one(admin.withBody(move(outsider, source, outsider.Accounts[0])).open()), beRefused())
			}
		}},
	}
}

// movesThereAndBack moves one account, then several. At the end it asks for a
// move of what is no more where the request says: a server that does not refuse
// that would not refuse a move back of what never left either.
func (c *check) movesThereAndBack(admin call, source, destination profile.Workspace) {
	const requirement = "ACCOUNTS-MOVED"
	moved := 0
	for _, emails := range [][]string{source.Accounts[:1], source.Accounts} {
		c.must(admin.withBody(move(source, destination, emails...)))
		for _, email := range emails { // one by one: a move of several may have left some behind
			back := c.one(admin.withBody(move(destination, source, email)))
			if !back.ok() {
				c.serves(requirement, back)
				return // a further move of it would not be valid
			}
			moved++
		}
	}
	if again := c.one(admin.withBody(move(destination, source, source.Accounts[0])).open()); again.Status == http.StatusOK {
		c.lack("a refusal to move an account from where it is not: without that, nothing shows where it is")
	}
	for range moved {
		c.assess(requirement, admin.op.ID)
	}
}

// plainKeys are keys of workspaces that are no admin workspaces: those of the
// source and the destination themselves, and that of a stranger.
func (c *check) plainKeys(source, destination profile.Workspace) []client.Key {
	var keys []client.Key
	for _, role := range []string{dataset.SubA, dataset.SubB, dataset.Second} {
		w := c.workspace(role)
		if key, ok := c.Profile.FullKey(role); ok && (w.ID == source.ID || w.ID == destination.ID || role == dataset.Second) {
			keys = append(keys, token(key))
		}
	}
	return keys
}

// refusesMove asks for a move that must be refused, and makes sure that the
// account stayed: the admin workspace can still move it from its place.
func (c *check) refusesMove(requirement string, k call, source, destination profile.Workspace) {
	account := source.Accounts[0]
	c.expect(requirement, c.one(k.withBody(move(source, destination, account)).open()), beRefused())
	_, sibling := c.subWorkspaces(dataset.Admin)
	still := c.one(c.as(dataset.Admin, k.op).withBody(move(source, sibling, account)))
	if c.serves(requirement, still) {
		c.must(c.as(dataset.Admin, k.op).withBody(move(sibling, source, account)))
	}
}
