package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/infer"
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
	served  int // status of a request that the limit let pass
}

// status returns 200 for a request that the limiter let pass, whatever its real
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
	list, other := spec.MustOperation(spec.ListLeadLists), spec.MustOperation(spec.ListLeadLabels)
	p.add(infer.Main, api, list, keyOf(limited), p.role)
	p.add(infer.OtherOperation, api, other, keyOf(limited), p.role)
	for _, k := range p.r.env.Profile.Keys {
		if k.Workspace == p.role && k.Name != limited.Name && k.State == profile.KeyActive && reads(k) {
			p.add(infer.OtherKey, api, list, keyOf(k), p.role)
			break
		}
	}
	for _, role := range []string{dataset.Main, dataset.Second, dataset.Admin} {
		if k, ok := p.r.env.Profile.FullKey(role); ok && role != p.role {
			p.add(infer.OtherWorkspace, api, list, keyOf(k), role)
			break
		}
	}
	if p.r.env.Profile.Writes != profile.WritesNone {
		op := spec.MustOperation(spec.DeletePlacementTest)
		request := client.Request{Operation: op.ID, Method: op.Method, Key: keyOf(limited), NoRetry: true,
			Path: op.URLPath(unusedID(p.r.env.Seed))}
		p.requests[infer.OtherMethod] = probe{api, request, judge.Request{Operation: op, Owner: p.owner(p.role)}, http.StatusNotFound}
	}
	if elsewhere, err := p.r.env.Bare(parallelProbes, otherLoopback); err == nil && onLoopback(p.r.env.BaseURL) {
		p.add(infer.OtherAddress, elsewhere, list, keyOf(limited), p.role)
	}
	return nil
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

// add adds a subject that reads the smallest page of a list.
func (p *prober) add(s infer.Subject, api *client.Client, op spec.Operation, key client.Key, role string) {
	p.requests[s] = probe{api,
		client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}}, Key: key, NoRetry: true},
		judge.Request{Operation: op, Valid: true, Owner: p.owner(role)}, http.StatusOK}
}

func (p *prober) close() {
	for _, probe := range p.requests {
		probe.api.Close()
	}
}

// unusedID returns a version 7 UUID from before the service existed.
func unusedID(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 0x6964))
	var id uuid.UUID
	for i := range id {
		id[i] = byte(rng.UintN(256))
	}
	copy(id[:6], []byte{0x00, 0x80, 0, 0, 0, id[5]})
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id.String()
}

// send implements infer.Wire: it sends each shot at its time. The rules check
// the answers after all have arrived.
func (p *prober) send(ctx context.Context, shots []infer.Shot) []infer.Observation {
	seen := make([]infer.Observation, len(shots))
	exchanges := make([]client.Exchange, len(shots))
	var all sync.WaitGroup
	for i, shot := range shots {
		all.Go(func() {
			seen[i] = infer.Observation{Subject: shot.Subject, Sent: time.Now()}
			if err := client.Sleep(ctx, time.Until(shot.At)); err != nil {
				seen[i].Received, seen[i].Failure = time.Now(), "interrupted"
				return
			}
			probe := p.requests[shot.Subject]
			ex := probe.api.Do(ctx, probe.request)
			exchanges[i] = ex
			seen[i] = infer.Observation{Subject: shot.Subject, Sent: ex.Sent, Received: ex.Sent.Add(ex.Took), Status: probe.status(ex.Status), Header: p.r.redactAll(ex.Header)}
			if ex.Err != nil {
				seen[i].Failure = failureOf(ex)
				if ex.Sent.IsZero() {
					seen[i].Sent, seen[i].Received = time.Now(), time.Now()
				}
			}
		})
	}
	all.Wait()
	p.seen.add(seen)
	p.blocked.add(seen)
	p.watch(exchanges)
	if !p.takes(shots, exchanges) {
		return seen // a wrong key is no violation by the target
	}
	p.passed = p.passed || slices.ContainsFunc(seen, func(o infer.Observation) bool { return o.Subject == infer.Main && o.Status == http.StatusOK })
	for i, shot := range shots {
		if exchanges[i].Status != 0 {
			p.looked(p.requests[shot.Subject].asked, exchanges[i])
		}
	}
	return seen
}

// looked checks an answer. If the limited key gets a server error after it was
// served, it counts as the answer to an excess request, and the command that
// reproduces it sends the earlier requests too.
func (p *prober) looked(asked judge.Request, ex client.Exchange) {
	if p.passed && ex.Status >= http.StatusInternalServerError && ex.Request.Key == keyOf(p.limited) {
		p.r.lookedAs(asked, ex, func(string) string { return judge.ReplayExcess(ex) })
		return
	}
	p.r.looked(asked, ex)
}

// takes reports whether the target accepts the limited key. If it refuses the
// key from the start, probing is aborted.
func (p *prober) takes(shots []infer.Shot, exchanges []client.Exchange) bool {
	for i, shot := range shots {
		switch ex := exchanges[i]; {
		case p.taken || shot.Subject != infer.Main || ex.Status == 0:
		case refuses(ex):
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
