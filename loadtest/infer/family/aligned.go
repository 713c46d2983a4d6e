package family

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Windows aligned to the clock. A boundary lies within each span of limit+1
// accepted requests, and none lies between the limit-th latest accepted request
// and a refusal.

// fitAligned fits such windows.
func (l *Log) fitAligned(f Fit, work *int) (Fit, bool) {
	low, ok := l.latestFull(f)
	hits := minimal(l.spans(f.Limit + 1))
	if !ok {
		return Fit{}, false
	}
	f, ok = f.within(low, min(leastDistance(hits), l.longestWindow(f)))
	if !ok || f.High == Unbounded {
		return f, ok
	}
	misses := l.misses(f)
	for _, h := range hits {
		for _, m := range misses {
			if m.low < h.low && h.high < m.high {
				return Fit{}, false
			}
		}
	}
	first := slices.MinFunc(hits, func(a, b interval) int { return cmp.Compare(a.high-a.low, b.high-b.low) })
	p := plane{
		phase: span{float64(first.low), float64(first.high)}, window: f.windows(),
		resolution: l.resolution(), work: work,
	}
	p.windows = float64(max(l.end()-first.low, first.high-l.start)) / p.window.low
	p, f.corners, ok = searchPlane(p, refutesAligned(hits, misses))
	if !ok {
		return Fit{}, false
	}
	return p.fit(f)
}

// refutesAligned returns a function that reports whether a boundary is missing within
// a hit, or lies within a miss, for each point of a box.
func refutesAligned(hits, misses []interval) func(*plane) bool {
	return func(p *plane) bool {
		return slices.ContainsFunc(hits, p.noneWithin) || slices.ContainsFunc(misses, p.oneWithin)
	}
}

// misses returns the intervals without a boundary, merged where they overlap.
func (l *Log) misses(f Fit) []interval {
	var raw []interval
	for _, o := range l.refusals {
		if t, ok := l.possible.nthLatest(f.Limit, o); ok && t < o.Sent {
			raw = append(raw, interval{t, o.Sent})
		}
	}
	slices.SortFunc(raw, func(a, b interval) int { return cmp.Compare(a.low, b.low) })
	var joined []interval
	for _, m := range raw {
		if last := len(joined) - 1; last >= 0 && m.low < joined[last].high {
			joined[last].high = max(joined[last].high, m.high)
		} else {
			joined = append(joined, m)
		}
	}
	return joined
}

// minimal removes intervals that contain another one.
func minimal(all []interval) []interval {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(b.low, a.low))
	})
	var out []interval
	for _, s := range sorted {
		if len(out) == 0 || s.low > out[len(out)-1].low {
			out = append(out, s)
		}
	}
	return out
}

// leastDistance returns a lower bound on the distance of boundaries: disjoint
// intervals contain different ones.
func leastDistance(hits []interval) int64 {
	least := int64(math.MaxInt64)
	last := interval{0, math.MinInt64}
	for i, h := range hits {
		if i > 0 && h.low <= last.high {
			continue
		}
		if i > 0 {
			least = min(least, h.high-last.low)
		}
		last = h
	}
	return least
}

// noneWithin reports that no window of the box has a boundary in h.
func (p *plane) noneWithin(h interval) bool {
	low, high := float64(h.low)-p.phase.high, float64(h.high)-p.phase.low
	switch {
	case low > 0:
		return math.Ceil(low/p.window.high) > math.Floor(high/p.window.low)
	case high < 0:
		return math.Ceil(-high/p.window.high) > math.Floor(-low/p.window.low)
	default:
		return false
	}
}

// oneWithin reports that every window of the box has a boundary strictly in m.
func (p *plane) oneWithin(m interval) bool {
	low, high := float64(m.low), float64(m.high)
	if k := math.Floor((low-p.phase.low)/p.window.low) + 1; k >= 0 && p.phase.high+k*p.window.high < high {
		return true
	}
	if p.phase.low > low && p.phase.high < high {
		return true
	}
	k := math.Ceil((p.phase.low-low)/p.window.high) - 1
	return k >= 1 && p.phase.high-k*p.window.low < high
}

// fit narrows f to the box.
func (p plane) fit(f Fit) (Fit, bool) {
	f, ok := f.within(floor(p.window.low), ceil(p.window.high))
	f.PhaseLow, f.PhaseHigh = time.Duration(floor(p.phase.low)), time.Duration(ceil(p.phase.high))
	return f, ok
}
