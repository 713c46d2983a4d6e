package runner

import (
	"context"
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
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/prepare"
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
	taken    bool            // the target accepts the limited key
	passed   bool            // the target has served the limited key
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

// add adds a subject that reads the smallest page of a list.
func (p *prober) add(s infer.Subject, api *client.Client, op spec.Operation, k profile.Key) {
	owner := p.owner(k)
	p.requests[s] = probe{api,
		client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}}, Key: k.ForClient(), NoRetry: true},
		judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: owner, Admin: p.r.env.Profile.AdminOf(owner)}, http.StatusOK}
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
