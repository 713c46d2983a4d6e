package family

import (
	"math"
)

// A bucket that holds limit tokens and gains one every interval. With rate
// tokens a nanosecond, n accepted requests within a span need n <= limit +
// rate*span, and a refusal needs a span before it in which more than limit - 1 +
// rate*span were taken. Both bound the capacity from the rate, and fall or rise
// with it in one direction only.

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

// enough tells whether the accepted requests can have been let through.
func (l *Log) enough(f Fit, rate float64) bool {
	capacity := float64(f.Limit)
	return l.leastCapacity(rate) <= capacity+rounding && (!f.Counting || l.acceptsHold(capacity, rate))
}

// notTooMuch tells whether the refused ones can have been refused.
func (l *Log) notTooMuch(f Fit, rate float64) bool {
	if f.Counting {
		return l.refusalsHold(float64(f.Limit), rate)
	}
	return float64(f.Limit) < l.mostCapacity(rate)+rounding
}

// leastCapacity is the least that explains the accepted requests.
func (l *Log) leastCapacity(rate float64) float64 {
	least, running := 0.0, math.Inf(-1)
	latest := l.start
	for _, o := range l.accepts {
		// running is the greatest of n + rate*sent over all spans that begin earlier.
		running = max(running, rate*float64(o.Sent-l.start)) + 1
		latest = max(latest, o.Received)
		least = max(least, running-rate*float64(latest-l.start))
	}
	return least
}

// mostCapacity is the bound below which every refusal is explained.
func (l *Log) mostCapacity(rate float64) float64 {
	most, running := math.Inf(1), math.Inf(-1)
	next := 0
	for _, o := range l.refusals {
		// Those that were answered before o was sent, and those in flight with it,
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

// A counting bucket: refused requests take too, into a debt of at most the
// capacity, so that what it holds depends on the times only.

// acceptsHold replays with each request as early as it can have been: then the
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

// refusalsHold replays with each request as late as it can have been, and asks
// the first of each group of refusals.
func (l *Log) refusalsHold(capacity, rate float64) bool {
	level, at := capacity, l.start
	groups := l.refusalGroups()
	for i, o := range l.observations {
		if len(groups) > 0 && groups[0].first == i {
			g := groups[0]
			groups = groups[1:]
			flying := l.all.sentBy(g.high) - i - len(g.received)
			// The level is that of the last answer, which may be later than o was sent.
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

// rounding is what floating point may get wrong, in requests.
const rounding = 1e-6

// slowest and fastest bound the rates that are looked at, in requests a
// nanosecond: one in three hours, one in a microsecond.
const (
	slowest = 1e-13
	fastest = 1e-3
)

// leastRate finds where a condition that holds for high rates begins to hold.
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

// mostRate finds where a condition that holds for low rates ceases to hold.
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
// bad, where it does not, but a little on the bad side: bounds are outward.
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
