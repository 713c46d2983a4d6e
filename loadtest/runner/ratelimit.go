package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
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
		r.draft.Missing("rate_limit in the profile (a key that may exceed its limit)")
		return nil
	}
	var limitedKey profile.Key
	for _, k := range r.env.Profile.Keys {
		if k.Name == promise.Key {
			limitedKey = k
		}
	}
	if limitedKey.Token == "" {
		r.draft.Missing(fmt.Sprintf("the key %q, named by rate_limit", promise.Key))
		return nil
	}
	list, ok := r.env.Profile.AnyList(r.scenario.Probe)
	switch {
	case !ok:
		r.draft.Missing("a paged list that the target profile and --operation do not exclude")
		return nil
	case r.scenario.Probe != "" && list.ID != r.scenario.Probe:
		r.draft.Missing(fmt.Sprintf("the list %s to probe with, which the target profile or --operation excludes", r.scenario.Probe))
		return nil
	}
	if why := r.subjects.Limited(); why != "" {
		r.draft.Missing(fmt.Sprintf("exclusive use of the key %q: %s", promise.Key, why))
		return nil
	}
	p := &prober{r: r, list: list, role: limitedKey.Workspace, limited: limitedKey, requests: map[infer.Subject]probe{}, monitor: r.env.Generator.OutageMonitor()}
	p.ctx, p.giveUp = context.WithCancelCause(r.ctx)
	defer p.giveUp(nil)
	if err := p.prepare(limitedKey); err != nil {
		return err
	}
	defer p.close()
	left := r.env.Budget.Left() - afterwards
	if left < afterwards {
		return fmt.Errorf("%w: %d requests left, probing needs at least %d", prepare.ErrBudget, left+afterwards, 2*afterwards)
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
	r.draft.Result.Limiter = &result
	if p.ctx.Err() != nil {
		if dead := new(outage.Error); errors.As(context.Cause(p.ctx), &dead) {
			r.draft.NoteFirst(r.outages(r.scenario.Name, p.monitor.Outages())...)
		}
		return fmt.Errorf("probing was aborted: %w", context.Cause(p.ctx))
	}
	if err != nil {
		return err
	}
	if result.Total.Refused == 0 {
		r.draft.Void("no request got 429 within the budget: responses with 429 could not be checked")
		r.draft.Result.Unchecked = []string{refusedWritesCheck, recoveryCheck}
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

// noteOthers notes that another workspace is limited too. The specification
// leaves the scope of the counter open, so this is no failure.
func (p *prober) noteOthers(result load.Limiter) {
	for _, s := range result.Sharing {
		if s.Subject == string(infer.OtherWorkspace) && s.Shared.Value == infer.Shared {
			p.r.draft.Note("another workspace is limited too when this one exceeds its limit (the specification leaves that open)")
		}
	}
}

// What the last line of a run names if it was left unchecked.
const (
	refusedWritesCheck = "refused writes"
	recoveryCheck      = "recovery"
)

// mostToDrain limits the requests that drive a key over its limit again.
const mostToDrain = 2_000

// drain drives the key over its limit and returns a refusal. ok reports whether
// that succeeded.
func (p *prober) drain() (refusal http.Header, ok bool) {
	most := min(mostToDrain, p.r.env.Profile.RateLimit.Budget)
	for sent := 0; sent < most && p.r.env.Budget.Left() > afterwards/2; sent += parallelProbes / 4 {
		for _, o := range p.send(p.ctx, slices.Repeat([]infer.Subject{infer.Main}, parallelProbes/4)) {
			if o.Status == http.StatusTooManyRequests {
				return o.Header, true
			}
		}
	}
	return nil, false
}

// halfDone sends a write while the key is over its limit: a refused write must
// have no effect.
func (p *prober) halfDone() error {
	if p.r.env.Profile.Writes == profile.WritesNone {
		p.r.draft.Unchecked(refusedWritesCheck, "refused writes were not checked: writes: none in the profile")
		return nil
	}
	for _, id := range []string{spec.CreatePlacementTest, spec.ListPlacementTests, spec.DeletePlacementTest} {
		if !p.r.env.Profile.Implements(id) {
			p.r.draft.Unchecked(refusedWritesCheck, "refused writes were not checked: the target profile or --operation excludes %s", id)
			return nil
		}
	}
	op := spec.MustOperation(spec.CreatePlacementTest)
	main := p.requests[infer.Main]
	const attempts = 3
	for attempt := range attempts {
		name := owned.Name(fmt.Sprintf("conformance-load-refused-%d-", attempt), p.r.env.Run)
		refusal, refused := p.drain()
		if !refused {
			p.r.draft.Unchecked(refusedWritesCheck, "refused writes were not checked: the limit was not reached again")
			return nil
		}
		if why := p.obstacle(refusal, 0, 0); why != "" {
			p.r.draft.Unchecked(refusedWritesCheck, "refused writes were not checked: %s", why)
			return nil
		}
		// The cleanup after the run deletes what comes of it.
		if _, err := p.r.env.Journal.Open(journal.Entry{Do: journal.Create, Key: main.request.Key.Name, Home: p.owner(p.role)}); err != nil {
			return err
		}
		ex := main.api.Do(p.r.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: main.request.Key, NoRetry: true,
			Body: prepare.PlacementTestBody(p.r.env.Seed, uint64(attempt), name)})
		p.check(p.valid(op, p.role), ex)
		there, err := p.tests(name)
		if err != nil {
			return err
		}
		if ex.Status == http.StatusTooManyRequests {
			pair := spec.Pair{Requirement: "RATE-429", Operation: op.ID}
			p.r.ledger.Assessed(pair, 1)
			if len(there) > 0 {
				p.r.found(pair, reports.Violation{
					Expected: "no test, because the request was refused", Actual: "the list shows the test " + name, Curl: judge.Replay(pair.Requirement, ex)})
			}
		}
		if ex.Status == http.StatusTooManyRequests {
			return nil
		}
	}
	p.r.draft.Unchecked(refusedWritesCheck, "refused writes were not checked: no write beyond the limit was refused")
	return nil
}

// patiently sends with the limited key and waits until it is served.
func (p *prober) patiently(op spec.Operation, id string, query url.Values) (client.Exchange, error) {
	return p.served(client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Query: query,
		Key: p.requests[infer.Main].request.Key})
}

