package measure

import (
	"fmt"
	"math"
	"sort"
	"time"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/gonum/mathext"
)

// Confidence is the confidence of every interval of this package but those of
// trends.
const Confidence = 0.95

const alpha = 1 - Confidence

// A quantile is flagged if its interval extends further from its value than
// both of these. It then lies on a jump of the distribution, or the samples are
// too few.
const (
	tolerated      = time.Millisecond
	toleratedShare = 0.02
)

// Estimate is a quantile with its interval.
type Estimate struct {
	Samples   int64         // 0: there is no value
	Value     time.Duration // of the sample
	Low, High time.Duration // the interval of the server's true quantile, at Confidence
	Open      bool          // no upper end, because the sample is too small or requests failed: High is the largest value seen
	AtLeast   bool          // Value is the time that a failed request took
	Design    float64       // design effect: samples per independent sample; 1 or more
	Why       string        // reason not to trust Value alone; empty if there is none
}

// Quantile estimates the p-quantile, 0 ≤ p ≤ 1.
//
// The value is HdrHistogram's, so other tools that read the same histogram
// agree. The interval holds the values that the sample does not rule out: how many
// of n samples lie below the true quantile is binomial for any distribution. n is
// the sample size divided by the design effect at that value. The send
// lag and phases shorter than five intervals count as independent.
func (h Histogram) Quantile(p float64) Estimate {
	own := h.value(p)
	all := h.covered(own)
	e := Estimate{Samples: all.Count(), Design: 1, AtLeast: h.AtLeast(p)}
	if e.Samples == 0 {
		e.Why = "no samples"
		return e
	}
	e.Value = max(own, all.value(p))
	e.Design = max(all.effectAbove(e.Value), all.effectReaching(e.Value)) // many samples may share its bucket
	e.Low = all.lower(p)
	e.High, e.Open = h.upper(p, all)
	e.High = max(e.High, e.Value) // which may be the maximum of a failed request in the same bucket
	limit := max(tolerated, time.Duration(toleratedShare*float64(e.Value)))
	switch {
	case e.AtLeast:
		e.Why = "so many requests failed that this is a lower bound: the time after which they did"
	case e.Open:
		e.Why = fmt.Sprintf("%d samples give no upper bound for this percentile", e.Samples)
	case e.High-e.Value > limit || e.Value-e.Low > limit:
		e.Why = fmt.Sprintf("the samples support any value from %s to %s", printable.Milliseconds(e.Low), printable.Milliseconds(e.High))
	}
	return e
}

// Independent returns h as if its requests did not depend on each other.
func (h Histogram) Independent() Histogram {
	h.series = nil
	return h
}

// lower returns the lower end of the interval of the p-quantile.
func (h Histogram) lower(p float64) time.Duration {
	rank, _ := ranks(h.Count(), p, 1)
	for rank > 0 {
		low, _ := h.rank(rank)
		bound, _ := ranks(h.Count(), p, h.effectReaching(low))
		if bound >= rank {
			return low
		}
		rank = max(bound, rank/2)
	}
	return 0
}

// upper returns the upper end of the interval of the p-quantile of all, which are h and
// failed requests. It is open if the sample rules out no value: it is too small, or it is
// a part of one that holds longer times. How long a failed request would have taken has no
// upper end.
func (h Histogram) upper(p float64, all Histogram) (high time.Duration, open bool) {
	_, rank := ranks(all.Count(), p, 1)
	for rank <= h.Count() {
		_, high = h.rank(rank)
		_, bound := ranks(all.Count(), p, all.effectAbove(high))
		switch {
		case bound <= rank:
			return high, false
		case rank == h.Count():
			return all.value(1), true
		}
		rank = min(bound, (rank+h.Count()+1)/2)
	}
	return all.value(1), true
}

// ranks returns the ranks that bound the p-quantile: with a probability of at
// least 1-alpha, the true quantile lies between the low-th and the high-th
// shortest of n. A low of 0 means the bound 0; a high above n means no bound.
func ranks(n int64, p, design float64) (low, high int64) {
	worth := max(math.Floor(float64(n)/design), 1)
	scale := float64(n) / worth
	low = int64(math.Floor(scale * float64(binomialQuantile(worth, p, alpha/2))))
	high = int64(math.Ceil(scale * float64(binomialQuantile(worth, p, 1-alpha/2)+1)))
	return low, high
}

// binomialQuantile returns the smallest k with P(X ≤ k) ≥ q, where X counts the
// successes of n draws with probability p each.
func binomialQuantile(n, p, q float64) int64 {
	// Beyond this the exact sum loses precision and the normal approximation is
	// precise.
	const normal = 1e7
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return int64(n)
	case n > normal:
		return int64(math.Round(n*p + math.Sqrt(n*p*(1-p))*mathext.NormalQuantile(q)))
	}
	return int64(sort.Search(int(n), func(k int) bool { return mathext.RegIncBeta(n-float64(k), float64(k)+1, 1-p) >= q }))
}
