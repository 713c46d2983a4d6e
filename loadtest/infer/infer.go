// Package infer infers from outside how a server limits the rate of requests:
// the algorithm, limit and window, the number of layers, who shares the
// counter, whether refused requests count, and whether Retry-After and the
// RateLimit headers are true.
//
// It treats the limiter as a deterministic automaton with its own counter. An
// observation is a request with the time it was sent and the time its answer
// was received; the decision fell in between. An algorithm is accepted only if
// some observation rules out every other one. A figure is the range of values
// that no observation rules out. If two algorithms remain, or none, the answer
// is unknown and comes with the reason.
//
// The package sends nothing and has no clock: both come with the Wire, so the
// same code runs on virtual time in a simulation and on the wall clock. It
// imports the results model and package family.
package infer

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// Subject is one kind of request that the Wire can send. Main is probed. Each
// of the others differs from it in one respect and shows whether the limiter
// counts by that respect.
type Subject string

// The subjects.
const (
	Main           Subject = "main"            // key A, a cheap read
	OtherKey       Subject = "other-key"       // another key of the same workspace
	OtherWorkspace Subject = "other-workspace" // a key of another workspace
	OtherOperation Subject = "other-operation" // key A, another operation
	OtherMethod    Subject = "other-method"    // key A, another method
	OtherAddress   Subject = "other-address"   // key A, from another local address
)

// Others returns every subject but Main, in the order of reports.
func Others() []Subject {
	return []Subject{OtherKey, OtherWorkspace, OtherOperation, OtherMethod, OtherAddress}
}

// The values of load.Limiter.Verdict.
const (
	RateLimited        = "rate-limited"        // Layers holds what is known of the limiter
	NoLimit            = "no-limit-seen"       // Beyond holds what was tried
	ConcurrencyLimited = "concurrency-limited" // only concurrent requests are refused; Concurrency holds how many pass
	Queued             = "slowed-down"         // excess requests wait, or the server is at capacity
)

// Observation is the result of a request.
type Observation struct {
	Subject  Subject
	Sent     time.Time   // not after the request left
	Received time.Time   // not before the answer's header or the failure arrived
	Status   int         // 0: no answer
	Header   http.Header // of the answer; names in canonical form
	Failure  string      // why there is no answer; else empty
}

// Wire connects the inference to the world. Now, Sleep and the times of
// observations must use one clock.
type Wire struct {
	// Send sends a request of each subject at once, without waiting for the
	// answers to the others, and returns their observations in the same order.
	// It must not retry or delay requests (no pacing; one connection per
	// request in flight). When the context ends it returns soon and marks
	// missing answers as failed.
	Send func(ctx context.Context, subjects []Subject) []Observation
	Now  func() time.Time
	// Sleep returns after d, or with the context's error as soon as it ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Subjects are the subjects that Send supports besides Main.
	Subjects []Subject
}

// Options limit the probing. The zero value means the defaults.
type Options struct {
	MaxRequests int           // maximum number of requests; default 5,000
	MaxTime     time.Duration // maximum duration; default 2 minutes
	MaxParallel int           // maximum requests in flight; default 64
	// Sustain is how long to stay at the limit to look for a slower layer;
	// default 20 seconds.
	Sustain time.Duration
	Seed    uint64 // of the random variation of probes
	// Log receives the name of each step; may be nil.
	Log func(step string)
}

func (o Options) withDefaults() Options {
	o.MaxRequests = cmp.Or(o.MaxRequests, 5000)
	o.MaxTime = cmp.Or(o.MaxTime, 2*time.Minute)
	o.MaxParallel = cmp.Or(o.MaxParallel, 64)
	o.Sustain = cmp.Or(o.Sustain, 20*time.Second)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return o
}

// Run probes a limiter through the wire. The key should be quiet: other traffic
// on it makes the answer unknown. Run stops at its budgets and returns what is
// known so far. An error means that the context ended; the result is valid then
// too.
func Run(ctx context.Context, w Wire, o Options) (load.Limiter, error) {
	s := newSearch(newProber(ctx, w, o.withDefaults()))
	var l load.Limiter
	end := s.run()
	l.Inference = s.spent()
	switch {
	case errors.Is(end, errNoLimit):
		l.Verdict, l.Beyond = s.noLimit()
	case errors.Is(end, errConcurrency):
		l.Verdict, l.Concurrency = s.concurrencyAnswer()
	case l.Inference.Refused == 0:
		l.Verdict = unknown("%s", s.reason(end))
	default:
		l.Verdict = known(RateLimited, sure, "requests were refused with 429")
		if l.Layers = []load.Layer{s.layer(end)}; end == nil {
			l.Layers, l.Beyond = s.layers()
		}
	}
	l.Sharing, l.Scope = s.sharing()
	l.Recovery = s.recoveryTime()
	l.RetryAfter = s.retryAfter(l.Recovery)
	l.Headers = s.headerClaims(l.Layers)
	l.RoundTrip = s.roundTrip()
	l.Total = s.spent()
	l.Probes = s.probes()
	l.Notes = s.notes()
	l.Summary = summary(l)
	return l, ctx.Err()
}

// mostProbes bounds the observations in a result.
const mostProbes = 2000

// probes returns an even, bounded selection of the observations.
func (p *prober) probes() []load.Probe {
	verdicts := map[family.Verdict]string{family.Accepted: "accepted", family.Refused: "limited", family.Unknown: "failed"}
	step := (len(p.seen) + mostProbes - 1) / mostProbes
	var probes []load.Probe
	for i := 0; i < len(p.seen); i += step {
		r := p.seen[i]
		probes = append(probes, load.Probe{Seconds: r.sent.Seconds(), ReceivedSeconds: r.received.Seconds(), Subject: string(r.subject),
			Verdict: verdicts[r.verdict], Phase: r.step})
	}
	slices.SortStableFunc(probes, func(a, b load.Probe) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return probes
}

func (p *prober) roundTrip() load.Finding {
	trips := p.trips()
	if len(trips) == 0 {
		return load.Finding{Unit: "s", Why: "no request was answered"}
	}
	seconds := make([]float64, len(trips))
	for i, trip := range trips {
		seconds[i] = trip.Seconds()
	}
	return typical(seconds, 1, "median; the interval is the minimum and maximum")
}

// notes returns remarks beside the answers.
func (p *prober) notes() []string {
	var notes []string
	failed, broken := 0, 0
	for _, r := range p.seen {
		switch {
		case r.status == 0:
			failed++
		case r.status >= http.StatusInternalServerError:
			broken++
		}
	}
	if failed > 0 {
		notes = append(notes, plural(failed, "request")+" had no response (they may have counted)")
	}
	if broken > 0 {
		notes = append(notes, plural(broken, "response")+" had status 500 or above")
	}
	return notes
}
