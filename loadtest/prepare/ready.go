package prepare

import (
	"context"
	"fmt"
	"time"

	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/spec"
)

// Ready prepares a run of the scenarios: it tries the keys, looks for another run on the
// target, and finds out which rows exist. Its requests count towards the first scenario.
//
// An error means that the target refuses a key altogether; it is a ThrottledError
// if the target does so with 429. Nothing was changed then.
func Ready(ctx context.Context, env *Env, scenarios []scenario.Scenario, readsOnly bool) (err error) {
	before := env.Budget.Sent()
	env.before, env.rows = &before, nil
	p := &preparation{ctx: ctx, env: env, asked: map[string]bool{}, outage: client.Detector{Limit: 1}}
	if p.subjects, err = NewSubjects(env, "ready"); err != nil {
		return nil // each scenario says so
	}
	env.rows = p.subjects.rows
	for _, s := range scenarios {
		for _, share := range s.Operations() {
			if excluded(env.Profile, share.Operation.ID) != "" || share.Operation.Unsafe() && readsOnly || p.subjects.lacks(share.Operation) != "" && share.Operation.Unsafe() {
				continue
			}
			p.asked[share.Operation.ID] = true
		}
		if s.Kind == scenario.RateLimit && env.Profile.RateLimit != nil {
			p.limited = true
		}
	}
	if err := p.tryKeys(); err != nil {
		return err
	}
	p.findListed()
	if !readsOnly {
		p.ownTests()
		p.findRuns() // after it has shown itself to others
		p.findSpares()
		p.tryChanges()
	}
	return nil
}

// preparation is the state of Ready.
type preparation struct {
	ctx      context.Context
	env      *Env
	subjects *Subjects
	asked    map[string]bool // ids of the operations that scenarios request
	limited  bool            // a scenario drives the limited key to its limit
	outage   client.Detector // one missing response ends the preparation
}

// stopped reports whether the target has left a request without a response.
func (p *preparation) stopped() bool { return p.outage.Err() != nil || p.ctx.Err() != nil }

// do sends a request at the profile's pace and reports whether there was a response.
// The scenarios report a missing one.
func (p *preparation) do(request client.Request) (client.Exchange, bool) {
	if p.stopped() {
		return client.Exchange{}, false
	}
	ex := p.env.Client.Do(p.ctx, request)
	p.outage.Observe(ex.Err)
	return ex, ex.Err == nil
}

// lack removes operations from the mixes of all scenarios.
func (p *preparation) lack(why string, operations ...string) {
	for _, id := range operations {
		p.env.rows.lacks[id] = why
		delete(p.asked, id)
	}
}

// exclusive are the operations that use up rows of the profile.
var exclusive = []string{spec.MoveAccounts, spec.DeleteSubsequence}

// findRuns leaves rows that only one run can use to another run, if the target shows a test
// of one. A run without a journal has its target to itself.
func (p *preparation) findRuns() {
	needed := p.limited
	for _, id := range exclusive {
		needed = needed || p.asked[id]
	}
	if !needed || p.stopped() || p.env.Journal == nil || p.env.Profile.Stateless {
		return
	}
	err, test := p.subjects.lookBefore(p.ctx), ""
	if err == nil {
		test, err = p.env.tests.Foreign(p.ctx, p.env.Run, p.env.Ended, nil)
	}
	switch {
	case err != nil:
		p.deny(fmt.Sprintf("whether another run uses the same rows is unknown: %s", err))
	case test != "":
		p.deny(sandbox.NotAlone(test))
	}
}

// deny leaves the rows that only one run can use to another run.
func (p *preparation) deny(why string) {
	p.lack(why, exclusive...)
	p.env.rows.denied = why
}

// ThrottledError means that the target answered a key only with 429 before the
// load, for as long as the run waits. Nothing was measured.
type ThrottledError struct {
	key, operation string
	waited         time.Duration
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("nothing was loaded: the target answered %s only with 429 for %s (%s). "+
		"Wait until the limit resets, raise it, or use an unlimited key", e.key, printable.Seconds(e.waited), e.operation)
}
