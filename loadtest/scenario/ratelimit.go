package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/measure"
)

// afterwards is the number of requests reserved for the checks after the
// inference.
const afterwards = 100

// timeAfterwards returns the part of the duration reserved for those checks: a
// few windows of any limiter that the rest can identify.
func timeAfterwards(duration time.Duration) time.Duration {
	return min(max(duration/8, 2*time.Second), time.Minute, duration/2)
}

// rateLimit provokes 429 answers with the profile's key for it, infers the
// limiter, and checks the answers to excess requests.
func (r *runner) rateLimit() error {
	promise := r.env.Profile.RateLimit
	if promise == nil {
		r.missing("rate_limit in the profile (a key that may exceed its limit)")
		return nil
	}
	var limitedKey profile.Key
	for _, k := range r.env.Profile.Keys {
		if k.Name == promise.Key {
			limitedKey = k
		}
	}
	if limitedKey.Token == "" {
		r.missing(fmt.Sprintf("the key %q, named by rate_limit", promise.Key))
		return nil
	}
	if why := r.subjects.rows.limited; why != "" {
		r.missing(fmt.Sprintf("exclusive use of the key %q: %s", promise.Key, why))
		return nil
	}
	p := &prober{r: r, role: limitedKey.Workspace, limited: limitedKey, requests: map[infer.Subject]probe{}, vigil: r.env.Generator.Vigil()}
	p.ctx, p.giveUp = context.WithCancelCause(r.ctx)
	defer p.giveUp(nil)
	if err := p.prepare(limitedKey); err != nil {
		return err
	}
	defer p.close()
	left := r.env.Budget.left() - afterwards
	if left < afterwards {
		return fmt.Errorf("%w: %d requests left, probing needs at least %d", ErrBudget, left+afterwards, 2*afterwards)
	}
	wire := infer.Wire{Send: p.send, Now: time.Now, Sleep: client.Sleep}
	for _, s := range infer.Others() {
		if _, known := p.requests[s]; known {
			wire.Subjects = append(wire.Subjects, s)
		}
	}
	const phase = "probes"
	r.announceStep(phase)
	stop := r.showing(func() generate.Live {
		return generate.Live{Phase: phase, At: time.Since(r.started), Duration: r.scenario.Duration, Live: measure.Live{Count: p.seen.counts()}}
	})
	defer stop()
	result, err := infer.Run(p.ctx, wire, infer.Options{
		Log: r.announceStep, MaxRequests: int(min(int64(r.scenario.Budget), left)), MaxTime: r.scenario.Duration - timeAfterwards(r.scenario.Duration),
		Sustain: max(leastSustain, r.scenario.Duration/4), MaxParallel: parallelProbes, Seed: r.env.Seed,
	})
	r.out.Limiter = limiterOf(result)
	if p.ctx.Err() != nil {
		if dead := new(generate.SilentError); errors.As(context.Cause(p.ctx), &dead) {
			r.foremost = r.outages(r.scenario.Name, p.vigil.Silences())
		}
		return fmt.Errorf("probing was aborted: %w", context.Cause(p.ctx))
	}
	if err != nil {
		return err
	}
	if result.Total.Refused == 0 {
		r.void("no request got 429 within the budget: 429 answers could not be checked")
		return nil
	}
	p.noteOthers(result)
	p.recovery = recoveryOf(result, p.blocked.longest)
	r.announceStep("refused writes and recovery")
	if err := p.halfDone(); err != nil {
		return err
	}
	return p.resumes()
}
