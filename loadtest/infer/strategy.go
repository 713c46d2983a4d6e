package infer

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// search finds out the fastest layer. It holds what the steps tell each other.
type search struct {
	*prober
	random *rand.Rand

	trip     time.Duration // round trip, median of the calm ones
	burst    int           // requests that passed before the first refusal, in one go
	recovery time.Duration // from the last request that passed to the next one, roughly
	scale    time.Duration // the window, roughly: the time in which burst requests pass
	fits     []family.Fit  // what is left; nil before the first fit
	fitted   bool
	rounds   int
	polls    []time.Duration // planned since the last drain; nil before
	guesses  []guess         // models for the fits, during a round
	left     float64         // by the fits, before the last round
	idle     int             // rounds that told nothing
	upheld   map[class]int   // experiments in which it opened as foretold
	doubts   int             // times that no model expected what came, in a round
	guessed  int             // how much of what was seen they know

	fast       []family.Fit      // the fits when the search for the fast layer had ended
	understood time.Duration     // when that was
	slower     *family.Remainder // what is left of a layer behind it; nil before the first fit
	slow       []family.Fit      // its fits
	sustained  time.Duration     // when the fast layer began to be kept at its limit; 0 for never
	marked     int               // how much of what was seen was looked at for refusals by it
	inFlight   [2]int            // of a concurrency limit: the fewest and the most that passed at once
	controls   map[Subject]family.Verdict
	tally      map[Subject]tally
	cycles     []cycle
}

// errTooFast says that only windows shorter than leastTrips round trips are left.
var errTooFast = errors.New("the window is shorter than four round trips: too short to be told from here")

// leastTrips is how many round trips a window must last. Shorter ones explain
// too much, since all that is in flight at once may be in any order.
const leastTrips = 4

func newSearch(ctx context.Context, w Wire, o Options) *search {
	return &search{
		prober: newProber(ctx, w, o), random: rand.New(rand.NewPCG(o.Seed, 0x6c696d6974)),
		controls: map[Subject]family.Verdict{}, tally: map[Subject]tally{}, upheld: map[class]int{},
	}
}

// maxRounds bounds the rounds after the first steps.
const maxRounds = 30

// errNoLimit says that no request was refused within the budget.
var errNoLimit = errors.New("no request was refused")

// errUseless says that a lone request is neither let through nor limited.
var errUseless = errors.New("lone requests got neither a 2xx nor a 429")

// errForeign says that no family explains what was seen.
var errForeign = errors.New("contradicted")

// run probes until one family is left and its parameters are known well, or
// until nothing more can be learnt.
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
		// What is left never foretold what came: it is left by chance.
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
			break // a small limit, or a key that is not quiet: the fit will tell
		}
	}
	s.trip = medianTrip(s.seen)
	if count(s.seen, family.Unknown) == len(s.seen) {
		return errUseless
	}
	return nil
}

// untilRefused sends ever larger groups until a request is refused.
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
	s.next("silent recovery")
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
