package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/client"
	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/journal"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// parallelProbes is the most probes in flight at once.
const parallelProbes = 64

// afterwards is what is kept of the profile's budget, in requests, for what is
// looked at once the limiter is known.
const afterwards = 100

// prober sends the probes of the inference and keeps what the rules judge.
type prober struct {
	r        *runner
	role     string
	requests map[infer.Subject]probe
	seen     probesSeen
}

// probe is the request of one subject.
type probe struct {
	api     *client.Client
	request client.Request
	asked   judge.Asked
	served  int // status of a request that the limit let pass
}

// status is 200 for a request that was served, whatever that means for it.
func (p probe) status(status int) int {
	if status == p.served {
		return http.StatusOK
	}
	return status
}

// rateLimit provokes 429 answers with the key that the profile hands over for
// it, infers the limiter, and judges what an excess request gets.
func (r *runner) rateLimit() error {
	promise := r.env.Profile.RateLimit
	if promise == nil {
		r.missing("rate_limit in the profile: a key that may be driven to its limit")
		return nil
	}
	var limitedKey fixtures.Key
	for _, k := range r.env.Profile.Keys {
		if k.Name == promise.Key {
			limitedKey = k
		}
	}
	if limitedKey.Token == "" {
		r.missing(fmt.Sprintf("the key %q, which rate_limit names", promise.Key))
		return nil
	}
	p := &prober{r: r, role: limitedKey.Workspace, requests: map[infer.Subject]probe{}}
	if err := p.prepare(limitedKey); err != nil {
		return err
	}
	defer p.close()
	left := r.env.left() - afterwards
	if left < afterwards {
		return fmt.Errorf("the budget of %d requests does not suffice: %d are spent, and probing takes at least %d (load.budget)", r.env.Budget, r.env.spent, 2*afterwards)
	}
	wire := infer.Wire{Send: p.send, Now: time.Now, Sleep: sleep}
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
	result, err := infer.Run(r.ctx, wire, infer.Options{Log: r.announceStep, MaxRequests: int(min(int64(r.scenario.Budget), left)), MaxTime: r.scenario.Duration, MaxParallel: parallelProbes, Seed: r.env.Seed})
	r.out.Limiter = limiterOf(result)
	if err != nil {
		return err
	}
	if result.Total.Refused == 0 {
		r.void("no request was answered 429 within the budget: what an excess answer looks like could not be assessed")
		return nil
	}
	p.noteOthers(result)
	r.announceStep("what a refused write leaves, and whether service resumes")
	if err := p.halfDone(); err != nil {
		return err
	}
	return p.resumes()
}

// prepare builds the request of each subject that the profile has.
func (p *prober) prepare(limited fixtures.Key) error {
	api, err := p.r.env.Bare(parallelProbes, "")
	if err != nil {
		return err
	}
	list, other := spec.MustOperation(spec.ListLeadLists), spec.MustOperation(spec.ListLeadLabels)
	p.add(infer.Main, api, list, keyOf(limited), p.role)
	p.add(infer.OtherOperation, api, other, keyOf(limited), p.role)
	for _, k := range p.r.env.Profile.Keys {
		if k.Workspace == p.role && k.Name != limited.Name && k.State == fixtures.KeyActive && reads(k) {
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
	if p.r.env.Profile.Writes != fixtures.WritesNone {
		op := spec.MustOperation(spec.DeletePlacementTest)
		request := client.Request{Operation: op.ID, Method: op.Method, Key: keyOf(limited), NoRetry: true,
			Path: strings.Replace(op.Path, "{id}", nobodysID(p.r.env.Seed), 1)}
		p.requests[infer.OtherMethod] = probe{api, request, judge.Asked{Operation: op, Owner: p.owner(p.role)}, http.StatusNotFound}
	}
	if elsewhere, err := p.r.env.Bare(parallelProbes, otherLoopback); err == nil && onLoopback(p.r.env.BaseURL) {
		p.add(infer.OtherAddress, elsewhere, list, keyOf(limited), p.role)
	}
	return nil
}

// otherLoopback is a local address beside the usual one, from which a target on
// this machine can be asked.
const otherLoopback = "127.0.0.2"

func onLoopback(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost")
}

func reads(k fixtures.Key) bool {
	for _, s := range k.Scopes {
		if s == "all:all" || s == "all:read" {
			return true
		}
	}
	return false
}

func (p *prober) owner(role string) string { return p.r.env.Profile.Workspaces[role].ID }

// add enters a subject that reads the smallest page of a list.
func (p *prober) add(s infer.Subject, api *client.Client, op spec.Operation, key client.Key, role string) {
	p.requests[s] = probe{api,
		client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}}, Key: key, NoRetry: true},
		judge.Asked{Operation: op, Valid: true, Owner: p.owner(role)}, http.StatusOK}
}

