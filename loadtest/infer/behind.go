package infer

import (
	"errors"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// A slower layer that was met with is looked at through the fast one, which is
// known: whatever is sent goes out as the fast layer lets it pass, so that what
// is refused then, the slower one has refused. It is shut, watched until it
// opens, and shut again after rests that its kinds differ in.

// mostTurns bounds how often the slower layer is shut and watched.
const mostTurns = 16

// proofTurns is how many turns a layer that is understood has to stand.
const proofTurns = 2

// behind shuts and watches the slower layer, which has just refused, until it is
// understood. Its error is what ended that.
func (s *search) behind() error {
	stood := 0
	for turn := range mostTurns {
		if err := s.fitSlow(); err != nil {
			return err
		}
		if closelyKnown(s.slow, s.trip) {
			if stood++; stood > proofTurns {
				return nil
			}
		}
		if err := s.turn(turn); err != nil {
			return err
		}
	}
	return nil
}

// turn watches the slower layer open, or lets it be for a while, and shuts it again.
func (s *search) turn(turn int) error {
	limit, window := s.slowScale()
	r := s.random.Float64
	switch turn % 4 {
	case 0: // a window opens as a whole, a log as it was filled, a bucket bit by bit
		if err := s.untilSlowOpens(); err != nil {
			return err
		}
	case 1: // windows that follow the clock go on meanwhile, others begin with a request
		if err := s.rest("slower layer at rest", times(window, 1.3+0.5*r())); err != nil {
			return err
		}
	case 2: // how much comes back in a part of the window
		if err := s.rest("slower layer in part", times(window, 0.3+0.4*r())); err != nil {
			return err
		}
	case 3: // half of it, and later the other half
		if err := s.rest("slower layer at rest", times(window, 1.2+0.3*r())); err != nil {
			return err
		}
		if found, err := s.feed(limit/2, s.options.MaxTime); found || err != nil {
			return err
		}
		if err := s.rest("half of the slower layer", times(window, 0.5+0.2*r())); err != nil {
			return err
		}
	}
	s.next("shut the slower layer")
	if found, err := s.feed(3*limit, s.options.MaxTime); !found || err != nil {
		return err
	}
	if turn%4 == 0 {
		return nil
	}
	if err := s.fitSlow(); err != nil {
		return err
	}
	return s.untilSlowOpens()
}

func (s *search) rest(step string, d time.Duration) error {
	s.next(step)
	return s.sleep(d)
}

// feed sends what the fast layer lets pass, until n have passed, until the time,
// or until one is refused that the fast layer would have let pass.
func (s *search) feed(n int, until time.Duration) (found bool, err error) {
	front := s.front()
	for n > 0 && s.now() < until {
		room, opens := roomOf(front, s.now())
		if room == 0 {
			if err := s.sleepUntil(opens + s.trip/2); err != nil {
				return false, err
			}
			continue
		}
		first := len(s.seen)
		seen, err := s.send(Main, min(room, n, s.options.MaxParallel))
		if err != nil {
			return false, err
		}
		for i := range front {
			front[i].Observe(observed(seen)...)
		}
		n -= count(seen, family.Accepted)
		refused := slices.IndexFunc(seen, func(r record) bool { return r.verdict == family.Refused })
		if refused >= 0 && count(seen, family.Accepted) < room && !s.explained(first+refused) {
			return true, nil
		}
		// In portions: what comes back bit by bit costs no request each.
		if err := s.sleep(s.scale / portions); err != nil {
			return false, err
		}
	}
	return false, nil
}

// portions is in how many parts a layer is fed that opens bit by bit.
const portions = 6

// front is the fast layer, as all that it may be.
func (s *search) front() []family.Model {
	log := s.logOf(func(record) bool { return false })
	var front []family.Model
	for _, f := range s.fast {
		front = append(front, f.Model(log, 0), f.Model(log, 1))
	}
	return front
}

// roomOf is what all models let pass now; with none, opens is when they will let
// something pass.
func roomOf(models []family.Model, now time.Duration) (room int, opens time.Duration) {
	room = math.MaxInt
	for i := range models {
		room = min(room, models[i].Room(now))
		opens = max(opens, models[i].Opens(now))
	}
	return room, opens
}

// untilSlowOpens sends single requests until one passes: where what is left of
// the slower layer expects it, and at growing waits while nothing is known.
func (s *search) untilSlowOpens() error {
	s.next("slow recovery")
	closed := s.lastReceived()
	plan := s.slowPolls()
	for wait := s.scale / 2; ; wait = wait * 12 / 11 {
		next := closed + wait
		if len(plan) > 0 {
			next, plan = plan[0], plan[1:]
			wait = next - closed
		}
		if next <= s.now() {
			continue
		}
		if err := s.sleepUntil(next); err != nil {
			return err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Accepted {
			return nil
		}
	}
}

// slowPolls are times, spread over those at which the slower layer may open.
func (s *search) slowPolls() []time.Duration {
	log, now := s.slowLog(), s.now()
	var opens []time.Duration
	for i := 0; i < len(s.slow); i += 1 + len(s.slow)/24 {
		if s.slow[i].High == family.Unbounded {
			continue
		}
		for _, at := range []float64{0, 0.5, 1} {
			opens = append(opens, s.slow[i].Forecast(log, now, at).Opens)
		}
	}
	if len(opens) == 0 {
		return nil
	}
	low, high := slices.Min(opens), slices.Max(opens)
	step := max((high-low)/slowLooks, 2*s.trip)
	var polls []time.Duration
	for t := low + step/2; t < high+2*step; t += step {
		polls = append(polls, t)
	}
	return polls
}

// slowLooks is how many requests are spent on one opening of the slower layer.
const slowLooks = 16

// slowScale is the limit and the window of the slower layer, roughly.
func (s *search) slowScale() (limit int, window time.Duration) {
	var windows []time.Duration
	for _, f := range s.slow {
		limit = max(limit, f.Limit)
		low, high := f.Window()
		if high < 4*low {
			low += (high - low) / 2
		}
		windows = append(windows, low)
	}
	slices.Sort(windows)
	return limit, windows[len(windows)/2]
}

// slowLog is what was seen, for the slower layer: the refusals that the fast one
// explains need no other reason.
func (s *search) slowLog() *family.Log {
	log := s.logOf(func(r record) bool { return !r.slow })
	if len(s.slow) > 0 {
		_, window := s.slowScale()
		log.Coarsely(window / 1000)
	}
	return log
}

// fitSlow looks at the whole log for the slower layer. Refused requests are
// taken to count alike in both layers, and the slower one to be slower, and to
// hold more.
func (s *search) fitSlow() error {
	s.markSlow()
	log := s.slowLog()
	if s.slower == nil {
		if s.passedBeforeSlow() > mostSlow {
			return errTooLarge
		}
		s.slower = family.NewRemainder(s.slowerThanFast(log))
	} else {
		s.slower.Narrow(log)
	}
	s.slow = s.slower.Fits
	if len(s.slow) == 0 {
		return errForeign
	}
	return nil
}

// mostSlow is how many requests may pass before a slower layer refuses for it to
// be looked at closely: what is computed grows with the square of it.
const mostSlow = 8000

// errTooLarge says that the slower layer lets more than mostSlow pass.
var errTooLarge = errors.New("it lets more requests pass than are looked at closely")

// slowerThanFast are the fits for a slower layer.
func (s *search) slowerThanFast(log *family.Log) []family.Fit {
	fast := s.fast[0]
	fits := family.FitsAmong(log, func(f family.Fit) bool {
		return f.Limit > fast.Limit && (f.Counting == fast.Counting || fixed(f) || fixed(fast))
	})
	_, window := fast.Window()
	return slices.DeleteFunc(fits, func(f family.Fit) bool {
		_, high := f.Window()
		return high <= 2*window
	})
}
