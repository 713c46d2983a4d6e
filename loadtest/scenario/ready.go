package scenario

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox/lock"
	"outreach.example/conformance/spec"
)

// Ready prepares a run of the scenarios: it asks whether the target takes the
// keys, lays a claim to what only one run can use at a time, and finds out which
// rows are there. What it sends counts among the requests of the first scenario.
//
// Its error is a key that the target refuses altogether, a ThrottledError where it
// does so with 429: nothing has been loaded then, and nothing was changed. release stops renewing the claim, which stands
// in the journal for whoever puts back what the run has changed.
func Ready(ctx context.Context, env *Env, scenarios []Scenario, readsOnly bool) (release func(), err error) {
	release = func() {}
	before := env.Budget.sent()
	env.before, env.rows = &before, nil
	p := &preparation{ctx: ctx, env: env, asked: map[string]bool{}, waited: map[string]bool{}}
	if p.subjects, err = newSubjects(env, "ready"); err != nil {
		return release, nil // each scenario says so
	}
	env.rows = p.subjects.rows
	for _, s := range scenarios {
		for _, share := range s.operations() {
			if share.op.Unsafe() && readsOnly || p.subjects.lacks(share.op) != "" && share.op.ID != spec.GetPlacementTest {
				continue
			}
			p.asked[share.op.ID] = true
		}
		if s.Kind == RateLimit && env.Profile.RateLimit != nil {
			p.limited = true
		}
	}
	if err := p.tryKeys(); err != nil {
		return release, err
	}
	if !readsOnly {
		release = p.claimRows()
		p.findSpares()
		p.ownTests()
		p.tryChanges()
	}
	return release, nil
}

// preparation is Ready at work.
type preparation struct {
	ctx      context.Context
	env      *Env
	subjects *subjects
	asked    map[string]bool // operations that scenarios ask, by id
	limited  bool            // a scenario drives the limited key to its limit
	silent   bool            // the target gave no answer: no more is asked of it
	waited   map[string]bool // keys of which it was said that they are waited for, by name
}

// do sends a request at the profile's pace and reports whether an answer came.
// What a target leaves unanswered is for the scenarios to tell.
func (p *preparation) do(request client.Request) (client.Exchange, bool) {
	if p.silent {
		return client.Exchange{}, false
	}
	request.NoRetry = true
	ex := p.env.Client.Do(p.ctx, request)
	if ex.Err == nil && ex.Status == http.StatusTooManyRequests {
		p.tellOfWaiting(request.Key.Name)
		request.NoRetry = false
		ex = p.env.Client.Do(p.ctx, request)
	}
	p.silent = ex.Err != nil
	return ex, !p.silent
}

// lack takes operations out of the mixtures of all scenarios.
func (p *preparation) lack(why string, operations ...string) {
	for _, id := range operations {
		p.env.rows.lacks[id] = why
		delete(p.asked, id)
	}
}

// claimed are the operations that use up rows of the profile.
var claimed = []string{spec.MoveAccounts, spec.DeleteSubsequence}

// beforeShards is what a shard needs between the preparation and the start, to
// find out what its machine can send.
const beforeShards = 4 * time.Second

// claimRows lays claim to what only one run can use at a time, if the scenarios
// use any of it, and takes it out of them if another run has it. A run without a
// journal has its target to itself. release stops renewing the claim.
func (p *preparation) claimRows() (release func()) {
	release = func() {}
	needed := p.limited
	for _, id := range claimed {
		needed = needed || p.asked[id]
	}
	if !needed || p.silent || p.env.Journal == nil || !lock.Possible(p.env.Profile) {
		return release
	}
	c := &lock.Lock{Client: p.env.Client, Profile: p.env.Profile, Journal: p.env.Journal, LeftBehind: p.env.LeftBehind}
	patience := p.env.ClaimPatience
	if patience == 0 {
		patience = lock.DefaultPatience
	}
	if p.env.Shard.Of > 1 {
		c.Name = lock.NameOf(p.env.Seed, p.env.Start)
		patience = min(patience, time.Until(p.env.Start)-beforeShards)
	}
	other, err := c.Take(p.ctx, patience, func(other string) {
		p.tell(fmt.Sprintf("waiting up to %s for another run, whose test %q keeps accounts, subsequences and a limited key for it", patience.Round(time.Second), other))
	})
	switch {
	case err != nil:
		p.deny(fmt.Sprintf("whether another run uses the same rows could not be asked: %s", err))
		return release
	case other != "":
		p.deny(lock.HeldBy(other))
		return release
	}
	return c.KeepAlive(p.ctx)
}

// deny leaves what only one run can use to another.
func (p *preparation) deny(why string) {
	p.lack(why, claimed...)
	p.env.rows.limited, p.env.rows.denied = why, why
}

// tell lets a live view show what the run is at.
func (p *preparation) tell(step string) {
	if p.env.Say != nil {
		p.env.Say(step)
	}
}
