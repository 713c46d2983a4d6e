package measure

import (
	"fmt"
	"math"
	"sort"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of every interval of this package.
const Confidence = 0.95

const alpha = 1 - Confidence

// A quantile is flagged if its interval reaches further from its value than
// both of these: such a quantile sits on a jump of the distribution, or on too
// few samples.
const (
	tolerated      = time.Millisecond
	toleratedShare = 0.02
)

// Estimate is a quantile and what the sample says about it.
type Estimate struct {
	P          float64       // the quantile asked for: 0.99 is p99
	Samples    int64         // 0: there is no value
	Value      time.Duration // of the sample
	Low, High  time.Duration // the interval that holds the server's true quantile, given Confidence
	Open       bool          // the sample is too small for an upper end: High is only the largest value seen
	Confidence float64       // of the interval
	Design     float64       // how many of the samples, correlated as they are, are worth one independent sample; 1 or more
	Flagged    bool          // Value alone should not be trusted
	Why        string        // it is flagged
}

// Quantile estimates the p-quantile, 0 ≤ p ≤ 1.
//
// The value is the HdrHistogram's, so that other tools that read the same
// histogram say the same. The interval is that of order statistics: how many of
// n samples lie below the true quantile is binomial, whatever the distribution,
// so that two ranks bound it. For n stands the sample's size divided by the
// design effect of the seconds of the phase. Service times and labels are taken
// to be correlated as the response times of their class are; the send lag and
// phases of less than five seconds count as independent.
func (h Histogram) Quantile(p float64) Estimate {
	e := Estimate{P: p, Samples: h.Count(), Confidence: Confidence, Design: 1}
	if e.Samples == 0 {
		e.Flagged, e.Why = true, "no samples"
		return e
	}
	e.Value = h.value(p)
	e.Design = h.seconds.effectAt(p, e.Samples)

	low, high := ranks(e.Samples, p, e.Design)
	if low > 0 {
		e.Low, _ = h.rank(low)
	}
	if e.Open = high > e.Samples; e.Open {
		e.High = h.max
	} else {
		_, e.High = h.rank(high)
	}
	e.flag()
	return e
}

func (e *Estimate) flag() {
	limit := max(tolerated, time.Duration(toleratedShare*float64(e.Value)))
	switch {
	case e.Open:
		e.Why = fmt.Sprintf("%d samples set no upper bound to this percentile", e.Samples)
	case e.High-e.Value > limit || e.Value-e.Low > limit:
		e.Why = fmt.Sprintf("the samples support any value from %s to %s", round(e.Low), round(e.High))
	}
	e.Flagged = e.Why != ""
}

// round keeps about four figures of a duration, for people.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}

// ranks are those of the samples that bound the p-quantile: with a chance of at
// least 1-alpha, the true one lies between the low-th and the high-th shortest
// of n. A low of 0 stands for no bound but 0, a high above n for no bound.
func ranks(n int64, p, design float64) (low, high int64) {
	worth := max(math.Floor(float64(n)/design), 1)
	scale := float64(n) / worth
	low = int64(math.Floor(scale * float64(binomialQuantile(worth, p, alpha/2))))
	high = int64(math.Ceil(scale * float64(binomialQuantile(worth, p, 1-alpha/2)+1)))
	return low, high
}

// binomialQuantile is the least k of which P(X ≤ k) is at least q, X being how
// many of n draws succeed with chance p each.
func binomialQuantile(n, p, q float64) int64 {
	// Beyond this, the exact sum loses its precision and the normal one has gained it.
	const normal = 1e7
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return int64(n)
	case n > normal:
		return int64(math.Round(n*p + math.Sqrt(n*p*(1-p))*distuv.UnitNormal.Quantile(q)))
	}
	x := distuv.Binomial{N: n, P: p}
	return int64(sort.Search(int(n), func(k int) bool { return x.CDF(float64(k)) >= q }))
}
