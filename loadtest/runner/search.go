package runner

import (
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/verdict"
)

// sustained searches for the highest rate that meets the thresholds.
func (r *runner) sustained() error {
	s := r.scenario
	if err := r.warmUp(s.Rate, prepare.InTurn); err != nil {
		return err
	}
	r.draft.BeginSearch()
	most := s.MaxRate
	if allowed := r.env.MaxRate; allowed > 0 {
		most = min(most, allowed)
	}
	f, err := search(min(s.Rate, most), most, r.try)
	r.draft.EndSearch(f, err)
	return err
}

// try runs one rate. Only a confirmed rate counts for the thresholds.
func (r *runner) try(rate float64, confirm bool) (verdict.Tried, error) {
	name, lasts := fmt.Sprintf("%.0f/s", rate), r.scenario.Duration
	if confirm {
		name, lasts = "confirming "+name, r.scenario.Confirm
	}
	whole := schedule.Constant(rate, lasts)
	before := r.outageNotes
	rec, err := r.send(name, whole, r.mix.Requests(prepare.InTurn, r.places), false)
	r.places += uint64(whole.Planned())
	if err == nil && silent(rec) {
		err = r.gone(name)
	}
	if err != nil {
		// Earlier, the rate may have been too high; now the target has died.
		r.draft.NoteFirst(slices.Concat(before, r.outageNotes)...)
		r.draft.KeepCut(verdict.Phase{Recording: rec}, err)
		return verdict.Tried{}, err
	}
	return r.draft.Try(rec, confirm), nil
}

// gone returns an error if the target does not answer even a single request: it
// is dead, not overloaded.
func (r *runner) gone(after string) error {
	request, _, ok := prepare.Typical(r.env.Profile)
	if !ok {
		return nil // nothing to ask for
	}
	if ex := r.env.Client.Do(r.ctx, request); ex.Err != nil && ex.Status == 0 {
		return fmt.Errorf("%s: the target stopped answering, search aborted: %w", after, ex.Err)
	}
	return nil
}

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

// search finds the highest rate between start and most that is met. try runs
// one rate, for longer if it confirms; its error ends the search.
func search(start, most float64, try func(rate float64, confirm bool) (verdict.Tried, error)) (verdict.Found, error) {
	var f verdict.Found
	step := func(rate float64, confirm bool) (bool, error) {
		t, err := try(rate, confirm)
		switch {
		case err != nil:
			return false, err
		case t.Ceiling:
			f.Ceiling = true
			f.Above = rate
		case t.Met:
			f.Rate = max(f.Rate, rate)
		default:
			f.Ceiling = false
			f.Above = rate
		}
		return t.Met && !t.Ceiling, nil
	}
	for range mostSteps {
		next, more := next(f, start, most)
		if !more {
			break
		}
		if _, err := step(next, false); err != nil {
			return f, err
		}
	}
	for range mostConfirmations {
		if f.Rate == 0 {
			break
		}
		rate := f.Rate
		f.Rate = 0
		held, err := step(rate, true)
		if err != nil {
			return f, err
		}
		if held {
			f.Confirmed = true
			break
		}
		if f.Rate = rate * stepDown; f.Rate < leastRate {
			f.Rate = 0
		}
	}
	if !f.Confirmed {
		f.Rate = 0
	}
	f.Most = f.Confirmed && f.Above == 0
	return f, nil
}

// next returns the rate to try. more is false if the gap is narrow.
func next(f verdict.Found, start, most float64) (rate float64, more bool) {
	switch {
	case f.Rate == 0 && f.Above == 0:
		return min(start, most), true
	case f.Above == 0:
		return min(f.Rate*2, most), f.Rate < most
	case f.Rate == 0:
		return f.Above / 2, f.Above/2 >= leastRate
	default:
		return math.Sqrt(f.Rate * f.Above), f.Above/f.Rate > narrow
	}
}
