package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/infer/claims"
	"outreach.example/conformance/loadtest/measure"
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
	r        *runner
	list     spec.Operation // that is requested
	role     string
	requests map[infer.Subject]probe
	limited  profile.Key
	taken    bool // the target accepts the limited key
	passed   bool // the target has served the limited key
	seen     probesSeen
	blocked  blocked
	recovery recovery // known once the inference has ended
	monitor  *outage.Monitor
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

// status returns 200 for a request that the limiter accepted, whatever its real
// status.
func (p probe) status(status int) int {
	if status == p.served {
		return http.StatusOK
	}
	return status
}

// prepare builds the request of each subject in the profile.
func (p *prober) prepare(limited profile.Key) error {
	api, err := p.r.env.Bare(parallelProbes, "")
	if err != nil {
		return err
	}
	list := p.list
	p.add(infer.Main, api, list, limited.ForClient(), p.role)
	if other, found := p.otherList(); found {
		p.add(infer.OtherOperation, api, other, limited.ForClient(), p.role)
	}
	for _, k := range p.r.env.Profile.Keys {
		if k.Workspace == p.role && k.Name != limited.Name && k.State == profile.KeyActive && reads(k) {
			p.add(infer.OtherKey, api, list, k.ForClient(), p.role)
			break
		}
	}
	for _, role := range []string{dataset.Main, dataset.Second, dataset.Admin} {
		if k, ok := p.r.env.Profile.FullKey(role); ok && role != p.role {
			p.add(infer.OtherWorkspace, api, list, k.ForClient(), role)
			break
		}
	}
	if p.r.env.Profile.Writes != profile.WritesNone && p.r.env.Profile.Implements(spec.DeletePlacementTest) {
		op := spec.MustOperation(spec.DeletePlacementTest)
		request := client.Request{Operation: op.ID, Method: op.Method, Key: limited.ForClient(), NoRetry: true,
			Path: op.URLPath(prepare.UnusedID(p.r.env.Seed))}
		p.requests[infer.OtherMethod] = probe{api, request, judge.Request{Operation: op, Owner: p.owner(p.role)}, http.StatusNotFound}
	}
	if elsewhere, err := p.r.env.Bare(parallelProbes, otherLoopback); err == nil && onLoopback(p.r.env.BaseURL) {
		p.add(infer.OtherAddress, elsewhere, list, limited.ForClient(), p.role)
	}
	return nil
}

// otherList returns a list that is not the requested one.
func (p *prober) otherList() (spec.Operation, bool) {
	lists := append([]spec.Operation{spec.MustOperation(spec.ListLeadLabels)}, spec.Operations()...)
	i := slices.IndexFunc(lists, func(op spec.Operation) bool {
		return op.Answer == spec.Page && op.ID != p.list.ID && p.r.env.Profile.Implements(op.ID)
	})
	if i < 0 {
		return spec.Operation{}, false
	}
	return lists[i], true
}

// otherLoopback is a second local address for requests to a target on this
// machine.
const otherLoopback = "127.0.0.2"

func onLoopback(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost")
}

func reads(k profile.Key) bool {
	for _, s := range k.Scopes {
		if s == "all:all" || s == "all:read" {
			return true
		}
	}
	return false
}

func (p *prober) owner(role string) string { return p.r.env.Profile.Workspaces[role].ID }

// valid returns what is known about a valid request with a key of the role.
func (p *prober) valid(op spec.Operation, role string) judge.Request {
	owner := p.owner(role)
	return judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: owner, Admin: p.r.env.Profile.AdminOf(owner)}
}

// add adds a subject that reads the smallest page of a list.
func (p *prober) add(s infer.Subject, api *client.Client, op spec.Operation, key client.Key, role string) {
	p.requests[s] = probe{api,
		client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}}, Key: key, NoRetry: true},
		p.valid(op, role), http.StatusOK}
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
			seen[i] = infer.Observation{Subject: subject, Sent: ex.Sent, Received: ex.Sent.Add(ex.Took), Status: probe.status(ex.Status), Header: redacted(ex.Header)}
			if ex.Err != nil {
				seen[i].Failure = failureOf(ex)
			}
			if ex.Sent.IsZero() {
				seen[i].Sent, seen[i].Received = began, time.Now()
			}
		})
	}
	all.Wait()
	p.seen.add(seen)
	p.blocked.add(seen)
	p.watch(exchanges)
	if !p.takes(subjects, exchanges) {
		return seen // a wrong key is no violation by the target
	}
	p.passed = p.passed || slices.ContainsFunc(seen, func(o infer.Observation) bool { return o.Subject == infer.Main && o.Status == http.StatusOK })
	for i, subject := range subjects {
		if exchanges[i].Status != 0 {
			p.check(p.requests[subject].asked, exchanges[i])
		}
	}
	return seen
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

// takes reports whether the target accepts the limited key. If it refuses the
// key from the start, probing is aborted.
func (p *prober) takes(subjects []infer.Subject, exchanges []client.Exchange) bool {
	for i, subject := range subjects {
		switch ex := exchanges[i]; {
		case p.taken || subject != infer.Main || ex.Status == 0:
		case prepare.Refuses(ex):
			p.giveUp(fmt.Errorf("the target refuses %s with %d (run `outreach-conformance target check`)", p.limited.Label(), ex.Status))
			return false
		default:
			p.taken = true
		}
	}
	return true
}

// watch aborts probing if the target has died.
func (p *prober) watch(exchanges []client.Exchange) {
	for _, ex := range exchanges {
		if ex.Sent.IsZero() {
			continue
		}
		sent := ex.Sent.Sub(p.r.started)
		if err := p.monitor.Observe(sent, sent+ex.Took, ex.Status != 0); err != nil {
			p.giveUp(err)
		}
	}
}

// probesSeen counts the answers to probes for a live view.
type probesSeen struct{ accepted, limited, failed atomic.Int64 }

func (n *probesSeen) add(seen []infer.Observation) {
	for _, o := range seen {
		switch {
		case o.Status == http.StatusTooManyRequests:
			n.limited.Add(1)
		case o.Status >= 200 && o.Status < 300:
			n.accepted.Add(1)
		default:
			n.failed.Add(1)
		}
	}
}

func (n *probesSeen) counts() map[measure.Class]int64 {
	return map[measure.Class]int64{measure.Accepted: n.accepted.Load(), measure.Limited: n.limited.Load(), measure.Failed: n.failed.Load()}
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

// served sends the request until the answer is not 429. Its error is
// errBlocked, a tooLong or the context's; other errors are in the exchange.
func (p *prober) served(request client.Request) (client.Exchange, error) {
	request.NoRetry = true
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
