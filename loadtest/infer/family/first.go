package family

import "math"

// Windows that open with the first request after the previous one ended. Each
// opening is known as an interval and leads to the next one.

// refutesFirst returns a function that reports whether no window of a box explains
// the log.
func (l *Log) refutesFirst(limit int) func(*plane) bool {
	runs := l.spans(limit + 1)
	return func(p *plane) bool { return l.noChain(limit, runs, floor(p.window.low), ceil(p.window.high)) }
}

// noChain reports whether no window from w1 to w2 explains the log.
func (l *Log) noChain(limit int, runs []interval, w1, w2 int64) bool {
	low, high := l.possible.sent[0], l.certain.received[0]
	from := l.start // requests sent from here on do not belong to an earlier window
	refusal, candidate := 0, 0
	for {
		endLow, endHigh := low+w1, high+w2
		nextBy := int64(math.MaxInt64) // the next window was open by then
		if accept := l.certain.sentBy(from - 1); accept < len(runs) {
			nextBy = runs[accept].high // the last of limit+1 requests, at the latest, came after the end
		}
		endHigh = min(endHigh, nextBy)
		// A refusal soon after the end, with too few accepted requests since,
		// belongs to the window before.
		for ; refusal < len(l.refusals); refusal++ {
			o := l.refusals[refusal]
			if o.low < endLow {
				continue
			}
			if l.possible.atMostWithin(endLow, o.high) >= limit {
				break
			}
			endLow = o.low
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
		high = nextBy
		if next := l.certain.sentBy(endHigh - 1); next < len(l.accepts) {
			high = min(high, l.accepts[next].Received)
		}
		if high == math.MaxInt64 {
			return false
		}
		if low > high {
			return true
		}
		from = endHigh
	}
}
