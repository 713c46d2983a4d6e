package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// leastProbes is the least number of requests that probing needs.
const leastProbes = 200

// rateLimit provokes 429 answers with the profile's key for it, and infers the limiter. The
// run command judges recovery and refused writes.
func (r *runner) rateLimit() error {
	limited, list, missing := r.limiter()
	if missing != "" {
		r.draft.Missing(missing)
		return nil
	}
	p := &prober{direct: r.direct("probes", r.started), r: r, list: list, limited: limited, requests: map[infer.Subject]probe{}}
	p.ctx, p.giveUp = context.WithCancelCause(r.ctx)
	defer p.giveUp(nil)
	if err := p.prepare(); err != nil {
		return err
	}
	defer p.close()
	left := r.env.Budget.Left()
	if left < leastProbes {
		return fmt.Errorf("%w: %d requests left, probing needs at least %d", prepare.ErrBudget, left, leastProbes)
	}
	subjects := slices.DeleteFunc(infer.Others(), func(s infer.Subject) bool { return p.requests[s].api == nil })
	defer p.feed(r.env.Live)()
	result, err := infer.Run(p.ctx, infer.Wire{Send: p.send, Now: time.Now, Sleep: client.Sleep, Subjects: subjects}, infer.Options{
		Log: func(step string) { r.env.Watch(r.scenario.Name, step) }, MaxRequests: int(min(int64(r.scenario.Budget), left)), MaxTime: r.scenario.Duration,
		Sustain: max(leastSustain, r.scenario.Duration/4), MaxParallel: parallelProbes, Seed: r.env.Seed,
	})
	r.draft.Result.Limiter = &result
	if p.ctx.Err() != nil {
		if dead := new(client.Error); errors.As(context.Cause(p.ctx), &dead) {
			r.draft.NoteFirst(r.outages(r.scenario.Name, p.monitor.Outages())...)
		}
		return fmt.Errorf("probing was aborted: %w", context.Cause(p.ctx))
	}
	if err != nil {
		return err
	}
	if result.Total.Refused == 0 {
		r.draft.Void("no request got 429 within the budget: responses with 429 could not be checked")
		return nil
	}
	// The specification leaves the scope of the counter open, so this is no failure.
	if slices.ContainsFunc(result.Sharing, func(s load.Sharing) bool {
		return s.Subject == string(infer.OtherWorkspace) && s.Shared.Value == infer.Shared
	}) {
		r.draft.Note("another workspace is limited too when this one exceeds its limit (the specification leaves that open)")
	}
	return nil
}

// limiter returns the profile's key that may exceed its limit, and the list to request with
// it. missing is the input that the scenario lacks, if any.
func (r *runner) limiter() (limited profile.Key, list spec.Operation, missing string) {
	promise := r.env.Profile.RateLimit
	if promise == nil {
		return limited, list, "rate_limit in the profile (a key that may exceed its limit)"
	}
	for _, k := range r.env.Profile.Keys {
		if k.Name == promise.Key {
			limited = k
		}
	}
	list, ok := r.env.Profile.AnyList(r.scenario.Probe)
	switch {
	case limited.Token == "":
		missing = fmt.Sprintf("the key %q, named by rate_limit", promise.Key)
	case !ok:
		missing = "a paged list that the target profile and --operation do not exclude"
	case r.scenario.Probe != "" && list.ID != r.scenario.Probe:
		missing = fmt.Sprintf("the list %s to probe with, which the target profile or --operation excludes", r.scenario.Probe)
	case r.subjects.Limited() != "":
		missing = fmt.Sprintf("exclusive use of the key %q: %s", promise.Key, r.subjects.Limited())
	}
	return limited, list, missing
}
