package family

import "math"

// A bucket holds limit tokens and gains one per interval. With rate tokens per
// nanosecond, n accepted requests within a span need n <= limit + rate*span. A
// refusal needs an earlier span in which more than limit - 1 + rate*span tokens
// were taken. Both bound the capacity as a monotonic function of the rate.

// fitBucket bounds the interval: short ones explain what was accepted, long ones
// what was refused.
func (l *Log) fitBucket(f Fit) (Fit, bool) {
	low, high := max(float64(f.Low), float64(shortest)), min(float64(f.High), longest)
	high, ok := edge(low, high, func(interval float64) bool { return l.enough(f, 1/interval) })
	if !ok {
		return f, false
	}
	if low, ok = edge(high, low, func(interval float64) bool { return l.notTooMuch(f, 1/interval) }); !ok {
		return f, false
	}
	if high == longest {
		return f.within(floor(low), math.MaxInt64)
	}
	return f.within(floor(low), ceil(high))
}

// longest is the longest interval considered, in nanoseconds: almost three hours.
const longest = 1e13

// enough reports whether the accepted requests could be accepted.
func (l *Log) enough(f Fit, rate float64) bool {
	capacity := float64(f.Limit)
	return l.leastCapacity(rate) <= capacity+rounding && (!f.Counting || l.acceptsHold(capacity, rate))
}

// notTooMuch reports whether the refused requests could be refused.
func (l *Log) notTooMuch(f Fit, rate float64) bool {
	if f.Counting {
		return l.refusalsHold(float64(f.Limit), rate)
	}
	return float64(f.Limit) < l.mostCapacity(rate)+rounding
}

// leastCapacity returns the smallest capacity that explains the accepted
// requests.
func (l *Log) leastCapacity(rate float64) float64 {
	least, running := 0.0, math.Inf(-1)
	latest := l.start
	for _, o := range l.accepts {
		// running is the maximum of n + rate*sent over all spans that begin
		// earlier.
		running = max(running, rate*float64(o.Sent-l.start)) + 1
		latest = max(latest, o.Received)
		least = max(least, running-rate*float64(latest-l.start))
	}
	return least
}

// mostCapacity returns the bound below which every refusal is explained.
func (l *Log) mostCapacity(rate float64) float64 {
	most, running := math.Inf(1), math.Inf(-1)
	next := 0
	for _, o := range l.refusals {
		// Requests answered before o was sent, and those in flight with it,
		// which may have been decided just before it.
		for ; next < len(l.possible.received) && l.possible.received[next] <= o.low; next++ {
			running = max(running, rate*float64(l.possible.received[next]-l.start)) + 1
		}
		flying := float64(l.possible.sentBy(o.high) - next)
		explained := max(flying, running+flying-rate*float64(o.low-l.start))
		most = min(most, explained+1)
	}
	return most
}

// A counting bucket: refused requests take tokens too, into a debt of at most
// the capacity. So its content depends on the times only.

// acceptsHold replays each request at its earliest possible time, when the
// bucket holds the most.
func (l *Log) acceptsHold(capacity, rate float64) bool {
	level, at := capacity, l.start
	for i, o := range l.observations {
		if o.Verdict == Accepted {
			flying := i - l.all.receivedBefore(o.Sent)
			if min(capacity, level+rate*float64(o.Received-at)+float64(max(0, flying))) < 1-rounding {
				return false
			}
		}
		if o.Verdict == Unknown {
			continue
		}
		level = max(min(capacity, level+rate*float64(o.Sent-at))-1, -capacity)
		at = o.Sent
	}
	return true
}

// refusalsHold replays each request at its latest possible time and checks the
// first of each group of refusals.
func (l *Log) refusalsHold(capacity, rate float64) bool {
	level, at := capacity, l.start
	groups := l.together
	for i, o := range l.observations {
		if len(groups) > 0 && groups[0].first == i {
			g := groups[0]
			groups = groups[1:]
			flying := l.all.sentBy(g.high) - i - len(g.received)
			// The level is that of the last answer, which may be later than the
			// sending of o.
			if min(capacity, level+rate*float64(o.Sent-at))-float64(max(0, flying)) >= 1+rounding {
				return false
			}
		}
		now := max(at, o.Received)
		level = max(min(capacity, level+rate*float64(now-at))-1, -capacity)
		at = now
	}
	return true
}

// rounding is the floating-point tolerance in requests.
const rounding = 1e-6

// edge returns how far from good towards bad a condition holds, slightly on the
// bad side: bounds are outward. ok is false if it holds nowhere.
func edge(good, bad float64, holds func(float64) bool) (at float64, ok bool) {
	switch {
	case !holds(good):
		return 0, false
	case holds(bad):
		return bad, true
	}
	for math.Abs(bad/good-1) >= 1e-7 {
		if mid := math.Sqrt(good * bad); holds(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return bad, true
}
