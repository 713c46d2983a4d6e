package measure

import (
	"math"
	"time"
)

// Tolerances before Served reports a server that falls behind: beyond them a
// queue grows; within them chance and the end of a phase look the same.
const (
	lengthened = 0.01 // growth of the response time per elapsed time
	briefly    = 0.02 // the same in a phase that is too short to see the requests in flight grow
	unserved   = 0.01 // growth of the requests in flight per request sent
	sigmas     = 3    // of the difference between two means
)

// Served returns how many requests per second the server kept up with if it
// fell behind a constant rate: a queue grew, so later requests waited longer.
// At 330/s, a capacity of 300/s adds a tenth of a second to the response time
// every second. It returns 0 if the server kept up or if there are too few requests
// to tell.
//
// It compares the response times of requests due in the first and last third;
// those of a server that is merely slow do not change. The requests in flight
// must grow too: after a stall they are as few as before.
func (r Recording) Served() float64 {
	first, last := r.histograms[key{Kind: firstKind, Class: Accepted}], r.histograms[key{Kind: lastKind, Class: Accepted}]
	grows, known := r.growing()
	if first == nil || last == nil || known && !grows {
		return 0
	}
	tolerated := lengthened
	if !known {
		tolerated = briefly
	}
	square := func(h *Histogram) float64 { // of the mean's standard error
		return math.Pow(h.buckets.StdDev()/1e9, 2) / float64(h.Count())
	}
	passed := r.Duration().Seconds() * 2 / 3
	later := (last.buckets.Mean() - first.buckets.Mean()) / 1e9
	if later <= tolerated*passed+sigmas*math.Sqrt(square(first)+square(last)) {
		return 0
	}
	return r.Rate() / (1 + later/passed)
}

// growing reports whether the requests in flight grew from the first to the
// last whole interval by more than chance. That is unknown of a phase with only one.
func (r Recording) growing() (grows, known bool) {
	var underWay, sent, first, before int64
	last := int(r.Duration() / r.Width)
	for _, s := range r.Series {
		if s.Begins() >= time.Duration(last)*r.Width {
			break
		}
		underWay += s.Sent - s.Done
		sent += s.Sent
		if s.T == 0 {
			first, before = underWay, sent
		}
	}
	return float64(underWay-first) > unserved*float64(sent-before), last >= 2
}
