package infer

import (
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// round performs the most informative experiment.
func (s *search) round() error {
	s.rounds++
	s.guess()
	defer func() { s.guesses = nil }()
	e, step := s.experiment()
	s.next(step)
	return s.perform(e)
}

// proven reports whether the remaining fit has predicted experiments correctly.
func (s *search) proven() bool {
	f := s.fits[0]
	return s.upheld[class{f.Kind, f.Counting, f.Limit}] >= proofs
}

// experiment chooses the next experiment and names it.
func (s *search) experiment() (e experiment, step string) {
	if s.settled() {
		return s.confirmation(), "confirm"
	}
	e, ok := s.plan()
	if s.stale(); !ok || s.idle >= mostIdle {
		s.idle = 0
		return s.anything(), "vary"
	}
	switch {
	case e.excess > 0:
		return e, "provoke refusals"
	case e.share > 0:
		return e, "split"
	case e.drain:
		return e, "drain"
	default:
		return e, "watch"
	}
}

// mostIdle is how many experiments may bring no progress before an unplanned
// one is tried.
const mostIdle = 2

// proofs is how many experiments the last remaining kind must predict: if the
// true kind is unknown, one may be left by chance.
const proofs = 2

// stale counts the experiments since the fits last shrank.
func (s *search) stale() {
	left := 0.0
	for _, f := range s.fits {
		low, high := f.Window()
		left += 1 + min(3, float64(high)/float64(low)-1)
	}
	s.idle++
	if s.left == 0 || left < s.left*0.99 {
		s.idle = 0
	}
	s.left = left
}

// confirmation watches the next opening, or one after a rest if the next comes
// too soon.
func (s *search) confirmation() experiment {
	if len(s.guesses) == 0 {
		return s.anything()
	}
	now, window := s.now(), s.guesses[0].Window()
	if s.guesses[0].Opens(now)-now > window/5 {
		return experiment{openings: 1}
	}
	return experiment{rest: times(window, 0.4+0.4*s.random.Float64()), drain: true, openings: 1}
}

// anything returns an experiment independent of the models.
func (s *search) anything() experiment {
	window := s.scale
	if len(s.guesses) > 0 {
		window = s.guesses[0].Window()
	}
	r := s.random.Float64
	return experiment{rest: min(times(window, 0.3+1.2*r()), s.now()), share: int((0.2 + 0.5*r()) * float64(s.fits[0].Limit)),
		wait: min(times(window, 0.2+0.6*r()), s.now()/2), drain: true, openings: 1}
}

// perform runs an experiment as far as it goes as predicted. An opening that
// comes as predicted supports the kinds that predicted it.
func (s *search) perform(e experiment) error {
	s.doubts = 0
	if err := s.sleep(e.rest); err != nil {
		return err
	}
	if e.share > 0 {
		seen, err := s.send(Main, e.share)
		if err != nil {
			return err
		}
		s.update()
		if count(seen, family.Refused) > 0 && e.excess == 0 {
			return nil
		}
	}
	if err := s.sleep(e.wait); err != nil {
		return err
	}
	if e.drain {
		if err := s.drain(); err != nil {
			return err
		}
	}
	if e.excess > 0 {
		if _, err := s.send(Main, e.excess); err != nil {
			return err
		}
	}
	s.update()
	before := s.sharp()
	for range e.openings {
		if opened, err := s.watch(); err != nil || !opened {
			clear(s.upheld)
			return err
		}
	}
	if e.openings > 0 {
		for c := range s.sharp() {
			if before[c] {
				s.upheld[c]++
			}
		}
	}
	return nil
}

// sharp returns the classes that predict the opening precisely.
func (s *search) sharp() map[class]bool {
	now := s.now()
	type span struct{ low, high time.Duration }
	spans := map[class]span{}
	for i := range s.guesses {
		g := &s.guesses[i]
		opens := g.Opens(now)
		at, ok := spans[g.class()]
		if !ok {
			at = span{opens, opens}
		}
		spans[g.class()] = span{min(at.low, opens), max(at.high, opens)}
	}
	sharp := map[class]bool{}
	for i := range s.guesses {
		g := &s.guesses[i]
		if at := spans[g.class()]; at.high-at.low <= g.Window()/sharpness {
			sharp[g.class()] = true
		}
	}
	return sharp
}

// sharpness is the divisor of a window that bounds a precise prediction.
const sharpness = 10

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

// watch sends single requests when the models disagree, until one passes, and
// then drains. It ends early if no model is left.
func (s *search) watch() (opened bool, err error) {
	times := s.openings()
	if len(times) == 0 {
		return false, nil
	}
	step := max((times[len(times)-1]-times[0])/time.Duration(s.looks()), s.trip/2)
	next := times[0] - step/2
	if next < s.now()+step/2 {
		next = s.nextLook(step)
	}
	for looks := 0; looks < mostLooks && s.doubts <= mostDoubts; looks++ {
		if err := s.sleepUntil(next); err != nil {
			return false, err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return false, err
		}
		s.update()
		if seen[0].verdict == family.Accepted {
			err := s.drain()
			s.update()
			return true, err
		}
		if next = s.nextLook(step); s.doubts > 0 {
			next = s.now() + max(step, s.trip)
		}
	}
	return false, nil
}

// mostDoubts is how often the last models may be wrong, because each represents
// similar ones.
const mostDoubts = 2

// mostLooks limits the requests spent on one opening.
const mostLooks = 50

// openings returns when the remaining models expect to open.
func (s *search) openings() []time.Duration {
	now := s.now()
	out := make([]time.Duration, 0, len(s.guesses))
	for i := range s.guesses {
		out = append(out, s.guesses[i].Opens(now))
	}
	slices.Sort(out)
	return out
}

// nextLook returns a time just after the next moment at which a model opens,
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
