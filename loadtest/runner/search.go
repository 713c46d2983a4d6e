package runner

import (
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/verdict"
)

// sustained searches for the highest rate that meets the thresholds.
func (r *runner) sustained() error {
	s := r.scenario
	if err := r.warmUp(prepare.InTurn); err != nil {
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
	name, lasts := printable.Figure(rate)+"/s", r.scenario.Duration
	if confirm {
		name, lasts = "confirming "+name, r.scenario.Confirm
	}
	whole := measure.Constant(rate, lasts)
	before := r.outageNotes
	rec, err := r.send(name, whole, r.mix.Requests(prepare.InTurn, r.places), false)
	r.places += uint64(whole.Planned())
	if err == nil && silent(rec) {
		err = r.gone(name)
	}
	if err != nil {
		// Earlier, the rate may have been too high; now the target has died.
		r.draft.NoteFirst(slices.Concat(before, r.outageNotes)...)
		r.draft.Keep(rec, err)
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

// The search for the highest sustained rate doubles the rate until one is not met. It then
// narrows the gap: around the rate with which a target that fell behind kept up, otherwise
// on a logarithmic scale. A longer run confirms the result. A rate that fails its
// confirmation is an upper bound like any other.

const (
	// narrow is the ratio of the rates not met and met at which the search
	// ends.
	narrow = 1.04
	// mostSteps limits the search, mostConfirmations the confirmations after
	// it.
	mostSteps         = 24
	mostConfirmations = 6
	// below and above are the rates to try around one with which the target kept up.
	below, above = 0.985, 1.02
	// apart is the least ratio of two rates that are worth a try each.
	apart = 1.005
	// leastRate is the lowest rate tried, in requests per second.
	leastRate = 1.0
)

// seeking is the state of a search.
type seeking struct {
	verdict.Found
	met    []float64 // rates that were met, and not missed since
	served float64   // with which the target kept up at the last rate that was not met; 0 if unknown
	try    func(rate float64, confirm bool) (verdict.Tried, error)
}

// search finds the highest rate between start and most that is met. try runs
// one rate, for longer if it confirms; its error ends the search.
func search(start, most float64, try func(rate float64, confirm bool) (verdict.Tried, error)) (verdict.Found, error) {
	s := seeking{try: try}
	for range mostSteps {
		rate, more := s.next(start, most)
		if !more {
			break
		}
		if _, err := s.step(rate, false); err != nil {
			return s.Found, err
		}
	}
	err := s.confirm()
	return s.Found, err
}

// confirm confirms the highest rate that was met. If it fails, it falls back in growing
// steps, and closes the gap again as far as the number of confirmations allows.
func (s *seeking) confirm() error {
	rate, held := s.Rate, 0.0
	for tried := 1; rate > 0 && tried <= mostConfirmations; tried++ {
		ok, err := s.step(rate, true)
		if err != nil {
			return err
		}
		if ok {
			held = rate
		}
		switch {
		case held == 0:
			rate = s.lower(tried)
		case s.Above == 0 || s.Above/held <= narrow:
			rate = 0
		default:
			rate = math.Sqrt(held * s.Above)
		}
	}
	s.Rate, s.Confirmed = held, held > 0
	s.Most = s.Confirmed && s.Above == 0
	return nil
}

// step runs one rate and reports whether it was met.
func (s *seeking) step(rate float64, confirm bool) (bool, error) {
	t, err := s.try(rate, confirm)
	if err != nil {
		return false, err
	}
	if t.Met && !t.Ceiling {
		s.Rate = max(s.Rate, rate)
		s.met = append(s.met, rate)
		return true, nil
	}
	s.Ceiling, s.Above, s.served = t.Ceiling, rate, t.Served
	s.met = slices.DeleteFunc(s.met, func(met float64) bool { return met >= rate })
	return false, nil
}

// next returns the rate to try. more is false if the gap is narrow.
func (s *seeking) next(start, most float64) (rate float64, more bool) {
	switch {
	case s.Rate == 0 && s.Above == 0:
		return min(start, most), true
	case s.Above == 0:
		return min(s.Rate*2, most), s.Rate < most
	case s.Rate == 0 && s.served*below >= leastRate:
		return min(s.served*below, s.Above/2), true
	case s.Rate == 0:
		return s.Above / 2, s.Above/2 >= leastRate
	case s.Above/s.Rate <= narrow:
		return 0, false
	case s.between(s.served * below):
		return s.served * below, true
	case s.between(s.served * above):
		return s.served * above, true
	default:
		return math.Sqrt(s.Rate * s.Above), true
	}
}

// between reports whether the rate lies well between those met and not met.
func (s *seeking) between(rate float64) bool {
	return rate > s.Rate*apart && rate < s.Above/apart
}

// lower returns the rate to confirm next, after some rates failed: one with which the
// target kept up, or else one that is further away each time, but no lower than the next
// lower rate that was met; 0 if none is left.
func (s *seeking) lower(failed int) float64 {
	rate := s.Above / math.Pow(narrow, math.Exp2(float64(failed-1)))
	// What the target kept up with is an estimate. It is not trusted a third time.
	if kept := s.served * below; kept >= leastRate && kept < s.Above/apart && (failed <= 2 || kept < rate) {
		rate = kept
	}
	for _, met := range s.met {
		rate = max(rate, met)
	}
	if rate < leastRate {
		return 0
	}
	return rate
}
