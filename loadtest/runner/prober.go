package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/infer/claims"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// parallelProbes limits the probes in flight.
const parallelProbes = 64

// leastSustain is the minimum time to keep a limiter at its limit while looking
// for a slower layer. Long probing uses a quarter of its time.
const leastSustain = 20 * time.Second

// prober sends the probes of the inference and records what the rules find.
type prober struct {
	*direct
	r        *runner
	list     spec.Operation // that is requested
	limited  profile.Key
	requests map[infer.Subject]probe
	taken    bool // the target accepts the limited key
	passed   bool // the target has served the limited key
	blocked  blocked
	recovery recovery        // known once the inference has ended
	ctx      context.Context // ends with the run's context or when the target has died
	giveUp   context.CancelCauseFunc
}

// probe is the request of one subject.
type probe struct {
	api     *client.Client
	request client.Request
	asked   judge.Request
	served  int // status of a request that the limiter accepted
}

// prepare builds the request of each subject in the profile.
func (p *prober) prepare() error {
	api, err := p.r.env.Bare(parallelProbes, "")
	if err != nil {
		return err
	}
	env := p.r.env
	p.add(infer.Main, api, p.list, p.limited)
	// Another list, and rather a short one.
	lists := append([]spec.Operation{spec.MustOperation(spec.ListLeadLabels)}, spec.Operations()...)
	if i := slices.IndexFunc(lists, func(op spec.Operation) bool {
		return op.Answer == spec.Page && op.ID != p.list.ID && env.Profile.Implements(op.ID)
	}); i >= 0 {
		p.add(infer.OtherOperation, api, lists[i], p.limited)
	}
	if i := slices.IndexFunc(env.Profile.Keys, func(k profile.Key) bool {
		reads := slices.Contains(k.Scopes, "all:all") || slices.Contains(k.Scopes, "all:read")
		return k.Workspace == p.limited.Workspace && k.Name != p.limited.Name && k.State == profile.KeyActive && reads
	}); i >= 0 {
		p.add(infer.OtherKey, api, p.list, env.Profile.Keys[i])
	}
	for _, role := range []string{dataset.Main, dataset.Second, dataset.Admin} {
		if k, ok := env.Profile.FullKey(role); ok && role != p.limited.Workspace {
			p.add(infer.OtherWorkspace, api, p.list, k)
			break
		}
	}
	if env.Profile.Writes != profile.WritesNone && env.Profile.Implements(spec.DeletePlacementTest) {
		op := spec.MustOperation(spec.DeletePlacementTest)
		request := client.Request{Operation: op.ID, Method: op.Method, Key: p.limited.ForClient(), NoRetry: true, Path: op.URLPath(prepare.UnusedID(env.Seed))}
		p.requests[infer.OtherMethod] = probe{api, request, judge.Request{Operation: op, Owner: p.owner(p.limited)}, http.StatusNotFound}
	}
	if u, err := url.Parse(env.BaseURL); err == nil && (u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost") {
		if elsewhere, err := env.Bare(parallelProbes, otherLoopback); err == nil {
			p.add(infer.OtherAddress, elsewhere, p.list, p.limited)
		}
	}
	return nil
}

// otherLoopback is a second local address for requests to a target on this
// machine.
const otherLoopback = "127.0.0.2"

// owner returns the workspace of the key.
func (p *prober) owner(k profile.Key) string { return p.r.env.Profile.Workspaces[k.Workspace].ID }

// valid returns what is known about a valid request with the key.
func (p *prober) valid(op spec.Operation, k profile.Key) judge.Request {
	owner := p.owner(k)
	return judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: owner, Admin: p.r.env.Profile.AdminOf(owner)}
}

// add adds a subject that reads the smallest page of a list.
func (p *prober) add(s infer.Subject, api *client.Client, op spec.Operation, k profile.Key) {
	p.requests[s] = probe{api,
		client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}}, Key: k.ForClient(), NoRetry: true},
		p.valid(op, k), http.StatusOK}
}

func (p *prober) close() {
	for _, probe := range p.requests {
		probe.api.Close()
	}
}

// send implements infer.Wire. The rules check the answers after all have arrived.
func (p *prober) send(ctx context.Context, subjects []infer.Subject) []infer.Observation {
	seen := make([]infer.Observation, len(subjects))
	exchanges := make([]client.Exchange, len(subjects))
	var all sync.WaitGroup
	for i, subject := range subjects {
		all.Go(func() {
			began := time.Now()
			probe := p.requests[subject]
			ex := probe.api.Do(ctx, probe.request)
			exchanges[i] = ex
			status := ex.Status
			if status == probe.served {
				status = http.StatusOK
			}
			seen[i] = infer.Observation{Subject: subject, Sent: ex.Sent, Received: ex.Sent.Add(ex.Took), Status: status, Header: redacted(ex.Header)}
			if ex.Err != nil {
				seen[i].Failure = failureOf(ex)
			}
			if ex.Sent.IsZero() {
				seen[i].Sent, seen[i].Received = began, time.Now()
			}
		})
	}
	all.Wait()
	p.blocked.add(seen)
	for i, o := range seen {
		if err := p.record(string(o.Subject), o.Status, exchanges[i]); err != nil {
			p.giveUp(err)
		}
		if o.Subject != infer.Main || o.Status == 0 {
			continue
		}
		if !p.taken && prepare.Refuses(exchanges[i]) {
			p.giveUp(fmt.Errorf("the target refuses %s with %d (run `outreach-conformance target check`)", p.limited.Label(), o.Status))
			return seen // a wrong key is no violation by the target
		}
		p.taken, p.passed = true, p.passed || o.Status == http.StatusOK
	}
	for i, subject := range subjects {
		if exchanges[i].Status != 0 {
			p.check(p.requests[subject].asked, exchanges[i])
		}
	}
	return seen
}

