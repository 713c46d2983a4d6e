package measure

import (
	"encoding/binary"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// sealed is a histogram of one second in about two bytes per bucket: the
// distance from the previous bucket, in units of the resolution, and the count,
// both as varints. An hour of histograms in their open form would take three
// times the memory.
type sealed []byte

// resolution divides the lower bounds of all buckets: the largest power of two
// nanoseconds within Shortest.
const resolution = 512

func seal(b *hdr.PackedHistogram) sealed {
	out := make([]byte, 0, 3*b.Populated())
	var last int64
	for value, count := range b.ForEachBucket {
		out = binary.AppendUvarint(out, uint64(value-last)/resolution)
		out = binary.AppendUvarint(out, uint64(count))
		last = value
	}
	return append(sealed{}, out...) // without spare capacity
}

// each calls yield with the lower bound and count of each bucket, in ascending
// order.
func (s sealed) each(yield func(value, count int64) bool) {
	var value int64
	for len(s) > 0 {
		step, n := binary.Uvarint(s)
		count, m := binary.Uvarint(s[n:])
		s = s[n+m:]
		value += int64(step) * resolution
		if !yield(value, int64(count)) {
			return
		}
	}
}

func (s sealed) open() *hdr.PackedHistogram {
	b := newBuckets(secondFigures)
	for value, count := range s.each {
		_ = b.RecordValues(value, count) // came out of such buckets
	}
	return b
}
