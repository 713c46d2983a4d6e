package infer

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// search identifies one layer. A slower layer is found by the same search: its
// send paces, so that the layer in front lets all requests pass.
type search struct {
	*prober
	random *rand.Rand
	send   func(n int) []record // sends requests of Main; may return fewer if one is refused

	trip     time.Duration // round trip, median of the calm ones
	burst    int           // requests accepted before the first refusal
	scale    time.Duration // approximate window: the time in which burst requests pass
	fits     []family.Fit  // remaining fits
	fitted   bool          // whether there were fits before
	guesses  []guess       // models for the fits, during a round
	guessed  int           // number of observations the guesses know
	left     float64       // size of the fits before the last round
	idle     int           // rounds without progress
	upheld   map[class]int // experiments with a correct prediction
	doubts   int           // surprises for all models in a round
	inFlight [2]int        // concurrency limit: minimum and maximum accepted at once
	known    time.Duration // when the layer was identified; 0 before

	front *front // the layer in front of a slower one; nil for the fastest
}

// errTooFast means that only windows shorter than leastTrips round trips are
// left.
var errTooFast = errors.New("the window is shorter than four round trips, too short to measure from here")

// leastTrips is the minimum window in round trips. Shorter windows explain too
// much, because requests in flight may arrive in any order.
const leastTrips = 4

// mostBurst limits the requests accepted before the first refusal: the cost of
// the analysis grows with the square.
const mostBurst = 8000

// errTooLarge means that more than mostBurst requests pass.
var errTooLarge = errors.New("its limit is larger than the analysis covers")

// errNoLimit means that no request was refused within the budget.
var errNoLimit = errors.New("no request was refused")

// errUseless means that single requests are neither accepted nor limited.
var errUseless = errors.New("single requests got neither a 2xx nor a 429")

// errForeign means that no family explains the observations.
var errForeign = errors.New("contradicted")

func newSearch(p *prober) *search {
	return &search{prober: p, send: p.sendMain, random: rand.New(rand.NewPCG(p.options.Seed, 0x6c696d6974)), upheld: map[class]int{}}
}

// maxRounds limits the rounds after the first steps.
const maxRounds = 30

