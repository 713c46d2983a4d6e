package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

// A source is who sends requests: a spec, or something that several specs share. Its name is in
// the context of its requests.
type source struct {
	name       string
	places     *atomic.Int64 // requests so far
	scheduler  Scheduler
	schedulers func(name string) Scheduler
}

// Scheduler is how a source sees time, and what it decides. A recording replaces it.
type Scheduler interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
	// Decide returns the choice, or that of the recorded run. It is for choices that depend on
	// what other sources do at the same time. about names the choice.
	Decide(about string, choice int) int
	// Apart returns the same scheduler for waits beside others of the source: they take no time
	// from each other.
	Apart() Scheduler
}

type sourceKey struct{}

// From returns a context whose requests the source sends.
func From(ctx context.Context, name string) context.Context {
	s := sourceOf(ctx)
	s.name, s.places = name, &atomic.Int64{}
	if s.schedulers != nil {
		s.scheduler = s.schedulers(name)
	}
	return context.WithValue(ctx, sourceKey{}, s)
}

// WithSchedulers returns a context that gives each source the scheduler of its name.
func WithSchedulers(ctx context.Context, schedulers func(name string) Scheduler) context.Context {
	return context.WithValue(ctx, sourceKey{}, source{schedulers: schedulers, scheduler: RealTime{}})
}

func sourceOf(ctx context.Context) source {
	if s, ok := ctx.Value(sourceKey{}).(source); ok {
		return s
	}
	return source{scheduler: RealTime{}}
}

// SourceOf returns the name of the source; "" for none.
func SourceOf(ctx context.Context) string { return sourceOf(ctx).name }

// NextPlace returns the place of the next request of the source. A source that sends requests at
// the same time takes their places before.
func NextPlace(ctx context.Context) int {
	if s := sourceOf(ctx); s.places != nil {
		return int(s.places.Add(1))
	}
	return 0
}

// Now returns the time as the source of the context sees it.
func Now(ctx context.Context) time.Time { return sourceOf(ctx).scheduler.Now() }

// Sleep waits for d or until the context ends. It returns the context's error,
// also if d is 0.
func Sleep(ctx context.Context, d time.Duration) error { return sourceOf(ctx).scheduler.Sleep(ctx, d) }

// Apart returns a context for waits beside others of its source (Scheduler.Apart).
func Apart(ctx context.Context) context.Context {
	s := sourceOf(ctx)
	s.scheduler = s.scheduler.Apart()
	return context.WithValue(ctx, sourceKey{}, s)
}

// Decide returns the choice of the source (Scheduler.Decide).
func Decide(ctx context.Context, about string, choice int) int {
	return sourceOf(ctx).scheduler.Decide(about, choice)
}

// RealTime is the scheduler of a source by the clock of the machine.
type RealTime struct{}

// Now is time.Now.
func (RealTime) Now() time.Time { return time.Now() }

// Apart returns the same.
func (r RealTime) Apart() Scheduler { return r }

// Decide returns the choice.
func (RealTime) Decide(_ string, choice int) int { return choice }

// Sleep waits for d or until the context ends.
func (RealTime) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// replayed returns what Options.Replay answers.
func (c *Client) replayed(ctx context.Context, req Request, wire *http.Request) (e Exchange) {
	all := c.opts.Replay(ctx, req, wire)
	for i := range all {
		e = all[i]
		e.Request, e.Wire, e.Source = req, wire, SourceOf(ctx)
		if !e.Sent.IsZero() {
			c.traffic.sent(e)
		}
		if i < len(all)-1 {
			c.traffic.waitedOut()
			c.observe(&e)
		}
	}
	return e
}

// kinds are the kinds of Exchange.Err by their names in a recording.
var kinds = map[string]error{"timeout": ErrTimeout, "unresolved": ErrUnresolved, "refused": ErrRefused, "tls": ErrTLS,
	"protocol": ErrProtocol, "encoding": ErrEncoding, "canceled": ErrCanceled, "throttled": ErrThrottled, "request": ErrRequest}

// Kind returns the name of the kind of Exchange.Err; empty for none.
func Kind(err error) string {
	for name, kind := range kinds {
		if errors.Is(err, kind) {
			return name
		}
	}
	return ""
}

// Recalled returns the Exchange.Err of that kind with that text.
func Recalled(kind, text string) error { return &failure{text: text, kind: kinds[kind]} }