func (p *prober) close() {
	for _, probe := range p.requests {
		probe.api.Close()
	}
}

// nobodysID is a version 7 UUID of a time before the service existed.
func nobodysID(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 0x6964))
	var id uuid.UUID
	for i := range id {
		id[i] = byte(rng.UintN(256))
	}
	copy(id[:6], []byte{0x00, 0x80, 0, 0, 0, id[5]})
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id.String()
}

// send is the Wire's: it sends each shot at its time and lets the rules look at
// the answers once all are there.
func (p *prober) send(ctx context.Context, shots []infer.Shot) []infer.Observation {
	p.r.env.spent += int64(len(shots))
	seen := make([]infer.Observation, len(shots))
	exchanges := make([]client.Exchange, len(shots))
	var all sync.WaitGroup
	for i, shot := range shots {
		all.Go(func() {
			seen[i] = infer.Observation{Subject: shot.Subject, Sent: time.Now()}
			if err := sleep(ctx, time.Until(shot.At)); err != nil {
				seen[i].Received, seen[i].Failure = time.Now(), "interrupted"
				return
			}
			probe := p.requests[shot.Subject]
			ex := probe.api.Do(ctx, probe.request)
			exchanges[i] = ex
			seen[i] = infer.Observation{Subject: shot.Subject, Sent: ex.Sent, Received: ex.Sent.Add(ex.Took), Status: probe.status(ex.Status), Header: ex.Header}
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
	for i, shot := range shots {
		if exchanges[i].Status != 0 {
			p.r.looked(p.requests[shot.Subject].asked, exchanges[i])
		}
	}
	return seen
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// noteOthers says when another workspace is refused too. The specification
// leaves the scope of the counter open, so that this fails nobody.
func (p *prober) noteOthers(result infer.Result) {
	for _, s := range result.Sharing {
		if s.Subject == infer.OtherWorkspace && s.Shared.Value == infer.Shared {
			p.r.note("another workspace is refused too when this one has used up its limit: the specification leaves that open, its users may not")
		}
	}
}

// mostToDrain bounds the requests with which a key is driven to its limit once more.
const mostToDrain = 2_000

// drain drives the key to its limit and reports whether that succeeded.
func (p *prober) drain() bool {
	most := min(mostToDrain, p.r.env.Profile.RateLimit.Budget)
	for sent := 0; sent < most && p.r.env.left() > afterwards/2; sent += parallelProbes / 4 {
		shots := make([]infer.Shot, parallelProbes/4)
		for i := range shots {
			shots[i].Subject = infer.Main
		}
		for _, o := range p.send(p.r.ctx, shots) {
			if o.Status == http.StatusTooManyRequests {
				return true
			}
		}
	}
	return false
}

// halfDone asks for a change while the key is at its limit: what is refused must
// not have happened.
func (p *prober) halfDone() error {
	if p.r.env.Profile.Writes == fixtures.WritesNone {
		p.r.note("whether a refused write is half done was not looked at: the profile says writes: none")
		return nil
	}
	op := spec.MustOperation(spec.CreatePlacementTest)
	main := p.requests[infer.Main]
	const attempts = 3
	for attempt := range attempts {
		name := fmt.Sprintf("conformance-load-%s-refused-%d", p.r.env.Run, attempt)
		entry, err := p.r.announce(journal.Entry{Do: journal.Create, Name: name, Key: main.request.Key.Name, Home: p.owner(p.role)})
		if err != nil {
			return err
		}
		if !p.drain() {
			return p.r.settle(entry)
		}
		ex := main.api.Do(p.r.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: main.request.Key, NoRetry: true,
			Body: encode(fixtures.PlacementTest(rand.New(rand.NewPCG(p.r.env.Seed, uint64(attempt))), name))})
		p.r.looked(judge.Asked{Operation: op, Valid: true, Owner: p.owner(p.role)}, ex)
		there, err := p.tests(name)
		if err != nil {
			return err
		}
		if ex.Status == http.StatusTooManyRequests {
			pair := spec.Pair{Requirement: "RATE-429", Operation: op.ID}
			p.r.ledger.Assessed(pair, 1)
			if len(there) > 0 {
				p.r.found(pair, reports.Violation{
					Expected: "no test, since the request was refused", Actual: "the list shows the test " + name, Curl: ex.Curl()})
			}
		}
		if err := p.remove(there); err != nil {
			return err
		}
		if err := p.r.settle(entry); err != nil {
			return err
		}
		if ex.Status == http.StatusTooManyRequests {
			return nil
		}
	}
	p.r.note("whether a refused write is half done could not be seen: a write beyond the limit was never refused")
	return nil
}

// patiently sends with the limited key and waits 429 answers out.
func (p *prober) patiently(op spec.Operation, id string, query url.Values) client.Exchange {
	request := client.Request{Operation: op.ID, Method: op.Method, Path: strings.Replace(op.Path, "{id}", id, 1), Query: query,
		Key: p.requests[infer.Main].request.Key}
	ex := p.r.env.Client.Do(p.r.ctx, request)
	p.r.env.spent += 1 + int64(ex.Throttled)
	return ex
}

// tests returns the ids of the newest tests of that name.
func (p *prober) tests(name string) ([]string, error) {
	op := spec.MustOperation(spec.ListPlacementTests)
	ex := p.patiently(op, "", url.Values{"limit": {"100"}, "sort_order": {"desc"}})
	if ex.Err != nil {
		return nil, fmt.Errorf("whether a refused write is half done: %w", ex.Err)
	}
	var ids []string
	for _, row := range p.r.looked(judge.Asked{Operation: op, Valid: true, Owner: p.owner(p.role)}, ex).Rows {
		if id, ok := row["id"].(string); ok && row["name"] == name {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (p *prober) remove(ids []string) error {
	for _, id := range ids {
		ex := p.patiently(spec.MustOperation(spec.DeletePlacementTest), url.PathEscape(id), nil)
		if ex.Err != nil || ex.Status != http.StatusOK && ex.Status != http.StatusNotFound {
			return errors.New("a test that a refused write left could not be deleted: `outreach-conformance cleanup` tries again")
		}
	}
	return nil
}

// settle notes in the journal that a change is undone.
func (r *runner) settle(entry int) error {
	if r.env.Journal == nil || entry == 0 {
		return nil
	}
	return r.env.Journal.Close(entry)
}

// resumes drives the key to its limit once more and waits, as Retry-After says,
// until it is served again.
func (p *prober) resumes() error {
	if !p.drain() {
		p.r.note("whether service resumes could not be looked at: the limit was not met again")
		return nil
	}
	op := spec.MustOperation(spec.ListLeadLists)
	ex := p.patiently(op, "", url.Values{"limit": {"1"}})
	pair := spec.Pair{Requirement: "RATE-RESUMES", Operation: op.ID}
	p.r.ledger.Assessed(pair, 1)
	switch {
	case errors.Is(ex.Err, client.ErrThrottled):
		p.r.found(pair, reports.Violation{Pointer: "status", Expected: "the request served once the period has passed",
			Actual: fmt.Sprintf("%d answers of 429, and no other", ex.Throttled), Curl: ex.Curl()})
	case ex.Err != nil:
		return fmt.Errorf("whether service resumes: %w", ex.Err)
	default:
		p.r.looked(judge.Asked{Operation: op, Valid: true, Owner: p.owner(p.role)}, ex)
	}
	return nil
}
