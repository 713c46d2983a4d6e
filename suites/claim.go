package suites

import (
	"context"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox/claim"
	"outreach.example/conformance/spec"
)

// claimRows makes sure that no other run uses what the profile lists for use by
// one, or ends the spec. A target on which no claim can be laid (it makes no
// tests, or the profile lets the run make none) is used without.
func (c *check) claimRows() {
	if !claim.Possible(c.Profile) {
		return
	}
	c.claim.mu.Lock()
	defer c.claim.mu.Unlock()
	if !c.claim.decided {
		c.claim.denied = c.layClaim()
		c.claim.decided = true
		c.spares.forget() // other runs may have deleted some since
	}
	if c.claim.denied != "" {
		c.lack("%s", c.claim.denied)
	}
}

// layClaim lays the run's claim. It returns what is missing if another run has one.
func (c *check) layClaim() (denied string) {
	c.claim.own = &claim.Claim{Client: c.Client, Profile: c.Profile, Journal: c.Journal, LeftBehind: c.LeftBehind,
		Permit: func() { c.permit(call{op: spec.MustOperation(spec.ListPlacementTests)}) }}
	other, err := c.claim.own.Lay(c.ctx, c.claimPatience(), nil)
	if err != nil {
		c.stop(answer{Exchange: client.Exchange{Err: err}})
	}
	if other != "" {
		return "to be the only run on this target: " + claim.Denied(other)
	}
	return ""
}

// leave gives up the run's claim, if it has one. While rows are in doubt it
// stays, to keep other runs off them, until what the journal lists is put back.
func (e *Env) leave(ctx context.Context) {
	e.claim.mu.Lock()
	defer e.claim.mu.Unlock()
	if e.claim.own == nil || e.Journal != nil && e.doubts.any() {
		return
	}
	ctx, cancel := restoring(ctx)
	defer cancel()
	if err := e.claim.own.Drop(ctx); err != nil {
		e.Ledger.Troubled("claim", err.Error())
	}
	e.claim.decided, e.claim.denied = false, ""
}
