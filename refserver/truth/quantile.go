package truth

import (
	"cmp"
	"slices"
	"time"
)

// Quantile is the bucket that holds the p-quantile, 0 ≤ p ≤ 1, of the latencies
// for which match holds: the least latency of which at least that share is not
// longer lies in it. Without any, ok is false.
func (r Report) Quantile(p float64, match func(Latency) bool) (bucket Bucket, ok bool) {
	counts := map[Bucket]int64{}
	var all int64
	for _, l := range r.Latency {
		if !match(l) {
			continue
		}
		for _, b := range l.Buckets {
			counts[Bucket{FromNS: b.FromNS, ToNS: b.ToNS}] += b.Count
			all += b.Count
		}
	}
	var buckets []Bucket
	for b, n := range counts {
		buckets = append(buckets, Bucket{b.FromNS, b.ToNS, n})
	}
	slices.SortFunc(buckets, func(a, b Bucket) int { return cmp.Compare(a.FromNS, b.FromNS) })
	var below int64
	for _, b := range buckets {
		if below += b.Count; float64(below) >= p*float64(all) {
			return b, true
		}
	}
	return Bucket{}, false
}

// Holds says whether a measured latency agrees with the bucket: it is no further
// from it than the given share of the true value or the given time, whichever
// is more.
func (b Bucket) Holds(measured time.Duration, share float64, within time.Duration) bool {
	slack := func(ns int64) int64 { return max(int64(share*float64(ns)), int64(within)) }
	return int64(measured) >= b.FromNS-slack(b.FromNS) && int64(measured) <= b.ToNS+slack(b.ToNS)
}
