package suites

import (
	"context"
	"errors"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// What a spec changes on the target, and how it is rolled back: package sandbox
// knows, and these methods ask it on behalf of a spec.

// change describes the call to the sandbox.
func (c *check) change(k call) sandbox.Change {
	return sandbox.Change{By: c.name(), Operation: k.op, ID: k.id, Body: k.object(), Key: k.key, Owner: k.owner}
}

// need ends the spec if the sandbox returned an error.
func (c *check) need(err error) {
	var denied *sandbox.Denied
	switch {
	case errors.As(err, &denied):
		c.lack("%s", denied.Input)
	case err != nil:
		c.stop(answer{Exchange: client.Exchange{Err: err}})
	}
}

// before permits and records a call that is about to be sent.
func (c *check) before(k call) (entry int) {
	c.need(c.sandbox().Permit(c.ctx, c.change(k)))
	entry, err := c.sandbox().Before(c.change(k))
	c.need(err)
	return entry
}

// noteChange registers the rollback of what the answer changed.
func (c *check) noteChange(a answer, entry int) {
	created := ""
	if a.call.op.ID == spec.CreatePlacementTest {
		created = a.text("id")
	}
	undo, err := c.sandbox().After(c.change(a.call), entry, a.Exchange, created)
	if undo != nil {
		c.afterwards(undo)
	}
	if err != nil {
		c.trouble(err.Error())
	}
}

// newTest creates a minimal test in the main workspace.
func (c *check) newTest() answer {
	return c.must(c.request(dataset.Main, spec.MustOperation(spec.CreatePlacementTest)))
}

// spareSubsequence returns a subsequence that the profile lets the run delete
// and that still exists.
func (c *check) spareSubsequence() string {
	id, err := c.sandbox().TakeSubsequence(c.ctx, func() ([]paging.Row, error) {
		return c.walk(c.as(dataset.Main, spec.MustOperation(spec.ListSubsequences)), pagesOf(maxLimit)).Rows(), nil
	})
	c.need(err)
	return id
}

// sparesBeside takes the next older and the next younger spare until the spec
// has ended, if there are plenty.
func (c *check) sparesBeside(id string) []string {
	beside := c.sandbox().TakeNeighbours(id)
	c.afterwards(func(context.Context) { c.sandbox().GiveBack(beside...) })
	return beside
}

// claimRows makes sure that no other run uses what only one run can use, or ends
// the spec.
func (c *check) claimRows() { c.need(c.sandbox().Lock(c.ctx)) }

// giveBack returns a spare subsequence that was not deleted.
func (c *check) giveBack(id string) { c.sandbox().GiveBack(id) }
