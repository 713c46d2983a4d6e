package truth

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A histogram has one bucket a microsecond up to 128 µs, and 128 buckets for
// each doubling above, up to 2^31 µs, which is more than half an hour.
const (
	subBits    = 7
	subBuckets = 1 << subBits
	maxBits    = 31
	allBuckets = (maxBits - subBits + 1) * subBuckets
)

type histogram [allBuckets]atomic.Int64

func (h *histogram) add(d time.Duration) { h[bucketOf(d.Microseconds())].Add(1) }

// bucketOf returns the index of the bucket of a latency in microseconds. What is
// too long for the histogram goes into its last bucket.
func bucketOf(us int64) int {
	us = min(max(us, 0), 1<<maxBits-1)
	if us < subBuckets {
		return int(us)
	}
	shift := bits.Len64(uint64(us)) - subBits - 1
	return shift<<subBits + int(us>>shift)
}

// lowerBound returns the least latency of a bucket, in microseconds.
func lowerBound(bucket int) int64 {
	if bucket < subBuckets {
		return int64(bucket)
	}
	shift := bucket>>subBits - 1
	return int64(bucket-shift<<subBits) << shift
}

func (h *histogram) buckets() []Bucket {
	filled := []Bucket{}
	for i := range h {
		if n := h[i].Load(); n > 0 {
			filled = append(filled, Bucket{1000 * lowerBound(i), 1000 * lowerBound(i+1), n})
		}
	}
	return filled
}
