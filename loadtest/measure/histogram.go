package measure

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The range of histograms. Longer times are clipped to Longest and counted;
// shorter ones fall into the lowest buckets.
const (
	Shortest = time.Microsecond
	Longest  = 10 * time.Minute
)

// The significant figures of a whole phase (within 0.1 %) and of its single
// seconds (within 1 %).
const (
	wholeFigures    = 3
	intervalFigures = 2
)

// Histogram is a distribution of durations. Its zero value is empty. One that
// belongs to a Recording never changes.
type Histogram struct {
	buckets   *hdr.PackedHistogram // nanoseconds; nil: empty
	count     int64
	min, max  time.Duration // exact, after clipping
	clipped   int64
	intervals *intervals // its samples by interval; nil if unknown

	// Of accepted requests that a Recording holds together with others:
	failed  *Histogram    // nil if none failed
	longest time.Duration // service time of an accepted request of the phase
}

func newBuckets(figures int) *hdr.PackedHistogram {
	return hdr.NewPacked(int64(Shortest), int64(Longest), figures)
}

func (h *Histogram) add(d time.Duration, figures int) {
	if h.buckets == nil {
		h.buckets, h.min = newBuckets(figures), Longest
	}
	if d > Longest {
		h.clipped++
	}
	d = min(max(d, 0), Longest)
	h.min, h.max = min(h.min, d), max(h.max, d)
	h.count++
	_ = h.buckets.RecordValue(int64(d)) // fails only out of range, and d is in range
}

// Count returns the number of durations.
func (h Histogram) Count() int64 { return h.count }

// Clipped returns how many durations exceeded Longest and count as Longest.
func (h Histogram) Clipped() int64 { return h.clipped }

// Min returns the exact shortest duration; 0 if there is none.
func (h Histogram) Min() time.Duration { return h.min }

// Max returns the exact longest duration, of failed requests too; 0 if there is none.
func (h Histogram) Max() time.Duration {
	if h.failed != nil {
		return max(h.max, h.failed.max)
	}
	return h.max
}

// covered returns the durations that a figure depends on, which is its value without
// failed requests: h, and the failed requests that took longer. So no request improves a
// figure by failing. One that timed out took longer than the longest accepted request:
// it counts even if requests that went out late make the figure larger.
func (h Histogram) covered(figure time.Duration) Histogram {
	if h.failed == nil {
		return h
	}
	over := int64(h.longest)
	if h.count > 0 {
		over = min(over, int64(figure))
	}
	failed := h.failed.buckets
	all := newBuckets(int(failed.SignificantFigures()))
	if h.count > 0 {
		all.Merge(h.buckets)
	}
	for value, count := range failed.ForEachBucket {
		if value > over {
			_ = all.RecordValues(value, count) // came out of such buckets
		}
	}
	return Histogram{buckets: all, count: all.TotalCount(), min: h.min, max: h.Max(), intervals: h.intervals.with(over)}
}

// AtLeast reports whether the p-quantile is only known to be at least Value: so many
// requests failed that it lies among them.
func (h Histogram) AtLeast(p float64) bool {
	return float64(h.count) < p*float64(h.covered(h.value(p)).count)
}

// Mean returns the arithmetic mean to the precision of the buckets; 0 if there
// is none. Failed requests that took longer count.
func (h Histogram) Mean() time.Duration { return max(h.mean(), h.covered(h.mean()).mean()) }

// MeanAtLeast reports whether the mean is a lower bound, because failed requests count.
func (h Histogram) MeanAtLeast() bool { return h.covered(h.mean()).count > h.count }

func (h Histogram) mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return min(max(time.Duration(h.buckets.Mean()), h.min), h.max)
}

// Above returns how many durations exceed the limit, to the precision of the
// buckets: those in the limit's own bucket do not count.
func (h Histogram) Above(limit time.Duration) int64 {
	if h.count == 0 {
		return 0
	}
	var n int64
	for value, count := range h.buckets.ForEachBucket {
		if value > int64(limit) {
			n += count
		}
	}
	return n
}

// Value returns the p-quantile of the sample, 0 ≤ p ≤ 1, as HdrHistogram defines it: the
// upper bound of its bucket. Failed requests that took longer count. It is 0 if the
// histogram is empty. Quantile also estimates how far the server's quantile may lie from
// it, which takes long for a long phase.
func (h Histogram) Value(p float64) time.Duration {
	own := h.value(p)
	if h.failed == nil {
		return own
	}
	return max(own, h.covered(own).value(p))
}

func (h Histogram) value(p float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	v := time.Duration(h.buckets.ValueAtPercentile(100 * p))
	return min(max(v, h.min), h.max)
}

// rank returns the bounds of the bucket of the r-th shortest duration, 1 ≤ r ≤
// Count.
func (h Histogram) rank(r int64) (low, high time.Duration) {
	buckets := h.buckets
	var seen int64
	for value, count := range buckets.ForEachBucket {
		if seen += count; seen >= r {
			low = time.Duration(value)
			break
		}
	}
	high = time.Duration(buckets.ValueAtPercentile(100 * float64(r) / float64(h.count)))
	return max(low, h.min), min(high, h.max)
}

// own returns the distribution without its links to others.
func (h Histogram) own() Histogram {
	h.intervals, h.failed = nil, nil
	return h
}

// merged returns the sum of two distributions of the same precision. Counts
// cannot overflow, because reading bounds them.
func (h Histogram) merged(other Histogram) Histogram {
	if h.count == 0 {
		return other.own()
	}
	if other.count == 0 {
		return h.own()
	}
	sum := Histogram{
		buckets: h.buckets.Clone(),
		count:   h.count + other.count,
		min:     min(h.min, other.min),
		max:     max(h.max, other.max),
		clipped: h.clipped + other.clipped,
	}
	sum.buckets.Merge(other.buckets)
	return sum
}
