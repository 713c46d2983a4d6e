package family

import "math"

// A sliding log allows limit requests in any span of the window. So limit+1
// accepted requests span at least the window, and before a refusal the limit-th
// latest one is less than a window ago.

// shortestOfAll returns the length of the shortest interval that contains an accepted
// request and limit requests of any verdict that were answered before it was sent.
func (l *Log) shortestOfAll(limit int) int64 {
	shortest := int64(math.MaxInt64)
	for _, o := range l.accepts {
		if n := l.answered.receivedBefore(o.Sent); n >= limit {
			shortest = min(shortest, o.Received-l.answered.sent[n-limit])
		}
	}
	return shortest
}

// latestFull returns the greatest time that must lie between a refusal and the
// limit-th latest request before it. ok is false if some refusal had too few.
func (l *Log) latestFull(f Fit) (low int64, ok bool) {
	counted, refusals := l.counted(f.Counting)
	for _, g := range refusals {
		t, ok := counted.nthLatest(f.Limit, g)
		if !ok {
			return 0, false
		}
		low = max(low, g.low-t)
	}
	return low, true
}

// shortestSpan returns the shortest interval that contains n accepted requests.
func (l *Log) shortestSpan(n int) int64 {
	shortest := int64(math.MaxInt64)
	for _, s := range l.spans(n) {
		shortest = min(shortest, s.high-s.low)
	}
	return shortest
}

// longestWindow returns an upper bound of the window: m times the limit plus
// one requests span m windows of a log, and m-1 of windows that begin anywhere.
func (l *Log) longestWindow(f Fit) int64 {
	longest := int64(math.MaxInt64)
	for m := 1; m*f.Limit < len(l.accepts); m *= 2 {
		whole := int64(m)
		if f.Kind != Sliding {
			whole--
		}
		if span := l.shortestSpan(m*f.Limit + 1); whole > 0 {
			longest = min(longest, span/whole+1)
		}
	}
	return longest
}
