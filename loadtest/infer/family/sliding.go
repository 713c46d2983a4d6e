package family

import "math"

// A sliding log allows limit requests in any span of the window. So limit+1
// accepted requests span at least the window, and before a refusal the limit-th
// latest one is less than a window ago.

// shortestOfAll returns the shortest interval that contains an accepted request
// and limit requests of any verdict that were answered before it was sent.
func (l *Log) shortestOfAll(limit int) int64 {
	shortest := int64(math.MaxInt64)
	var told []Observation // answered requests before o
	var latest []int64     // latest of their answers so far
	for _, o := range l.observations {
		if o.Verdict == Unknown {
			continue
		}
		if o.Verdict == Accepted {
			// Requests in flight with o are skipped one by one, the others
			// count at once.
			n, j := 0, len(told)-1
			for ; j >= 0 && latest[j] > o.Sent && n < limit; j-- {
				if told[j].Received <= o.Sent {
					n++
				}
			}
			if first := j + 1 - (limit - n); first >= 0 {
				shortest = min(shortest, o.Received-told[first].Sent)
			}
		}
		told, latest = append(told, o), append(latest, o.Received)
		if i := len(latest) - 1; i > 0 {
			latest[i] = max(latest[i], latest[i-1])
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
