package infer

import (
	"errors"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// A slower layer is examined through the fast one, which is known. Requests are
// sent only as the fast layer lets them pass, so any refusal is the slower
// layer's. It is exhausted, watched until it opens, and exhausted again after
// rests that distinguish its kinds.

// mostTurns limits how often the slower layer is exhausted and watched.
const mostTurns = 16

// proofTurns is how many turns an identified layer has to withstand.
const proofTurns = 2

// secondLayer exhausts and watches the slower layer, which has just refused,
// until it is identified.
func (s *search) secondLayer() error {
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

// turn watches the slower layer open, or lets it rest, and exhausts it again.
func (s *search) turn(turn int) error {
	limit, window := s.slowScale()
	r := s.random.Float64
	switch turn % 4 {
	case 0: // a window opens at once, a log as it was filled, a bucket gradually
		if err := s.untilSlowOpens(); err != nil {
			return err
		}
	case 1: // aligned windows continue meanwhile, others begin with a request
		if err := s.rest("rest of the slower layer", times(window, 1.3+0.5*r())); err != nil {
			return err
		}
	case 2: // how much recovers in a part of the window
		if err := s.rest("partial rest of the slower layer", times(window, 0.3+0.4*r())); err != nil {
			return err
		}
	case 3: // half of it, and later the other half
		if err := s.rest("rest of the slower layer", times(window, 1.2+0.3*r())); err != nil {
			return err
		}
		if found, err := s.feed(limit/2, s.options.MaxTime); found || err != nil {
			return err
		}
		if err := s.rest("half of the slower layer", times(window, 0.5+0.2*r())); err != nil {
			return err
		}
	}
	s.next("exhaust the slower layer")
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

// feed sends what the fast layer accepts, until n have passed, until the
// time, or until a request is refused that the fast layer would accept.
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
		// In portions: what recovers gradually must not cost one request each.
		if err := s.sleep(s.scale / portions); err != nil {
			return false, err
		}
	}
	return false, nil
}

// portions is the number of parts in which a gradually opening layer is filled.
const portions = 6

// front returns models of all that the fast layer may be.
func (s *search) front() []family.Model {
	log := s.logOf(func(record) bool { return false })
	var front []family.Model
	for _, f := range s.fast {
		front = append(front, f.Model(log, 0), f.Model(log, 1))
	}
	return front
}

// roomOf returns how many requests all models accept now. If none, opens is
// when they will accept one.
func roomOf(models []family.Model, now time.Duration) (room int, opens time.Duration) {
	room = math.MaxInt
	for i := range models {
		room = min(room, models[i].Room(now))
		opens = max(opens, models[i].Opens(now))
	}
	return room, opens
}

// untilSlowOpens sends single requests until one passes: when the fits of the
// slower layer expect it, or at growing waits while nothing is known.
func (s *search) untilSlowOpens() error {
	s.next("recovery of the slower layer")
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

// slowPolls returns times spread over those at which the slower layer may open.
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

// slowScale returns the approximate limit and window of the slower layer.
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

// slowLog returns the observations for the slower layer. Refusals that the fast
// layer explains need no other explanation.
func (s *search) slowLog() *family.Log {
	log := s.logOf(func(r record) bool { return !r.slow })
	if len(s.slow) > 0 {
		_, window := s.slowScale()
		log.Coarsely(window / 1000)
	}
	return log
}

// fitSlow fits the slower layer to the whole log. It assumes that refused
// requests count in both layers or in neither, and that the slower layer is
// slower and larger.
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

// mostSlow limits the requests accepted before a slower layer refuses: the cost
// of the analysis grows with the square.
const mostSlow = 8000

// errTooLarge means that the slower layer lets more than mostSlow requests
// pass.
var errTooLarge = errors.New("its limit is larger than the analysis covers")

// slowerThanFast returns the fits for a slower layer.
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
