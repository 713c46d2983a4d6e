package family

import (
	"math"
	"time"
)

// Windows that open with the first request after the previous one ended. Each
// opening is known as an interval and leads to the next one.

// fitFirst fits such windows.
func (l *Log) fitFirst(f Fit, work *int) (Fit, bool) {
	low, ok := l.latestFull(f)
	if !ok {
		return Fit{}, false
	}
	runs := l.spans(f.Limit + 1)
	if len(runs) == 0 {
		return f.within(low, math.MaxInt64)
	}
	// One of the first limit+1 accepted requests came after the first window.
	f, ok = f.within(low, min(runs[0].high-l.possible.sent[0], l.longestWindow(f)))
	if !ok {
		return Fit{}, false
	}
	p := plane{window: f.windows(), windows: 1, resolution: l.resolution(), work: work}
	p, f.corners, ok = searchPlane(p, l.refutesFirsts(f.Limit, runs))
	if !ok {
		return Fit{}, false
	}
	return f.within(floor(p.window.low), ceil(p.window.high))
}

// refutesFirsts returns a function that reports whether no window of a box explains
// the log.
func (l *Log) refutesFirsts(limit int, runs []interval) func(*plane) bool {
	return func(p *plane) bool { return l.refutesFirst(limit, runs, floor(p.window.low), ceil(p.window.high)) }
}

// windows returns the range of the window.
func (f Fit) windows() span { return span{max(1, float64(f.Low)), float64(f.High)} }

// resolution returns how precisely a parameter is worth searching.
func (l *Log) resolution() float64 { return max(float64(l.roundTrip)/8, 1000, l.coarse) }

// Coarsely ends the search for parameters at a width that suits a limiter much
// slower than the round trip.
func (l *Log) Coarsely(width time.Duration) { l.coarse = float64(width) }

// refutesFirst reports whether no window from w1 to w2 explains the log.
func (l *Log) refutesFirst(limit int, runs []interval, w1, w2 int64) bool {
	low, high := l.possible.sent[0], l.certain.received[0]
	from := l.start // requests sent from here on do not belong to an earlier window
	accept, refusal, candidate := 0, 0, 0
	for {
		endLow, endHigh := low+w1, high+w2
		for accept < len(l.accepts) && l.accepts[accept].Sent < from {
			accept++
		}
		nextBy := int64(math.MaxInt64) // the next window was open by then
		if accept < len(runs) {
			nextBy = runs[accept].high // the last of limit+1 requests, at the latest, came after the end
		}
		endHigh = min(endHigh, nextBy)
		// A refusal soon after the end, with too few accepted requests since,
		// belongs to the window before.
		for ; refusal < len(l.refusals); refusal++ {
			o := l.refusals[refusal]
			if o.Sent < endLow {
				continue
			}
			if l.possible.atMostWithin(endLow, o.Received) >= limit {
				break
			}
			endLow = o.Sent
		}
		if endLow > endHigh {
			return true
		}
		for candidate < len(l.observations) && (l.observations[candidate].Verdict == Refused || l.observations[candidate].Received < endLow) {
			candidate++
		}
		if candidate == len(l.observations) {
			return false
		}
		low = max(endLow, l.observations[candidate].Sent)
		next := l.firstAcceptSince(endHigh, accept)
		high = min(nextBy, next)
		if high == math.MaxInt64 {
			return false
		}
		if low > high {
			return true
		}
		from = endHigh
	}
}

// firstAcceptSince returns the time by which a request sent at t or later was
// accepted.
func (l *Log) firstAcceptSince(t int64, from int) int64 {
	for i := from; i < len(l.accepts); i++ {
		if l.accepts[i].Sent >= t {
			return l.accepts[i].Received
		}
	}
	return math.MaxInt64
}
