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
// imports only its own sub-packages.
package infer

import (
	"context"
	"errors"
	"net/http"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
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

// Shot is a request to send.
type Shot struct {
	Subject Subject
	At      time.Time // when to send it; immediately if that has passed
}

// Observation is the result of a Shot.
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
	// Send sends each request at its time, without waiting for the answers to
	// the others, and returns one observation per shot, in the same order. It
	// must not retry or delay requests (no pacing; one connection per request
	// in flight). When the context ends it returns soon and marks missing
	// answers as failed.
	Send func(ctx context.Context, shots []Shot) []Observation
	Now  func() time.Time
	// Sleep returns after d, or with the context's error as soon as it ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Subjects are the subjects that Send supports besides Main.
	Subjects []Subject
}

func (w Wire) has(s Subject) bool {
	for _, known := range w.Subjects {
		if known == s {
			return true
		}
	}
	return false
}

// Options limit the probing. The zero value means the defaults.
type Options struct {
	MaxRequests int           // maximum number of requests; default 5,000
	MaxTime     time.Duration // maximum duration; default 2 minutes
	MaxParallel int           // maximum requests in flight; default 64
	Drains      int           // drains for scope, Retry-After and recovery; default and minimum 5
	// Sustain is how long to stay at the limit to look for a slower layer;
	// default 20 seconds.
	Sustain time.Duration
	Seed    uint64 // of the random variation of probes
	Picture int    // maximum observations for the plot; default 2,000
	// Log receives the name of each step; may be nil.
	Log func(step string)
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxRequests < 0 || o.MaxTime < 0 || o.MaxParallel < 0 || o.Drains < 0 || o.Picture < 0 || o.Sustain < 0 {
		return o, errors.New("infer: negative budget")
	}
	set := func(value *int, standard int) {
		if *value == 0 {
			*value = standard
		}
	}
	set(&o.MaxRequests, 5000)
	set(&o.MaxParallel, 64)
	set(&o.Drains, 5)
	set(&o.Picture, 2000)
	if o.MaxTime == 0 {
		o.MaxTime = 2 * time.Minute
	}
	if o.Sustain == 0 {
		o.Sustain = 20 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return o, nil
}

// Run probes a limiter through the wire. The key should be quiet: other traffic
// on it makes the answer unknown. Run stops at its budgets and returns what is
// known so far. An error means that the wire or the options are invalid or that
// the context ended; the result is valid then too.
func Run(ctx context.Context, w Wire, o Options) (Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Result{}, err
	}
	if w.Send == nil || w.Now == nil || w.Sleep == nil {
		return Result{}, errors.New("infer: a wire needs Send, Now and Sleep")
	}
	s := newSearch(ctx, w, o)
	result := Result{}
	end := s.run()
	result.Inference = s.spent()
	switch {
	case errors.Is(end, errNoLimit):
		result.Verdict, result.Beyond = s.noLimit()
	case errors.Is(end, errConcurrency):
		result.Verdict, result.Concurrency = s.concurrencyAnswer()
	case count(s.seen, family.Refused) == 0:
		result.Verdict = Answer{Why: reason(s, end)}
	default:
		result.Verdict = Answer{Value: RateLimited, Confidence: sure, Why: "requests were refused with 429"}
		s.layers(&result, end)
	}
	result.Sharing, result.Scope = s.sharing()
	result.RetryAfter = s.retryAfter()
	result.Recovery = s.recoveryTime()
	result.Headers = s.headerClaims(result.Layers)
	result.RoundTrip = s.roundTrip()
	result.Total = s.spent()
	result.Picture = s.picture()
	result.Notes = append(s.notes(), s.unreached(result.Layers)...)
	return result, ctx.Err()
}

// layers continues after the search for the fast layer: with drains, which test
// it again, and with slower layers.
func (s *search) layers(result *Result, end error) {
	result.Layers = []Layer{s.layer(end)}
	if end != nil {
		return
	}
	s.fast, s.understood = s.fits, s.now()
	end = s.observeCycles()
	// A slower layer may now contradict the fast one.
	contradicted := errors.Is(end, errForeign)
	if end != nil && !contradicted || len(s.fast) > mostFast {
		s.tell(result, end)
		return
	}
	s.fits = s.fast
	if end = s.layersBehind(result, contradicted); contradicted && end == nil {
		_ = s.observeCycles() // what was not visible before; the layers stay
	}
}

// mostFast limits the fits of the fast layer that are left when a slower one is
// sought: uncertainty about the first cannot be separated from the second.
const mostFast = 6

// picture returns an even, bounded selection of the observations.
func (p *prober) picture() []Point {
	step := max(1, (len(p.seen)+p.options.Picture-1)/p.options.Picture)
	points := make([]Point, 0, len(p.seen)/step+1)
	for i := 0; i < len(p.seen); i += step {
		r := p.seen[i]
		verdict := map[family.Verdict]string{family.Accepted: "accepted", family.Refused: "limited", family.Unknown: "failed"}[r.verdict]
		points = append(points, Point{Sent: r.sent.Seconds(), Received: r.received.Seconds(), Subject: r.subject, Verdict: verdict, Step: r.step})
	}
	return points
}

func (p *prober) roundTrip() Estimate {
	trip := medianTrip(p.seen)
	if trip == 0 {
		return Estimate{Unit: "s", Why: "no request was answered"}
	}
	low, high := trip, trip
	for _, r := range p.seen {
		if r.status != 0 {
			low, high = min(low, r.received-r.sent), max(high, r.received-r.sent)
		}
	}
	return Estimate{Known: true, Value: trip.Seconds(), Low: low.Seconds(), High: high.Seconds(), Confidence: 1, Unit: "s",
		Why: "median; the interval is the minimum and maximum"}
}

// notes returns remarks beside the answers.
func (p *prober) notes() []string {
	var notes []string
	failed, broken := 0, 0
	for _, r := range p.seen {
		switch {
		case r.status == 0:
			failed++
		case r.status >= 500:
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
