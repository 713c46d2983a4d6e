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
	left      []point // some of the possible parameters
}

// Window returns bounds on the time in which Limit requests pass; for a bucket,
// the time to fill it.
func (f Fit) Window() (low, high time.Duration) {
	if f.Kind != Bucket {
		return f.Low, f.High
	}
	n := time.Duration(f.Limit)
	if f.High >= Unbounded/n {
		return f.Low * n, Unbounded
	}
	return f.Low * n, f.High * n
}

// OpenBelow reports that nothing bounds the window below: Low is where the
// search begins.
func (f Fit) OpenBelow() bool { return f.Low <= shortest }

// shortest is the shortest window considered: the refill of one request at the
// fastest rate. No round trip is so short.
const shortest = time.Microsecond

// Unbounded is the High of a window without an upper bound.
const Unbounded = time.Duration(math.MaxInt64)

// within narrows the window.
func (f Fit) within(low, high int64) (Fit, bool) {
	f.Low, f.High = max(f.Low, time.Duration(low)), min(f.High, time.Duration(high))
	return f, f.Low <= f.High
}

// Fits returns the fits that the log allows, of those that are possible. It is nil
// if the log has no refusal or contradicts all families.
func Fits(l *Log, possible func(Fit) bool) []Fit {
	var all []Fit
	for limit := l.mostPossible(); limit >= 1; limit-- {
		for _, kind := range []Kind{Bucket, Sliding, Counter, Aligned, First} {
			f := Fit{Kind: kind, Limit: limit, High: Unbounded}
			all = append(all, f)
			if f.Counting = kind != Aligned && kind != First; f.Counting {
				all = append(all, f)
			}
		}
	}
	return Narrow(l, slices.DeleteFunc(all, func(f Fit) bool { return !possible(f) }))
}

// mostPossible returns the largest limit that the first refusals allow: a
// request is refused only after that many were accepted.
func (l *Log) mostPossible() int {
	if len(l.refusals) == 0 {
		return 0
	}
	most := math.MaxInt
	for _, o := range l.refusals {
		most = min(most, max(l.possible.sentBy(o.high), l.all.sentBy(o.high)-1))
	}
	return most
}

// Narrow returns what a longer log leaves of the fits of its beginning.
func Narrow(l *Log, fits []Fit) []Fit {
	each := func(narrow func(Fit) (Fit, bool)) (left []Fit) {
		for _, f := range fits {
			if f, ok := narrow(f); ok {
				left = append(left, f)
			}
		}
		return left
	}
	fits = each(l.bound)
	work := min(mostBoxes, allBoxes/max(1, len(fits)))
	return each(func(f Fit) (Fit, bool) {
		if f.High == Unbounded {
			return f, true
		}
		return l.explore(f, work)
	})
}

// bound narrows the window as far as counting requests does.
func (l *Log) bound(f Fit) (Fit, bool) {
	if f.Kind == Bucket {
		return l.fitBucket(f)
	}
	low, ok := l.latestFull(f)
	if !ok {
		return f, false
	}
	high := l.longestWindow(f)
	switch runs := l.spans(f.Limit + 1); {
	case f.Kind == Counter:
		low /= 2 // the limit-th latest request is at most two windows old
	case f.Kind == Sliding && f.Counting:
		high = min(high, l.shortestOfAll(f.Limit))
	case f.Kind == First && len(runs) > 0:
		// One of the first limit+1 accepted requests came after the first window.
		high = min(high, runs[0].high-l.possible.sent[0])
	}
	return f.within(low, high)
}

// A window without an upper bound is explored up to unboundedTo times its lower one,
// with little work, and only for guesses.
const (
	unboundedTo    = 3
	unboundedBoxes = 500
)

// explore narrows the window further and collects possible parameters.
func (l *Log) explore(f Fit, work int) (Fit, bool) {
	windows := span{max(1, float64(f.Low)), float64(f.High)}
	if f.High == Unbounded {
		windows.high = windows.low * unboundedTo
	}
	switch {
	case f.Kind == Bucket || f.Kind == Sliding || len(l.accepts) == 0: // bounds say it all
		f.left = nil
		for i := range spread {
			f.left = append(f.left, point{window: windows.low + windows.width()*float64(i)/(spread-1)})
		}
		return f, true
	case f.Kind == First:
		return l.search(f, plane{window: windows}, 1, l.refutesFirst(f.Limit), work)
	}
	// Seen from the middle of the log, boundaries are known best.
	half := float64(l.end()-l.start) / 2
	middle := float64(l.start) + half
	box := plane{window: windows, phase: span{middle, middle + windows.high}}
	return l.search(f, box, max(1, half/windows.low), l.counterCheck(f).refutes, work)
}
