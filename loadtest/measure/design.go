package measure

import (
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
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
// Simulated (design_test.go): the intervals contain the true quantile in at
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

// intervals holds the response times of one class by the interval in which the requests
// were due.
type intervals struct {
	each [][2]*hdr.PackedHistogram // the class; of accepted requests also the failed ones
	over int64                     // failed requests count above this, in nanoseconds
}

func intervalsOf(series []Interval, c Class) *intervals {
	s := &intervals{over: int64(Longest)}
	for _, interval := range series {
		parts := [2]*hdr.PackedHistogram{interval.Response[c].buckets}
		if c == Accepted {
			parts[1] = interval.Response[Failed].buckets
		}
		if parts[0] != nil || parts[1] != nil {
			s.each = append(s.each, parts)
		}
	}
	return s
}

// with returns s with the failed requests that took longer than over.
func (s *intervals) with(over int64) *intervals {
	if s == nil {
		return nil
	}
	return &intervals{s.each, over}
}

// effectAt returns the design effect on the quantile that has the value, of a
// breakdown that sees `own` of the samples. Samples in the quantile's own bucket
// count once as hits and once not, because many may share it; the larger effect counts.
func (s *intervals) effectAt(value, own int64) float64 {
	return max(s.effectAbove(value, own), s.effectReaching(value, own))
}

// effectAbove returns the design effect on the share of samples above the value's bucket.
func (s *intervals) effectAbove(value, own int64) float64 {
	return s.effect(func(sample int64) bool { return sample > value }, own)
}

// effectReaching returns the design effect on the share of samples from the value's bucket
// on.
func (s *intervals) effectReaching(value, own int64) float64 {
	bucket := newBuckets(intervalFigures)
	_ = bucket.RecordValue(value) // a value from such buckets
	from := bucket.Min()
	return s.effect(func(sample int64) bool { return sample >= from }, own)
}

// effect returns the design effect on the share of samples, given by the lower ends of
// their buckets, that are hits.
func (s *intervals) effect(hits func(sample int64) bool, own int64) float64 {
	if s == nil || len(s.each) < leastBlocks {
		return 1
	}
	blocks := make([]block, len(s.each))
	for i, parts := range s.each {
		for part, of := range parts {
			if of == nil {
				continue
			}
			for value, count := range of.ForEachBucket {
				if part == 1 && value <= s.over {
					continue
				}
				blocks[i].n += count
				if hits(value) {
					blocks[i].hits += count
				}
			}
		}
	}
	return designEffect(blocks, own)
}
