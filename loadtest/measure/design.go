package measure

import (
	"math"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// The answers of a server are correlated: a stall makes neighbours slow
// together, so a thousand of them carry less information than a thousand
// independent ones. The design effect of cluster sampling measures this: the
// variance of a share between blocks of time, divided by that of independent
// samples.
//
// Blocks last 1, 2, 4, 8… intervals for as long as there are leastBlocks of them,
// because correlation may reach beyond an interval. The largest effect counts. An
// effect estimated from few blocks is uncertain, so Student's factor for their
// number widens it. With fewer than leastBlocks, samples count as independent.
//
// Simulated (TestIntervalsHoldTheTruth_long): the intervals contain the true quantile in at
// least 97 % of runs if samples are independent, and in about 90 % if
// disturbances last a twentieth of the run.
const leastBlocks = 5

// block is a stretch of time with its samples and hits.
type block struct{ n, hits int64 }

// designEffect returns how many samples are worth one independent sample, at
// least 1, for a breakdown that sees `own` of all samples in the blocks.
func designEffect(blocks []block, own int64) float64 {
	effect := 1.0
	for ; len(blocks) >= leastBlocks; blocks = pairs(blocks) {
		effect = max(effect, effectOf(blocks, own))
	}
	return effect
}

// pairs joins neighbours into blocks twice as long. An odd last block joins the
// one before it.
func pairs(blocks []block) []block {
	half := make([]block, len(blocks)/2)
	for i, b := range blocks {
		j := min(i/2, len(half)-1)
		half[j].n += b.n
		half[j].hits += b.hits
	}
	return half
}

func effectOf(blocks []block, own int64) float64 {
	var n, hits, squares float64
	for _, b := range blocks {
		n += float64(b.n)
		hits += float64(b.hits)
		squares += float64(b.n) * float64(b.n)
	}
	share := hits / n
	if share <= 0 || share >= 1 {
		return 1
	}
	var between float64
	for _, b := range blocks {
		d := float64(b.hits) - share*float64(b.n)
		between += d * d
	}
	count := float64(len(blocks))
	effect := count / (count - 1) * between / (n * share * (1 - share))

	// In a breakdown with fewer samples per block, any two are correlated as
	// much, but there are fewer pairs.
	if size := squares / n; size > 1 && own < int64(n) {
		correlation := (effect - 1) / (size - 1)
		effect = 1 + correlation*max(size*float64(own)/n-1, 0)
	}
	x := mathext.InvRegIncBeta((count-1)/2, 0.5, alpha)
	t := math.Sqrt((count - 1) * (1 - x) / x) // the quantile of Student's distribution
	z := mathext.NormalQuantile(1 - alpha/2)
	return effect * math.Pow(t/z, 2)
}

// effectAbove returns the design effect on the share of h that is above the value's
// bucket. Service times and labels count as correlated like the response times of their
// class.
func (h Histogram) effectAbove(value time.Duration) float64 {
	if len(h.series) < leastBlocks {
		return 1
	}
	var blocks []block
	for _, s := range h.series {
		own, failed := s.Response[h.class], Histogram{}
		if h.class == Accepted {
			failed = s.Response[Failed]
		}
		b := block{own.Count() + failed.above(h.beyond), own.above(value) + failed.above(max(value, h.beyond))}
		if b.n > 0 {
			blocks = append(blocks, b)
		}
	}
	return designEffect(blocks, h.Count())
}

// effectReaching returns the design effect on the share of h from the value's bucket on.
func (h Histogram) effectReaching(value time.Duration) float64 {
	bucket := newBuckets(intervalFigures)
	_ = bucket.RecordValue(int64(value)) // a value from such buckets
	return h.effectAbove(time.Duration(bucket.Min() - 1))
}
