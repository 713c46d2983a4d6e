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

// Third sums up the accepted requests due in one third of a phase. Times are in
// seconds.
type Third struct {
	Count   int64
	Took    float64 // response times
	Squares float64 // of response times
}

func (t *Third) add(took time.Duration) {
	s := min(max(took, 0), Longest).Seconds()
	t.Count++
	t.Took += s
	t.Squares += s * s
}

func (t Third) merged(other Third) Third {
	return Third{t.Count + other.Count, t.Took + other.Took, t.Squares + other.Squares}
}

// mean returns the mean response time and the square of its standard error.
func (t Third) mean() (mean, square float64) {
	n := float64(t.Count)
	mean = t.Took / n
	return mean, max(t.Squares/n-mean*mean, 0) / n
}

// third returns the third in which the request was due; nil for the middle one
// or without a schedule.
func (r *Recorder) third(due time.Duration) *Third {
	switch of := r.rec.Duration; {
	case r.rec.ClosedLoop || r.rec.Rate == 0:
		return nil
	case due < of/3:
		return &r.rec.First
	case due >= of-of/3:
		return &r.rec.Last
	}
	return nil
}

// Served returns how many requests per second the server kept up with if it
// fell behind a constant rate: a queue grew, so later requests waited longer.
// At 330/s, a capacity of 300/s adds a tenth of a second to the response time
// every second. behind is false if it kept up or if there are too few requests
// to tell.
//
// It compares the response times of requests due in the first and last third;
// those of a server that is merely slow do not change. The requests in flight
// must grow too: after a stall they are as few as before.
func (r Recording) Served() (perSecond float64, behind bool) {
	grows, known := r.growing()
	if r.First.Count == 0 || r.Last.Count == 0 || known && !grows {
		return 0, false
	}
	tolerated := lengthened
	if !known {
		tolerated = briefly
	}
	passed := r.Duration.Seconds() * 2 / 3
	early, earlySquare := r.First.mean()
	late, lateSquare := r.Last.mean()
	if late-early <= tolerated*passed+sigmas*math.Sqrt(earlySquare+lateSquare) {
		return 0, false
	}
	return r.Rate / (1 + (late-early)/passed), true
}

// growing reports whether the requests in flight grew from the first to the
// last whole interval by more than chance. That is unknown of a phase with only one.
func (r Recording) growing() (grows, known bool) {
	var underWay, sent, first, before int64
	last := int(r.Duration / r.Width)
	for _, s := range r.Series {
		if s.At >= last {
			break
		}
		underWay += s.Sent - s.Done
		sent += s.Sent
		if s.At == 0 {
			first, before = underWay, sent
		}
	}
	return float64(underWay-first) > unserved*float64(sent-before), last >= 2
}