// redacted returns the header with redacted values.
func redacted(h http.Header) http.Header {
	shown := http.Header{}
	for name, values := range h {
		for _, value := range values {
			shown.Add(name, redact.Process.Text(value))
		}
	}
	return shown
}

// check checks an answer. If the limited key gets a server error after it was
// served, it counts as the answer to an excess request, and the command that
// reproduces it sends the earlier requests too.
func (p *prober) check(asked judge.Request, ex client.Exchange) {
	if p.passed && ex.Status >= http.StatusInternalServerError && ex.Request.Key == p.limited.ForClient() {
		p.r.checkAs(asked, ex, func(string) string { return judge.ReplayExcess(ex) })
		return
	}
	p.r.check(asked, ex)
}

// errBlocked means that the key was refused for as long as the run waits.
var errBlocked = errors.New("the key stays blocked")

// tooLong explains why the run cannot wait for the key.
type tooLong struct{ why string }

func (t tooLong) Error() string { return t.why }

// blocked measures how long the key is refused.
type blocked struct {
	since   time.Time // zero while it is served
	longest time.Duration
}

func (s *blocked) add(seen []infer.Observation) {
	for _, o := range seen {
		switch {
		case o.Subject != infer.Main:
		case o.Status == http.StatusTooManyRequests && s.since.IsZero():
			s.since = o.Sent
		case o.Status == http.StatusOK && !s.since.IsZero():
			s.longest = max(s.longest, o.Received.Sub(s.since))
			s.since = time.Time{}
		}
	}
}

// recovery is what the probes found out about when the limiter serves again.
type recovery struct {
	typical  time.Duration // a wait that sufficed after each drain; 0 if unknown
	longest  time.Duration // longest time the key was blocked, or window of a layer; 0 for never
	believed bool          // Retry-After was never wrong
}

// recoveryOf combines the inference with how long the key was blocked.
func recoveryOf(result load.Limiter, blocked time.Duration) recovery {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	verdict := result.RetryAfter.Verdict
	rec := recovery{typical: seconds(result.Recovery.High), longest: max(blocked, seconds(result.Recovery.High)),
		believed: verdict.Value == "" || verdict.Value == infer.Honest}
	for _, l := range result.Layers {
		if l.Window.Known {
			rec.longest = max(rec.longest, seconds(l.Window.High))
		}
	}
	if rec.typical == 0 {
		rec.typical = rec.longest
	}
	return rec
}

const (
	firstWait = 250 * time.Millisecond // if nothing is known about the limiter
	longWait  = 30 * time.Second       // the longest wait without a promise
)

// wait returns how long to rest after the n-th refusal in a row, from 0:
// Retry-After if it is credible, else a wait that sufficed before, doubled each
// time.
func (rec recovery) wait(refusal http.Header, n int) (d time.Duration, promised bool) {
	if says := claims.Parse(refusal, time.Now()).RetryAfter; rec.believed && says != nil && *says > 0 {
		return *says, true
	}
	d = firstWait
	if rec.typical > 0 {
		d = margin(rec.typical)
	}
	return max(d, min(d<<min(n, 16), longWait)), false
}

// margin adds a tolerance to a measured time.
func margin(d time.Duration) time.Duration { return d + d/10 + 50*time.Millisecond }

// obstacle returns why the run cannot wait after the n-th refusal in a row;
// empty if it can. blocked is how long the key has been refused. The scenario's
// duration limits a promised or known wait. A key that stays blocked for longer
// than was ever promised or seen is watched for as long as the client waits.
func (p *prober) obstacle(refusal http.Header, n int, blocked time.Duration) string {
	wait, promised := p.recovery.wait(refusal, n)
	known := p.recovery.longest
	left := time.Until(p.r.started.Add(p.r.scenario.Duration))
	longest, _ := p.r.env.Client.ThrottleLimits()
	why := ""
	switch {
	case promised && wait > blocked:
		why = "Retry-After says " + printable.Seconds(wait)
	case !promised && known > 0 && blocked < margin(known):
		why = "the limiter blocks for up to " + printable.Seconds(known)
	default:
		return ""
	}
	switch {
	case wait > left && left > 0:
		return fmt.Sprintf("%s, but only %s of the scenario's duration are left (use a longer --duration)", why, printable.Seconds(left))
	case wait > left:
		return why + ", but the scenario's duration is used up (use a longer --duration)"
	case blocked+wait > longest:
		return fmt.Sprintf("%s, longer than the maximum wait of %s", why, printable.Seconds(longest))
	}
	return ""
}

// served sends a request with the limited key until the answer is not 429. Its error is
// errBlocked, a tooLong or the context's; other errors are in the exchange.
func (p *prober) served(op spec.Operation, query url.Values) (client.Exchange, error) {
	request := client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: query, Key: p.limited.ForClient(), NoRetry: true}
	began := time.Now()
	longest, answers := p.r.env.Client.ThrottleLimits()
	for n := 0; ; n++ {
		ex := p.r.env.Client.Do(p.r.ctx, request)
		ex.Throttled = n
		if ex.Err != nil || ex.Status != http.StatusTooManyRequests {
			return ex, nil
		}
		blocked := time.Since(began)
		if why := p.obstacle(ex.Header, n, blocked); why != "" {
			return ex, tooLong{why}
		}
		wait, _ := p.recovery.wait(ex.Header, n)
		if n >= answers || blocked+wait > longest {
			return ex, fmt.Errorf("%w: %d responses in %s, all 429", errBlocked, n+1, printable.Seconds(blocked))
		}
		if err := client.Sleep(p.r.ctx, wait); err != nil {
			return ex, err
		}
	}
}
