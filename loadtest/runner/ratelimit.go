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
	"outreach.example/conformance/loadtest/infer"
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
	left := r.env.Budget.Left() - afterwards
	if left < afterwards {
		return fmt.Errorf("%w: %d requests left, probing needs at least %d", prepare.ErrBudget, left+afterwards, 2*afterwards)
	}
	subjects := slices.DeleteFunc(infer.Others(), func(s infer.Subject) bool { return p.requests[s].api == nil })
	defer p.feed(r.env.Live)()
	step := func(name string) { r.env.Watch(r.scenario.Name, name) }
	result, err := infer.Run(p.ctx, infer.Wire{Send: p.send, Now: time.Now, Sleep: client.Sleep, Subjects: subjects}, infer.Options{
		Log: step, MaxRequests: int(min(int64(r.scenario.Budget), left)), MaxTime: r.scenario.Duration - timeAfterwards(r.scenario.Duration),
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
		r.draft.Result.Unchecked = []string{"refused writes", "recovery"}
		return nil
	}
	// The specification leaves the scope of the counter open, so this is no failure.
	if slices.ContainsFunc(result.Sharing, func(s load.Sharing) bool {
		return s.Subject == string(infer.OtherWorkspace) && s.Shared.Value == infer.Shared
	}) {
		r.draft.Note("another workspace is limited too when this one exceeds its limit (the specification leaves that open)")
	}
	p.recovery = recoveryOf(result, p.blocked.longest)
	step("refused writes and recovery")
	if why, err := p.refusedWrite(); err != nil {
		return err
	} else if why != "" {
		r.draft.Unchecked("refused writes", "refused writes were not checked: %s", why)
	}
	why, err := p.resumes()
	if why != "" {
		r.draft.Unchecked("recovery", "recovery was not checked: %s", why)
	}
	return err
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

// refusedWrite sends a write while the key is over its limit: a refused write must
// have no effect. why says why that was not checked; empty if it was.
func (p *prober) refusedWrite() (why string, err error) {
	env := p.r.env
	if env.Profile.Writes == profile.WritesNone {
		return "writes: none in the profile", nil
	}
	for _, id := range []string{spec.CreatePlacementTest, spec.ListPlacementTests, spec.DeletePlacementTest} {
		if !env.Profile.Implements(id) {
			return "the target profile or --operation excludes " + id, nil
		}
	}
	op := spec.MustOperation(spec.CreatePlacementTest)
	const attempts = 3
	for attempt := range attempts {
		name := owned.Name(fmt.Sprintf("conformance-load-refused-%d-", attempt), env.Run)
		refusal, refused := p.drain()
		if !refused {
			return notReached, nil
		}
		if why := p.obstacle(refusal, 0, 0); why != "" {
			return why, nil
		}
		// The cleanup after the run deletes what comes of it.
		if _, err := env.Journal.Open(journal.Entry{Do: journal.Create, Key: p.limited.Name, Home: p.owner(p.limited)}); err != nil {
			return "", err
		}
		ex := p.requests[infer.Main].api.Do(p.r.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: p.limited.ForClient(), NoRetry: true,
			Body: prepare.PlacementTestBody(env.Seed, uint64(attempt), name)})
		p.check(p.valid(op, p.limited), ex)
		there, err := p.shows(name)
		if err != nil {
			return "", fmt.Errorf("checking a refused write: %w", err)
		}
		if ex.Status == http.StatusTooManyRequests {
			pair := spec.Pair{Requirement: "RATE-429", Operation: op.ID}
			p.r.ledger.Assessed(pair, 1)
			if there {
				p.r.ledger.Violated(pair, reports.Violation{
					Expected: "no test, because the request was refused", Actual: "the list shows the test " + name, Curl: judge.Replay(pair.Requirement, ex)})
			}
			return "", nil
		}
	}
	return "no write beyond the limit was refused", nil
}

// notReached is why a check beyond the limit was left out.
const notReached = "the limit was not reached again"

// shows reports whether the newest tests include one of that name.
func (p *prober) shows(name string) (bool, error) {
	op := spec.MustOperation(spec.ListPlacementTests)
	ex, err := p.served(op, url.Values{"limit": {"100"}, "sort_order": {"desc"}})
	if err = cmp.Or(err, ex.Err); err != nil {
		return false, err
	}
	rows := p.r.check(p.valid(op, p.limited), ex).Rows
	return slices.ContainsFunc(rows, func(row map[string]any) bool { return row["name"] == name }), nil
}

// resumes drives the key over its limit again and waits until it is served. why says why
// that was not checked; empty if it was.
func (p *prober) resumes() (why string, err error) {
	if _, refused := p.drain(); !refused {
		return notReached, nil
	}
	ex, err := p.served(p.list, url.Values{"limit": {"1"}})
	if unawaited := (tooLong{}); errors.As(err, &unawaited) {
		return unawaited.why, nil
	}
	pair := spec.Pair{Requirement: "RATE-RESUMES", Operation: p.list.ID}
	if errors.Is(err, errBlocked) {
		p.r.ledger.Assessed(pair, 1)
		p.r.ledger.Violated(pair, reports.Violation{Pointer: "status", Expected: "the request is served after the period has passed",
			Actual: err.Error(), Curl: judge.Replay(pair.Requirement, ex)})
		return "", nil
	}
	if err = cmp.Or(err, ex.Err); err != nil {
		return "", fmt.Errorf("checking recovery: %w", err)
	}
	p.r.ledger.Assessed(pair, 1)
	p.r.check(p.valid(p.list, p.limited), ex)
	return "", nil
}
