package family

import (
	"math"
)

// A bucket holds limit tokens and gains one per interval. With rate tokens per
// nanosecond, n accepted requests within a span need n <= limit + rate*span. A
// refusal needs an earlier span in which more than limit - 1 + rate*span tokens
// were taken. Both bound the capacity as a monotonic function of the rate.

// fitBucket fits a bucket.
func (l *Log) fitBucket(f Fit) (Fit, bool) {
	low, high := 1/float64(f.High), fastest
	if f.High == Unbounded {
		low = 0
	}
	if f.Low > 0 {
		high = 1 / float64(f.Low)
	}
	low, lowOK := leastRate(low, high, func(rate float64) bool { return l.enough(f, rate) })
	high, highOK := mostRate(low, high, func(rate float64) bool { return l.notTooMuch(f, rate) })
	if !lowOK || !highOK {
		return Fit{}, false
	}
	longest := int64(math.MaxInt64)
	if low > slowest {
		longest = ceil(1 / low)
	}
	return f.within(floor(1/high), longest)
}

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
		for ; next < len(l.possible.received) && l.possible.received[next] <= o.Sent; next++ {
			running = max(running, rate*float64(l.possible.received[next]-l.start)) + 1
		}
		flying := float64(l.possible.sentBy(o.Received) - next)
		explained := max(flying, running+flying-rate*float64(o.Sent-l.start))
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
	groups := l.refusalGroups()
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

// slowest and fastest limit the rates considered, in requests per nanosecond:
// one in three hours, one in a microsecond.
const (
	slowest = 1e-13
	fastest = 1e-3
)

// leastRate returns where a condition that holds for high rates starts to hold.
func leastRate(low, high float64, holds func(rate float64) bool) (float64, bool) {
	if !holds(high) {
		return 0, false
	}
	low = max(low, slowest)
	if holds(low) {
		return low, true
	}
	return bisect(high, low, holds), true
}

// mostRate returns where a condition that holds for low rates stops holding.
func mostRate(low, high float64, holds func(rate float64) bool) (float64, bool) {
	low = max(low, slowest)
	if !holds(low) {
		return 0, false
	}
	if holds(high) {
		return high, true
	}
	return bisect(low, high, holds), true
}

// bisect returns the last rate between good, where the condition holds, and
// bad, where it does not, slightly on the bad side: bounds are outward.
func bisect(good, bad float64, holds func(rate float64) bool) float64 {
	for range 200 {
		mid := math.Sqrt(good * bad)
		if math.Abs(bad/good-1) < 1e-7 {
			break
		}
		if holds(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return bad
}