// tests returns the ids of the newest tests of that name.
func (p *prober) tests(name string) ([]string, error) {
	op := spec.MustOperation(spec.ListPlacementTests)
	ex, err := p.patiently(op, "", url.Values{"limit": {"100"}, "sort_order": {"desc"}})
	if err = cmp.Or(err, ex.Err); err != nil {
		return nil, fmt.Errorf("checking a refused write: %w", err)
	}
	var ids []string
	for _, row := range p.r.check(p.valid(op, p.role), ex).Rows {
		if id, ok := row["id"].(string); ok && row["name"] == name {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// resumes drives the key over its limit again and waits until it is served.
func (p *prober) resumes() error {
	if _, refused := p.drain(); !refused {
		p.r.draft.Unchecked(recoveryCheck, "recovery was not checked: the limit was not reached again")
		return nil
	}
	op := p.requests[infer.Main].asked.Operation
	ex, err := p.patiently(op, "", url.Values{"limit": {"1"}})
	var unawaited tooLong
	if errors.As(err, &unawaited) {
		p.r.draft.Unchecked(recoveryCheck, "recovery was not checked: %s", unawaited)
		return nil
	}
	pair := spec.Pair{Requirement: "RATE-RESUMES", Operation: op.ID}
	switch {
	case errors.Is(err, errBlocked):
		p.r.ledger.Assessed(pair, 1)
		p.r.found(pair, reports.Violation{Pointer: "status", Expected: "the request is served after the period has passed",
			Actual: err.Error(), Curl: judge.Replay(pair.Requirement, ex)})
	case cmp.Or(err, ex.Err) != nil:
		return fmt.Errorf("checking recovery: %w", cmp.Or(err, ex.Err))
	default:
		p.r.ledger.Assessed(pair, 1)
		p.r.check(p.valid(op, p.role), ex)
	}
	return nil
}
