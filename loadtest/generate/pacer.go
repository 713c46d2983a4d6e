package generate

import (
	"context"
	"math"
	"runtime"
	"time"

	"outreach.example/conformance/loadtest/measure"
)

const (
	// No catchUpWindow holds more than maxCatchUp times the requests that the rate
	// puts into it. A burst of overdue requests would meet limits that the schedule
	// never touches.
	catchUpWindow = 10 * time.Millisecond
	maxCatchUp    = 1.25
	// DefaultLateTolerance is how long after its end a phase still sends overdue requests.
	DefaultLateTolerance = time.Second
)

// pacer is the schedule as the vegeta.Pacer of one phase: it adds a start, a bound
// on catching up, and exact waiting. Vegeta's own waiting is exact to 1 ms, so the
// pacer waits itself. It is for one goroutine.
type pacer struct {
	measure.Schedule
	ctx   context.Context
	start time.Time
	end   time.Time // nothing is sent after it

	sent  []time.Time // a ring of the times of the last requests
	last  uint64      // the last hit that was let go, counted from 1
	timer *time.Timer
	fine  func(time.Duration) // waits for a short time, or less
}

func newPacer(ctx context.Context, s measure.Schedule, start time.Time, tolerance time.Duration, fine func(time.Duration)) *pacer {
	p := &pacer{Schedule: s, ctx: ctx, start: start, end: start.Add(s.Duration() + tolerance), timer: time.NewTimer(time.Hour), fine: fine}
	most := 0
	var from time.Duration
	for _, segment := range s.Segments {
		most = max(most, p.atOnce(from))
		from += segment.Duration
	}
	p.sent = make([]time.Time, most)
	return p
}

// atOnce returns how many requests a window may hold at that time. It is always
// more than the rate puts there, or the late requests would stay late.
func (p *pacer) atOnce(at time.Duration) int {
	due := p.Rate(at) * catchUpWindow.Seconds()
	return max(int(math.Floor(maxCatchUp*due)), int(math.Floor(due))+1)
}

// Pace implements vegeta.Pacer. It returns when the hit is to be sent.
func (p *pacer) Pace(_ time.Duration, hits uint64) (time.Duration, bool) {
	now := time.Now()
	elapsed := now.Sub(p.start) // Vegeta's clock starts before the phase does
	wait, stop := p.Schedule.Pace(elapsed, hits)
	if stop {
		return 0, true
	}
	if hits+1 == p.last {
		// No worker was free, and Vegeta has started one. Let it come up.
		runtime.Gosched()
		return 0, p.over(now)
	}
	p.waitUntil(p.notBefore(elapsed+wait, hits))
	now = time.Now()
	p.sent[hits%uint64(len(p.sent))] = now
	p.last = hits + 1
	return 0, p.over(now)
}

// notBefore returns when the hit may be sent that is due then.
func (p *pacer) notBefore(due time.Duration, hits uint64) time.Time {
	at, back := p.start.Add(due), uint64(p.atOnce(due))
	if hits < back {
		return at
	}
	if earliest := p.sent[(hits-back)%uint64(len(p.sent))].Add(catchUpWindow); earliest.After(at) {
		return earliest
	}
	return at
}

func (p *pacer) over(now time.Time) bool { return p.ctx.Err() != nil || now.After(p.end) }

// waitUntil waits until the time, or until the context ends. Go's timers are exact
// to 1 ms in an idle process, so the system waits for the last part: it is exact
// to 50 µs.
func (p *pacer) waitUntil(at time.Time) {
	const lastPart = 2 * time.Millisecond
	if d := time.Until(at) - lastPart; d > 0 {
		p.timer.Reset(d)
		select {
		case <-p.timer.C:
		case <-p.ctx.Done():
			return
		}
	}
	runtime.Gosched() // the worker that was just woken goes first
	for d := time.Until(at); d > 0; d = time.Until(at) {
		p.fine(d)
	}
}
