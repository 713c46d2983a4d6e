package generate

import (
	"context"
	"math"
	"runtime"
	"time"

	"outreach.example/conformance/loadtest/schedule"
)

const (
	// window and haste bound how fast a generator that is behind catches up: no
	// window holds more than haste times the requests that the rate puts there.
	// A burst of overdue requests would meet limits that the schedule never
	// touches.
	window = 10 * time.Millisecond
	haste  = 1.25
	// grace is how long after its end a phase still sends what is overdue.
	grace = time.Second
)

// pacer is the vegeta.Pacer that follows a schedule. One goroutine uses it, and
// waits in it: Vegeta's own waiting is good to a millisecond.
type pacer struct {
	ctx      context.Context
	schedule schedule.Schedule
	planned  uint64
	start    time.Time
	end      time.Time // nothing is sent after it
	segment  int       // the one in which the next request is due
	until    time.Duration

	sent []time.Time // a ring of when the last requests went out
	last uint64      // the hit that was let go last, counted from 1
	nap  *time.Timer
	fine func(time.Duration) // sleeps for a short time, or less
}

func newPacer(ctx context.Context, s schedule.Schedule, start time.Time, grace time.Duration, fine func(time.Duration)) *pacer {
	p := &pacer{ctx: ctx, fine: fine, schedule: s, planned: uint64(s.Planned()), start: start, end: start.Add(s.Duration() + grace)}
	p.until = s.Segments[0].Duration
	most := 0
	for _, g := range s.Segments {
		most = max(most, p.atOnce(g.Rate))
	}
	p.sent = make([]time.Time, most)
	p.nap = time.NewTimer(time.Hour)
	return p
}

// atOnce is how many requests a window may hold at the rate of the whole plan:
// always more than the rate puts there, or what is late would stay late.
func (p *pacer) atOnce(rate float64) int {
	due := rate / float64(max(p.schedule.Of, 1)) * window.Seconds()
	return max(int(math.Floor(haste*due)), int(math.Floor(due))+1)
}

// Pace implements vegeta.Pacer: it returns when the hit is to go out.
func (p *pacer) Pace(_ time.Duration, hits uint64) (time.Duration, bool) {
	if hits >= p.planned {
		return 0, true
	}
	if hits+1 == p.last {
		// No worker was free and Vegeta has started one: let it come up.
		runtime.Gosched()
		return 0, p.over(time.Now())
	}
	at := p.when(hits)
	p.sleepUntil(at)
	now := time.Now()
	p.sent[hits%uint64(len(p.sent))] = now
	p.last = hits + 1
	return 0, p.over(now)
}

// when is the time at which the hit may go out.
func (p *pacer) when(hits uint64) time.Time {
	due := p.schedule.Due(hits)
	for due >= p.until && p.segment+1 < len(p.schedule.Segments) {
		p.segment++
		p.until += p.schedule.Segments[p.segment].Duration
	}
	at := p.start.Add(due)
	back := uint64(p.atOnce(p.schedule.Segments[p.segment].Rate))
	if hits < back {
		return at
	}
	if earliest := p.sent[(hits-back)%uint64(len(p.sent))].Add(window); earliest.After(at) {
		return earliest
	}
	return at
}

func (p *pacer) over(now time.Time) bool { return p.ctx.Err() != nil || now.After(p.end) }

// sleepUntil waits for the time or the end of the context. Go's timers are good
// to a millisecond in a process that is idle, so that the last stretch is left
// to the system, which is good to a twentieth of that.
func (p *pacer) sleepUntil(at time.Time) {
	const lastStretch = 2 * time.Millisecond
	if d := time.Until(at) - lastStretch; d > 0 {
		p.nap.Reset(d)
		select {
		case <-p.nap.C:
		case <-p.ctx.Done():
			return
		}
	}
	runtime.Gosched() // the worker that was just woken goes first
	for d := time.Until(at); d > 0; d = time.Until(at) {
		p.fine(d)
	}
}

// Rate implements vegeta.Pacer; the engine does not ask.
func (p *pacer) Rate(elapsed time.Duration) float64 {
	for _, g := range p.schedule.Segments {
		if elapsed < g.Duration {
			return g.Rate / float64(max(p.schedule.Of, 1))
		}
		elapsed -= g.Duration
	}
	return 0
}
