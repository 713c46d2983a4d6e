package infer

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/refserver/limiter"
)

// world is a server with a limiter, and the network to it, on virtual time.
type world struct {
	now     time.Time
	random  *rand.Rand
	trip    time.Duration // round trip; each one varies
	jitter  float64       // by so much of it, upward
	outlier float64       // the share of round trips that take ten times as long
	config  limiter.Config
	members map[string]*limiter.Limiter
	decide  func(at time.Time, s Subject) (bool, time.Duration) // replaces config
	sent    atomic.Int64
}

func newWorld(seed uint64, config limiter.Config, trip time.Duration) *world {
	random := rand.New(rand.NewPCG(seed, 7))
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.Int64N(int64(time.Hour))))
	return &world{now: start, random: random, trip: trip, jitter: 0.3, config: config, members: map[string]*limiter.Limiter{}}
}

func (w *world) wire(subjects ...Subject) Wire {
	return Wire{Send: w.send, Now: func() time.Time { return w.now }, Subjects: subjects,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			return ctx.Err()
		}}
}

// send decides on the shots in the order of their arrival.
func (w *world) send(_ context.Context, subjects []Subject) []Observation {
	type flight struct {
		index   int
		arrives time.Time
	}
	seen := make([]Observation, len(subjects))
	flights := make([]flight, len(subjects))
	for i, subject := range subjects {
		seen[i] = Observation{Subject: subject, Sent: w.now}
		flights[i] = flight{i, w.now.Add(w.leg())}
	}
	for len(flights) > 0 {
		next := 0
		for i := range flights {
			if flights[i].arrives.Before(flights[next].arrives) {
				next = i
			}
		}
		f := flights[next]
		flights = append(flights[:next], flights[next+1:]...)
		o := &seen[f.index]
		w.answer(o, f.arrives)
		o.Received = f.arrives.Add(w.leg())
		if o.Received.After(w.now) {
			w.now = o.Received
		}
	}
	w.sent.Add(int64(len(subjects)))
	return seen
}

func (w *world) leg() time.Duration {
	leg := float64(w.trip) / 2 * (1 + w.jitter*w.random.Float64())
	if w.random.Float64() < w.outlier {
		leg *= 10
	}
	return time.Duration(leg)
}

func (w *world) answer(o *Observation, at time.Time) {
	o.Status, o.Header = http.StatusOK, http.Header{}
	if w.decide != nil {
		if ok, _ := w.decide(at, o.Subject); !ok {
			o.Status = http.StatusTooManyRequests
		}
		return
	}
	member, ok := w.members[w.member(o.Subject)]
	if !ok {
		member = limiter.New(w.config)
		w.members[w.member(o.Subject)] = member
	}
	d := member.Decide(at)
	if !d.OK {
		o.Status = http.StatusTooManyRequests
		if !w.config.NoRetryAfter {
			o.Header.Set("Retry-After", seconds(d.RetryAfter))
		}
	}
	if w.config.Headers {
		o.Header.Set("Ratelimit-Limit", strconv.Itoa(d.Limit))
		o.Header.Set("Ratelimit-Remaining", strconv.Itoa(d.Remaining))
		o.Header.Set("Ratelimit-Reset", seconds(d.Reset))
	}
}

func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// member returns whose counter a subject uses in the world's scope.
func (w *world) member(s Subject) string {
	if s == OtherWorkspace {
		return "other"
	}
	separate := map[limiter.Scope][]Subject{
		limiter.PerKey: {OtherKey}, limiter.PerAddress: {OtherAddress}, limiter.PerOperation: {OtherOperation, OtherMethod},
	}
	for _, own := range separate[w.config.Scope] {
		if s == own {
			return string(s)
		}
	}
	return ""
}
