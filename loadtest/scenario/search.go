package scenario

import "math"

// The search for the highest sustained rate doubles the rate until one is not
// met. It then halves the gap on a logarithmic scale until it is narrow, and
// confirms the result by a longer run. A rate that fails its confirmation is an
// upper bound like any other.

const (
	// narrow is the ratio of the rates not met and met at which the search
	// ends.
	narrow = 1.1
	// mostSteps limits the search, mostConfirmations the confirmations after
	// it.
	mostSteps         = 24
	mostConfirmations = 6
	// stepDown is the factor for a rate that failed its confirmation.
	stepDown = 0.85
	// leastRate is the lowest rate tried, in requests per second.
	leastRate = 1.0
)

// tried is the result of one rate.
type tried struct {
	met bool
	// ceiling means that the generator could not reach the rate, so nothing is
	// known about the target there.
	ceiling bool
}

// found is the result of a search. Rates are requests per second.
type found struct {
	rate      float64 // the highest that was met; 0 if none was
	above     float64 // the lowest that was not met; 0 if none was
	confirmed bool
	ceiling   bool // the generator limited the search
	most      bool // the search ended at the highest allowed rate
}

// search finds the highest rate between start and most that is met. try runs
// one rate, for longer if it confirms; its error ends the search.
func search(start, most float64, try func(rate float64, confirm bool) (tried, error)) (found, error) {
	var f found
	step := func(rate float64, confirm bool) (bool, error) {
		t, err := try(rate, confirm)
		switch {
		case err != nil:
			return false, err
		case t.ceiling:
			f.ceiling = true
			f.above = rate
		case t.met:
			f.rate = max(f.rate, rate)
		default:
			f.ceiling = false
			f.above = rate
		}
		return t.met && !t.ceiling, nil
	}
	for range mostSteps {
		next, more := f.next(start, most)
		if !more {
			break
		}
		if _, err := step(next, false); err != nil {
			return f, err
		}
	}
	for range mostConfirmations {
		if f.rate == 0 {
			break
		}
		rate := f.rate
		f.rate = 0
		held, err := step(rate, true)
		if err != nil {
			return f, err
		}
		if held {
			f.confirmed = true
			break
		}
		if f.rate = rate * stepDown; f.rate < leastRate {
			f.rate = 0
		}
	}
	if !f.confirmed {
		f.rate = 0
	}
	f.most = f.confirmed && f.above == 0
	return f, nil
}

// next returns the rate to try. more is false if the gap is narrow.
func (f found) next(start, most float64) (rate float64, more bool) {
	switch {
	case f.rate == 0 && f.above == 0:
		return min(start, most), true
	case f.above == 0:
		return min(f.rate*2, most), f.rate < most
	case f.rate == 0:
		return f.above / 2, f.above/2 >= leastRate
	default:
		return math.Sqrt(f.rate * f.above), f.above/f.rate > narrow
	}
}
