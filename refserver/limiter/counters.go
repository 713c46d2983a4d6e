package limiter

import (
	"math"
	"sort"
)

// counter is one layer at work. Times are nanoseconds of the Unix clock and
// never go back.
type counter interface {
	// wait returns how long after now a single request would be allowed if
	// nothing else came: 0 means now.
	wait(now int64) int64
	// take counts a request, allowed or not.
	take(now int64)
	// remaining returns how many requests would be allowed now, in one burst.
	remaining(now int64) int64
	// reset returns how long after now the whole limit is available again if
	// nothing else comes.
	reset(now int64) int64
}

// longAgo lies before every time, and its distance to every time fits in 64 bits.
const longAgo = math.MinInt64 / 2

func newCounter(l Layer) counter {
	limit, per := int64(l.Limit), int64(l.Per)
	switch l.Kind {
	case TokenBucket:
		burst := int64(l.Burst)
		if burst == 0 {
			burst = limit
		}
		return &tokenBucket{rate: limit, token: per, capacity: burst * per, level: burst * per, at: longAgo}
	case SlidingLog:
		return &slidingLog{per: per, times: make([]int64, 0, min(limit, 64)), limit: int(limit)}
	case SlidingCounter:
		return &slidingCounter{limit: limit, per: per}
	default:
		return &fixedWindow{limit: limit, per: per, fromFirst: l.FromFirst, start: longAgo}
	}
}

// tokenBucket counts in units of token·ns, in which it refills by rate a
// nanosecond and one token is the period: all whole numbers, so that it is exact.
type tokenBucket struct {
	rate, token, capacity int64
	level                 int64 // at the time at; below 0 only when refused requests count
	at                    int64
}

func (b *tokenBucket) refill(now int64) {
	missing := b.capacity - b.level
	if elapsed := now - b.at; elapsed >= ceilDiv(missing, b.rate) {
		b.level = b.capacity
	} else {
		b.level += elapsed * b.rate
	}
	b.at = now
}

func (b *tokenBucket) wait(now int64) int64 {
	b.refill(now)
	return ceilDiv(max(0, b.token-b.level), b.rate)
}

func (b *tokenBucket) take(now int64) {
	b.refill(now)
	b.level = max(b.level-b.token, -b.capacity)
}

func (b *tokenBucket) remaining(now int64) int64 {
	b.refill(now)
	return max(0, b.level/b.token)
}

func (b *tokenBucket) reset(now int64) int64 {
	b.refill(now)
	return ceilDiv(b.capacity-b.level, b.rate)
}

// fixedWindow counts the requests of the current window.
type fixedWindow struct {
	limit, per int64
	fromFirst  bool
	start      int64 // of the window that used belongs to
	used       int64
}

func (w *fixedWindow) roll(now int64) {
	if w.fromFirst {
		if now-w.start >= w.per {
			w.used = 0
		}
		return
	}
	if start := now - mod(now, w.per); start != w.start {
		w.start, w.used = start, 0
	}
}

func (w *fixedWindow) wait(now int64) int64 {
	w.roll(now)
	if w.used < w.limit {
		return 0
	}
	return w.start + w.per - now
}

func (w *fixedWindow) take(now int64) {
	w.roll(now)
	if w.fromFirst && w.used == 0 {
		w.start = now
	}
	w.used++
}

func (w *fixedWindow) remaining(now int64) int64 {
	w.roll(now)
	return max(0, w.limit-w.used)
}

func (w *fixedWindow) reset(now int64) int64 {
	w.roll(now)
	if w.used == 0 {
		return 0
	}
	return w.start + w.per - now
}

// slidingLog is a ring of the latest requests. As many as the limit are enough:
// if the oldest of them is still within the period, there is no room.
type slidingLog struct {
	per    int64
	limit  int
	times  []int64
	oldest int // index of the oldest once the ring is full
}

func (s *slidingLog) nth(i int) int64 { return s.times[(s.oldest+i)%len(s.times)] }

func (s *slidingLog) wait(now int64) int64 {
	if len(s.times) < s.limit {
		return 0
	}
	return max(0, s.nth(0)+s.per-now)
}

func (s *slidingLog) take(now int64) {
	if len(s.times) < s.limit {
		s.times = append(s.times, now)
		return
	}
	s.times[s.oldest] = now
	s.oldest = (s.oldest + 1) % len(s.times)
}

func (s *slidingLog) remaining(now int64) int64 {
	expired := sort.Search(len(s.times), func(i int) bool { return s.nth(i)+s.per > now })
	return int64(s.limit - (len(s.times) - expired))
}

func (s *slidingLog) reset(now int64) int64 {
	if len(s.times) == 0 {
		return 0
	}
	return max(0, s.nth(len(s.times)-1)+s.per-now)
}

// slidingCounter allows a request when former × (share of the former window
// that the last period covers) + used + 1 is at most the limit. Both sides are
// multiplied by the period, which keeps them whole.
type slidingCounter struct {
	limit, per int64
	start      int64 // of the current window
	used       int64 // in the current window
	former     int64 // in the window before it
}

func (s *slidingCounter) roll(now int64) {
	start := now - mod(now, s.per)
	switch {
	case start == s.start:
	case start == s.start+s.per:
		s.former, s.used = s.used, 0
	default:
		s.former, s.used = 0, 0
	}
	s.start = start
}

func (s *slidingCounter) wait(now int64) int64 {
	s.roll(now)
	if free := s.limit - 1 - s.used; free >= 0 {
		return max(0, s.start+s.covered(s.former, free)-now)
	}
	// Nothing more in this window: in the next one, used is the former.
	return s.start + s.per + s.covered(s.used, s.limit-1) - now
}

// covered returns how far into a window the former one must lie back before it
// counts no more than free.
func (s *slidingCounter) covered(former, free int64) int64 {
	if former <= free {
		return 0
	}
	return s.per - free*s.per/former
}

func (s *slidingCounter) take(now int64) {
	s.roll(now)
	// A bound far above any limit keeps a flood of counted refusals from overflowing.
	s.used = min(s.used+1, 2*MaxLimit)
}

func (s *slidingCounter) remaining(now int64) int64 {
	s.roll(now)
	estimate := ceilDiv(s.former*(s.start+s.per-now), s.per) + s.used
	return max(0, s.limit-estimate)
}

func (s *slidingCounter) reset(now int64) int64 {
	s.roll(now)
	switch {
	case s.used > 0:
		return s.start + 2*s.per - now
	case s.former > 0:
		return s.start + s.per - now
	default:
		return 0
	}
}

// ceilDiv divides a number that is not negative, rounding up.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// mod is the remainder that is never negative, for times before the epoch.
func mod(a, b int64) int64 { return ((a % b) + b) % b }
