package infer

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// search identifies the fastest layer. It holds the state that the steps share.
type search struct {
	*prober
	random *rand.Rand

	trip     time.Duration // round trip, median of the calm ones
	burst    int           // requests accepted before the first refusal, in one go
	recovery time.Duration // approximate time between an accepted request and the next one
	scale    time.Duration // approximate window: the time in which burst requests pass
	fits     []family.Fit  // remaining fits; nil before the first fit
	fitted   bool
	rounds   int
	polls    []time.Duration // planned since the last drain; nil before
	guesses  []guess         // models for the fits, during a round
	left     float64         // size of the fits before the last round
	idle     int             // rounds without progress
	upheld   map[class]int   // experiments with a correct prediction
	doubts   int             // surprises for all models in a round
	guessed  int             // number of observations the guesses know

	fast       []family.Fit      // the fits when the search for the fast layer had ended
	understood time.Duration     // when that was
	slower     *family.Remainder // what is left of a slower layer; nil before the first fit
	slow       []family.Fit      // its fits
	sustained  time.Duration     // when the fast layer began to be kept at its limit; 0 for never
	marked     int               // number of observations checked for its refusals
	inFlight   [2]int            // concurrency limit: minimum and maximum accepted at once
	controls   map[Subject]family.Verdict
	tally      map[Subject]tally
	cycles     []cycle
}

// errTooFast means that only windows shorter than leastTrips round trips are
// left.
var errTooFast = errors.New("the window is shorter than four round trips, too short to measure from here")

// leastTrips is the minimum window in round trips. Shorter windows explain too
// much, because requests in flight may arrive in any order.
const leastTrips = 4

func newSearch(ctx context.Context, w Wire, o Options) *search {
	return &search{
		prober: newProber(ctx, w, o), random: rand.New(rand.NewPCG(o.Seed, 0x6c696d6974)),
		controls: map[Subject]family.Verdict{}, tally: map[Subject]tally{}, upheld: map[class]int{},
	}
}

// maxRounds limits the rounds after the first steps.
const maxRounds = 30

// errNoLimit means that no request was refused within the budget.
var errNoLimit = errors.New("no request was refused")

// errUseless means that single requests are neither accepted nor limited.
var errUseless = errors.New("single requests got neither a 2xx nor a 429")

// errForeign means that no family explains the observations.
var errForeign = errors.New("contradicted")

// run probes until one family is left with well-known parameters, or until
// nothing more can be learnt.
func (s *search) run() error {
	for _, step := range []func() error{s.calibrate, s.untilRefused, s.untilOpen, s.fit} {
		if err := step(); err != nil {
			return err
		}
	}
	for range maxRounds {
		if s.settled() && s.proven() {
			return nil
		}
		if err := s.round(); err != nil {
			return err
		}
		if err := s.fit(); err != nil {
			return err
		}
	}
	if s.settled() && !s.proven() {
		// The remaining fit never predicted anything: it is left by chance.
		s.fits = nil
		return errForeign
	}
	return nil
}

// calibrate sends a few requests one at a time.
func (s *search) calibrate() error {
	s.next("calibrate")
	for range 5 {
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Refused {
			break // a small limit or other traffic on the key
		}
	}
	s.trip = medianTrip(s.seen)
	if count(s.seen, family.Unknown) == len(s.seen) {
		return errUseless
	}
	return nil
}

// untilRefused sends growing groups until a request is refused.
func (s *search) untilRefused() error {
	s.next("burst")
	s.burst = count(s.seen, family.Accepted)
	if count(s.seen, family.Refused) > 0 {
		return nil
	}
	for size := 1; ; size = min(2*size, s.options.MaxParallel) {
		if len(s.seen) > s.options.MaxRequests/2 || s.now() > s.options.MaxTime/2 {
			return errNoLimit
		}
		seen, err := s.send(Main, size)
		if errors.Is(err, errBudget) {
			return errNoLimit
		}
		if err != nil {
			return err
		}
		s.burst += count(seen, family.Accepted)
		if count(seen, family.Refused) > 0 {
			return s.onlyTogether()
		}
	}
}

// untilOpen sends single requests at growing waits until one passes.
func (s *search) untilOpen() error {
	s.next("recovery without requests")
	closed := s.lastReceived()
	for wait := max(3*s.trip, 5*time.Millisecond); ; wait = wait * 7 / 5 {
		if err := s.sleepUntil(closed + wait); err != nil {
			return err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Accepted {
			s.recovery = s.now() - closed
			s.scale = s.recovery
			return nil
		}
	}
}
