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
	buckets *hdr.PackedHistogram // nanoseconds; nil: empty
	class   Class
	series  []Interval    // its samples by interval; nil if unknown
	beyond  time.Duration // failed requests in the series count above this

	// Of accepted requests that a Recording holds together with others:
	failed  *Histogram    // nil if none failed
	longest time.Duration // service time of an accepted request of the phase
}

func newBuckets(figures int) *hdr.PackedHistogram {
	return hdr.NewPacked(int64(Shortest), int64(Longest), figures)
}

func (h *Histogram) add(d time.Duration) {
	_ = h.buckets.RecordValue(int64(min(max(d, 0), Longest))) // fails only out of range
}

// Count returns the number of durations.
func (h Histogram) Count() int64 {
	if h.buckets == nil {
		return 0
	}
	return h.buckets.TotalCount()
}

// Clipped returns how many durations are about Longest, or exceeded it.
func (h Histogram) Clipped() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.buckets.CountAtValue(int64(Longest))
}

// Min returns the shortest duration; 0 if there is none.
func (h Histogram) Min() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.buckets.Min())
}

// Max returns the longest duration, of failed requests too; 0 if there is none.
func (h Histogram) Max() time.Duration {
	if h.failed != nil {
		return max(h.value(1), h.failed.value(1))
	}
	return h.value(1)
}

// over returns how long a failed request must have taken to count in a figure, which has
// this value without failed requests. So no request improves a figure by failing. One that
// timed out took longer than the longest accepted request: it counts even if requests that
// went out late make the figure larger.
func (h Histogram) over(figure time.Duration) time.Duration {
	if h.Count() == 0 {
		return h.longest
	}
	return min(h.longest, figure)
}

// covered returns the durations that a figure depends on: h, and the failed requests that
// count.
func (h Histogram) covered(figure time.Duration) Histogram {
	if h.failed == nil {
		return h
	}
	all := newBuckets(int(h.failed.buckets.SignificantFigures()))
	if h.buckets != nil {
		all.Merge(h.buckets)
	}
	for value, count := range h.failed.buckets.ForEachBucket {
		if value > int64(h.over(figure)) {
			_ = all.RecordValues(value, count) // came out of such buckets
		}
	}
	return Histogram{buckets: all, class: h.class, series: h.series, beyond: h.over(figure)}
}

// AtLeast reports whether the p-quantile is only known to be at least Value: so many
// requests failed that it lies among them.
func (h Histogram) AtLeast(p float64) bool {
	return float64(h.Count()) < p*float64(h.covered(h.value(p)).Count())
}

// Mean returns the arithmetic mean to the precision of the buckets; 0 if there
// is none. Failed requests that took longer count.
func (h Histogram) Mean() time.Duration { return max(h.mean(), h.covered(h.mean()).mean()) }

// MeanAtLeast reports whether the mean is a lower bound, because failed requests count.
func (h Histogram) MeanAtLeast() bool { return h.covered(h.mean()).Count() > h.Count() }

func (h Histogram) mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.buckets.Mean())
}

// above returns how many durations exceed the limit, to the precision of the
// buckets: those in the limit's own bucket do not count.
func (h Histogram) above(limit time.Duration) (n int64) {
	if h.Count() == 0 {
		return 0
	}
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
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.buckets.ValueAtPercentile(100 * p))
}

// rank returns the bounds of the bucket of the r-th shortest duration, 1 ≤ r ≤
// Count.
func (h Histogram) rank(r int64) (low, high time.Duration) {
	var seen int64
	for value, count := range h.buckets.ForEachBucket {
		if seen += count; seen >= r {
			low = time.Duration(value)
			break
		}
	}
	return low, h.value(float64(r) / float64(h.Count()))
}

// plus returns the sum of two distributions of the same precision.
func (h Histogram) plus(other Histogram) Histogram {
	var sum Histogram
	for _, part := range []Histogram{h, other} {
		switch {
		case part.buckets == nil:
		case sum.buckets == nil:
			sum.buckets = part.buckets.Clone()
		default:
			sum.buckets.Merge(part.buckets)
		}
	}
	return sum
}
