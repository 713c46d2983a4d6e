package family

import (
	"math"
	"slices"
	"time"
)

// Kind is a family of limiters.
type Kind string

// The families. A token bucket and GCRA look the same from outside.
const (
	Bucket  Kind = "token-bucket"
	Aligned Kind = "fixed-window"
	First   Kind = "first-request-window"
	Sliding Kind = "sliding-log"
	Counter Kind = "sliding-counter"
)

// Fit is one family with one limit and the parameters that no observation
// contradicts.
type Fit struct {
	Kind Kind
	// Counting means that refused requests count. It makes no difference to
	// fixed windows, whose fits have Counting false.
	Counting bool
	Limit    int // of the window; the capacity of a bucket
	// Low and High bound the window; for a bucket, the time to refill one
	// request.
	Low, High time.Duration
	// PhaseLow and PhaseHigh bound one boundary of an aligned window, in the
	// log's time.
	PhaseLow, PhaseHigh time.Duration
	corners             corners // extreme points of window and boundary, if both were searched
}

// Window returns bounds on the time in which Limit requests pass; for a bucket,
// the time to fill it.
func (f Fit) Window() (low, high time.Duration) {
	if f.Kind == Bucket {
		if f.High >= Unbounded/time.Duration(f.Limit) {
			return f.Low * time.Duration(f.Limit), Unbounded
		}
		return f.Low * time.Duration(f.Limit), f.High * time.Duration(f.Limit)
	}
	return f.Low, f.High
}

// Rate returns bounds on the long-term rate in requests per second: from 0 if
// nothing bounds the window above, to infinity if nothing bounds it below.
func (f Fit) Rate() (low, high float64) {
	n := float64(f.Limit)
	if f.Kind == Bucket {
		n = 1
	}
	low, high = 0, math.Inf(1)
	if f.High != Unbounded {
		low = n / f.High.Seconds()
	}
	if !f.OpenBelow() {
		high = n / f.Low.Seconds()
	}
	return low, high
}

// OpenBelow reports that nothing bounds the window below: Low is where the
// search begins.
func (f Fit) OpenBelow() bool { return f.Low <= shortest }

// shortest is the shortest window considered: the refill of one request at the
// fastest rate. No round trip is so short.
const shortest = time.Microsecond

// Unbounded is the High of a window without an upper bound.
const Unbounded = time.Duration(math.MaxInt64)

// Fits returns the fits that the log allows. It is nil if the log has no
// refusal or contradicts all families.
func Fits(l *Log) []Fit { return FitsAmong(l, func(Fit) bool { return true }) }

// FitsAmong is Fits restricted by kind, limit and counting.
func FitsAmong(l *Log, possible func(Fit) bool) []Fit {
	if len(l.refusals) == 0 {
		return nil
	}
	var start []Fit
	for limit := l.mostPossible(); limit >= 1; limit-- {
		for _, kind := range []Kind{Bucket, Sliding, Counter} {
			start = append(start, Fit{Kind: kind, Limit: limit, High: Unbounded}, Fit{Kind: kind, Counting: true, Limit: limit, High: Unbounded})
		}
		start = append(start, Fit{Kind: Aligned, Limit: limit, High: Unbounded}, Fit{Kind: First, Limit: limit, High: Unbounded})
	}
	return Narrow(l, slices.DeleteFunc(start, func(f Fit) bool { return !possible(f) }))
}

// allBoxes limits the work for all fits, of which each gets the same.
const allBoxes = 4 * mostBoxes

// Narrow returns what a longer log leaves of the fits of its beginning.
func Narrow(l *Log, fits []Fit) []Fit {
	var left []Fit
	for _, f := range fits {
		work := min(mostBoxes, allBoxes/len(fits))
		if f, ok := l.narrow(f, &work); ok {
			left = append(left, f)
		}
	}
	return left
}

func (l *Log) narrow(f Fit, work *int) (Fit, bool) {
	switch f.Kind {
	case Bucket:
		return l.fitBucket(f)
	case Sliding:
		return l.fitSliding(f)
	case First:
		return l.fitFirst(f, work)
	case Aligned:
		return l.fitAligned(f, work)
	default:
		return l.fitCounter(f, work)
	}
}

// mostPossible returns the largest limit that the first refusals allow: a
// request is refused only after that many were accepted.
func (l *Log) mostPossible() int {
	most := math.MaxInt
	for _, o := range l.refusals {
		most = min(most, max(l.possible.sentBy(o.Received), l.all.sentBy(o.Received)-1))
	}
	return most
}