// run probes until one family is left with well-known parameters, or until
// nothing more can be learnt.
func (s *search) run() error {
	for _, step := range []func() error{s.calibrate, s.untilRefused, func() error { s.untilOpen(); return nil }, s.fit} {
		if err := cmp.Or(step(), s.err); err != nil {
			return err
		}
	}
	for range maxRounds {
		if s.settled() && s.proven() {
			s.known = s.now()
			return nil
		}
		if s.round(); s.err != nil {
			return s.err
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
	s.known = s.now()
	return nil
}

// calibrate sends a few requests one at a time.
func (s *search) calibrate() error {
	if s.front != nil {
		return nil
	}
	s.next("calibrate")
	for range 5 {
		if s.one().verdict == family.Refused {
			break // a small limit or other traffic on the key
		}
	}
	s.trip = median(s.trips())
	if s.err == nil && count(s.seen, family.Unknown) == len(s.seen) {
		return errUseless
	}
	return nil
}

// untilRefused sends growing groups until a request is refused.
func (s *search) untilRefused() error {
	requests, until, largest := s.options.MaxRequests/2, s.options.MaxTime/2, s.options.MaxParallel
	if s.front != nil {
		requests, until, largest = s.options.MaxRequests, s.now()+s.options.Sustain, s.front.limit
		s.next("sustain")
	} else {
		s.next("burst")
	}
	for size := 1; !s.refused(s.seen); size = min(2*size, largest) {
		if len(s.seen) > requests || s.now() > until {
			return errNoLimit
		}
		seen := s.send(size)
		if errors.Is(s.err, errBudget) {
			return errNoLimit
		}
		if s.err != nil {
			return s.err
		}
		s.burst = count(s.seen, family.Accepted)
		if s.front == nil && s.refused(seen) {
			return s.onlyTogether()
		}
	}
	s.burst = count(s.seen, family.Accepted)
	return nil
}

// refused reports whether this layer refused one of the requests.
func (s *search) refused(records []record) bool {
	return slices.ContainsFunc(records, func(r record) bool { return r.verdict == family.Refused && (s.front == nil || r.slow) })
}

// layerLog returns the observations that this layer has to explain. Once a
// slower layer has refused, it may have caused any refusal after the fast one was
// identified.
func (s *search) layerLog() *family.Log {
	if s.front == nil {
		slower := slices.ContainsFunc(s.seen, func(r record) bool { return r.slow })
		return s.log(func(r record) bool { return slower && r.sent > s.known })
	}
	log := s.log(func(r record) bool { return !r.slow })
	log.Coarsely(s.scale / 1000)
	return log
}

// passed returns how many requests of Main were accepted before this layer
// refused one.
func (s *search) passed() (passed int) {
	for i, r := range s.seen {
		switch {
		case s.refused(s.seen[i : i+1]):
			return passed
		case r.subject == Main && r.verdict == family.Accepted:
			passed++
		}
	}
	return passed
}

// one sends a single request.
func (s *search) one() record {
	if seen := s.send(1); len(seen) > 0 {
		return seen[0]
	}
	return record{verdict: family.Unknown}
}

// look sends a single request at a time and reports whether it passed.
func (s *search) look(at time.Duration) bool {
	s.sleepUntil(at)
	r := s.one()
	s.update()
	return r.verdict == family.Accepted
}

// untilOpen sends single requests at growing waits until one passes.
func (s *search) untilOpen() {
	s.next("recovery without requests")
	closed := s.lastReceived()
	for wait := max(3*s.trip, 5*time.Millisecond, s.scale/2); s.err == nil; wait = wait * 7 / 5 {
		if s.look(closed + wait) {
			break
		}
	}
	if !s.fitted {
		s.scale = s.now() - closed
	}
}

// drain sends until a request is refused. A slower layer may never refuse one, if
// the layer in front lets fewer pass.
func (s *search) drain() {
	for sent := 0; s.err == nil && (s.front == nil || sent < 3*s.burst); {
		size := s.room(sent)
		if s.refused(s.send(size)) {
			return
		}
		sent += size
	}
}

// room returns how many requests to send at once so that one is refused, after
// so many were accepted.
func (s *search) room(sent int) int {
	now, least := s.now(), 0
	for i := range s.guesses {
		if room := s.guesses[i].Room(now); room >= sent && (least == 0 || room+1-sent < least) {
			least = room + 1 - sent
		}
	}
	if least == 0 {
		least = max(2, sent)
	}
	return min(least, s.options.MaxParallel)
}

// untilOpens sends single requests when the guesses disagree, until one passes.
// It ends early if no guess is left.
func (s *search) untilOpens() (opened bool) {
	times := s.openings()
	if len(times) == 0 {
		return false
	}
	step := max((times[len(times)-1]-times[0])/time.Duration(s.looks()), s.trip/2)
	next := times[0] - step/2
	if next < s.now()+step/2 {
		next = s.nextLook(step)
	}
	for looks := 0; looks < mostLooks && s.doubts <= mostDoubts && s.err == nil; looks++ {
		// Guesses of vague fits may open absurdly late.
		if s.look(min(next, 2*s.now())) {
			return true
		}
		if next = s.nextLook(step); s.doubts > 0 {
			next = s.now() + max(step, s.trip)
		}
	}
	return false
}

// mostDoubts is how often the last guesses may be wrong, because each represents
// similar ones.
const mostDoubts = 2

// mostLooks limits the requests spent on one opening.
const mostLooks = 50

// looks returns how many requests to spend on one opening. If refused requests
// count, each of them delays it.
func (s *search) looks() int {
	counting, all := 0.0, 0.0
	for _, g := range s.guesses {
		all += g.weight
		if g.Counting {
			counting += g.weight
		}
	}
	if 2*counting > all {
		return min(max(4, s.burst/8), 10)
	}
	return min(max(6, s.burst/4), 24)
}

// openings returns when the remaining guesses expect to open, ascending.
func (s *search) openings() []time.Duration {
	now := s.now()
	out := make([]time.Duration, 0, len(s.guesses))
	for i := range s.guesses {
		out = append(out, s.guesses[i].Opens(now))
	}
	slices.Sort(out)
	return out
}

// nextLook returns a time just after the next moment at which a guess opens,
// and after those soon after it.
func (s *search) nextLook(step time.Duration) time.Duration {
	now := s.now()
	all := s.openings()
	for i, t := range all {
		if i+1 == len(all) || all[i+1] > now+step {
			return max(now+s.trip/4, t+step/2)
		}
	}
	return now + step
}
