package measure

import (
	"math"
	"time"
)

// What a server may fall behind by before Served says so: beyond it a queue
// grows, below it chance and the end of a phase may look alike.
const (
	lengthened = 0.02 // of the time that has passed, in response time
	unserved   = 0.01 // of the requests that were sent, in requests under way
	sigmas     = 3    // of the difference between two means
)

// Third sums up the accepted requests that were due in a third of a phase. Times
// are in seconds.
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

// mean is the mean response time, and the square of its standard error.
func (t Third) mean() (mean, square float64) {
	n := float64(t.Count)
	mean = t.Took / n
	return mean, max(t.Squares/n-mean*mean, 0) / n
}

// third is that of the phase in which the request was due; nil in the middle one,
// and where there is no schedule.
func (r *Recorder) third(due time.Duration) *Third {
	switch of := r.plan.Duration; {
	case r.plan.ClosedLoop || r.plan.Rate == 0:
		return nil
	case due < of/3:
		return &r.first
	case due >= of-of/3:
		return &r.last
	}
	return nil
}

// Served is how many requests a second the server kept up with, where it fell
// behind its schedule of one rate: then a queue grew, so that what was due later
// waited longer. A capacity of 300/s that is asked for 330/s adds a tenth of a
// second to the response time in each second. behind is false where it kept up,
// and where there are too few requests to tell.
//
// Response times of what was due in the first and in the last third are compared:
// those of a slow server do not change. Requests under way have to grow as well:
// after a stall they are as few as before.
func (r Recording) Served() (perSecond float64, behind bool) {
	if r.First.Count == 0 || r.Last.Count == 0 || !r.growing() {
		return 0, false
	}
	passed := r.Duration.Seconds() * 2 / 3
	early, earlySquare := r.First.mean()
	late, lateSquare := r.Last.mean()
	if late-early <= lengthened*passed+sigmas*math.Sqrt(earlySquare+lateSquare) {
		return 0, false
	}
	return r.Rate / (1 + (late-early)/passed), true
}

// growing reports whether more requests were under way at the last whole second
// than at the first, by too many for chance. A phase that has but one such second
// does not contradict it.
func (r Recording) growing() bool {
	var underWay, sent, first, before int64
	last := int(r.Duration / time.Second)
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
	return last < 2 || float64(underWay-first) > unserved*float64(sent-before)
}
