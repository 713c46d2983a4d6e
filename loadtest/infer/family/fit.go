package family

import (
	"math"
	"slices"
	"time"
)

// Kind names a family.
type Kind string

// The families. A token bucket and GCRA are the same from outside.
const (
	Bucket  Kind = "token-bucket"
	Aligned Kind = "fixed-window"
	First   Kind = "first-request-window"
	Sliding Kind = "sliding-log"
	Counter Kind = "sliding-counter"
)

// Fit is one family with one limit, and the parameters that nothing contradicts.
type Fit struct {
	Kind Kind
	// Counting: refused requests count. Fixed windows are alike either way, and
	// stand for both with Counting false.
	Counting bool
	Limit    int // of the window; the capacity of a bucket
	// Low and High bound the window; for a bucket the time to refill one request.
	Low, High time.Duration
	// PhaseLow and PhaseHigh bound one boundary of a window that follows the
	// clock, in the log's time.
	PhaseLow, PhaseHigh time.Duration
	corners             corners // of what is left of window and boundary, where both were searched
}

// Window is the time in which Limit requests pass; for a bucket the time to fill it.
func (f Fit) Window() (low, high time.Duration) {
	if f.Kind == Bucket {
		if f.High >= Unbounded/time.Duration(f.Limit) {
			return f.Low * time.Duration(f.Limit), Unbounded
		}
		return f.Low * time.Duration(f.Limit), f.High * time.Duration(f.Limit)
	}
	return f.Low, f.High
}

// Rate is what passes in the long run, in requests a second: from 0 where
// nothing bounds the window from above, to infinity where nothing does from below.
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

// OpenBelow tells that nothing bounds the window from below: Low is where the
// search begins.
func (f Fit) OpenBelow() bool { return f.Low <= shortest }

// shortest is where the search for windows begins: the refill of one request at
// the fastest rate that is looked at. No round trip is so short.
const shortest = time.Microsecond

// Unbounded is the High of a window that nothing bounds from above.
const Unbounded = time.Duration(math.MaxInt64)

// Fits returns what the log leaves possible. Without a refusal there is nothing
// to say, and with all families contradicted nothing is left: both are nil.
func Fits(l *Log) []Fit { return FitsAmong(l, func(Fit) bool { return true }) }

// FitsAmong is Fits with some ruled out beforehand, by kind, limit and counting.
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

// few fits are each worth the whole work; more of them share it, and those that
// come late get a rough look only.
const few = 6

// Narrow returns what a log leaves of fits that a beginning of it left.
func Narrow(l *Log, fits []Fit) []Fit {
	if len(fits) <= few {
		return l.narrowEach(fits)
	}
	var left []Fit
	work := mostBoxes
	for _, f := range fits {
		if f, ok := l.narrow(f, &work); ok {
			left = append(left, f)
		}
	}
	return left
}

// Remainder is what a growing log leaves of fits, with the same work for each,
// however many there are.
type Remainder struct {
	Fits     []Fit
	counters [2]counters // of accepted requests, and of all
}

// NewRemainder returns the fits as they are.
func NewRemainder(fits []Fit) *Remainder {
	return &Remainder{Fits: fits, counters: [2]counters{{}, {counting: true}}}
}

// Narrow looks at the log, which begins with the one that was looked at before.
func (r *Remainder) Narrow(l *Log) {
	var left []Fit
	var sliding [2][]Fit
	for _, f := range r.Fits {
		switch {
		case f.Kind != Counter:
			left = append(left, l.narrowEach([]Fit{f})...)
		case f.Counting:
			sliding[1] = append(sliding[1], f)
		default:
			sliding[0] = append(sliding[0], f)
		}
	}
	for i := range sliding {
		left = append(left, r.counters[i].narrow(l, sliding[i])...)
	}
	r.Fits = left
}

func (l *Log) narrowEach(fits []Fit) []Fit {
	var left []Fit
	for _, f := range fits {
		work := mostBoxes
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

// mostPossible is the greatest limit that the first refusals allow: a request
// is refused only after as many as the limit were let through.
func (l *Log) mostPossible() int {
	most := math.MaxInt
	for _, o := range l.refusals {
		most = min(most, max(l.possible.sentBy(o.Received), l.all.sentBy(o.Received)-1))
	}
	return most
}
