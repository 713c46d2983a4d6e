package infer

import (
	"maps"
	"slices"
	"time"
)

// round performs the most informative experiment.
func (s *search) round() {
	s.guess()
	e, step := s.experiment()
	s.next(step)
	s.perform(e)
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
	if s.left == 0 || left < s.left*0.95 {
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

// anything returns an experiment that suits one of the fits, whatever the guesses
// expect.
func (s *search) anything() experiment {
	r := s.random.Float64
	f := s.fits[s.random.IntN(len(s.fits))]
	low, high := f.Window()
	window := low + (min(high, 3*low)-low)/2
	return experiment{rest: min(times(window, 0.3+1.2*r()), s.now()), share: int((0.2 + 0.5*r()) * float64(f.Limit)),
		wait: min(times(window, 0.2+0.6*r()), s.now()/2), drain: true, openings: 1}
}

// perform runs an experiment as far as it goes as predicted. An opening that
// comes as predicted supports the kinds that predicted it.
func (s *search) perform(e experiment) {
	s.doubts = 0
	s.sleep(e.rest)
	refused := s.refused(s.send(e.share))
	s.update()
	if refused && e.excess == 0 {
		return
	}
	s.sleep(e.wait)
	if e.drain {
		s.drain()
	}
	s.send(e.excess)
	s.update()
	right := s.sharp()
	for range e.openings {
		if !s.untilOpens() {
			clear(s.upheld)
			return
		}
		maps.DeleteFunc(right, func(c class, _ bool) bool {
			return !slices.ContainsFunc(s.guesses, func(g guess) bool { return g.class() == c })
		})
		s.drain()
		s.update()
	}
	if e.openings > 0 {
		for c := range right {
			s.upheld[c]++
		}
	}
}

// sharp returns the classes that predict the opening precisely.
func (s *search) sharp() map[class]bool {
	now := s.now()
	earliest, latest := map[class]time.Duration{}, map[class]time.Duration{}
	for i := range s.guesses {
		g := &s.guesses[i]
		c, opens := g.class(), g.Opens(now)
		if _, ok := earliest[c]; !ok {
			earliest[c] = opens
		}
		earliest[c], latest[c] = min(earliest[c], opens), max(latest[c], opens)
	}
	sharp := map[class]bool{}
	for i := range s.guesses {
		g := &s.guesses[i]
		if c := g.class(); latest[c]-earliest[c] <= g.Window()/sharpness {
			sharp[c] = true
		}
	}
	return sharp
}

// sharpness is the divisor of a window that bounds a precise prediction.
const sharpness = 10
