package infer

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// A slower layer shows once the fast one is known: it refuses what the fast
// one would let pass. Such refusals are marked, and are the only ones that the
// slower layer has to explain; what passed, passed both.

// errSlower says that a slower layer refused.
var errSlower = errors.New("a slower layer refused")

// openings is how often a slower layer should be seen to shut and open.
const openings = 3

// prefix finds how much of the log one family explains, after the whole was
// contradicted. If that tells the fast layer, the refusals after it are the
// slower one's.
func (s *search) prefix() error {
	all := s.seen
	fits := func(n int) []family.Fit {
		s.seen = all[:n]
		defer func() { s.seen = all }()
		return family.Fits(s.log())
	}
	n := sort.Search(len(all), func(n int) bool {
		return count(all[:n+1], family.Refused) > 0 && len(fits(n+1)) == 0
	})
	s.fits = nil
	if n == 0 || n == len(all) {
		return errForeign
	}
	s.fits = fits(n)
	if !s.settled() {
		s.fits = nil
		return errForeign
	}
	s.rescale()
	for i := n; i < len(all) && (all[i].verdict == family.Refused || all[i].subject != Main); i++ {
		s.seen[i].slow = all[i].verdict == family.Refused
	}
	return errSlower
}

// slower looks for a layer behind the fast one, until so long from now. It
// adds the layer, or what was tried, to the result.
func (s *search) slower(result *Result, found bool) error {
	began, first := s.now(), len(s.seen)
	until := began + s.options.Sustain
	var err error
	for range openings {
		if !found {
			found, err = s.sustain(until)
		}
		if err != nil || !found {
			break
		}
		if err = s.untilOpenAgain(); err != nil {
			break
		}
		until, found = s.options.MaxTime, false
	}
	if !s.anySlow() {
		result.Beyond = beyond(count(s.seen[first:], family.Accepted), s.burst, s.now()-began)
		result.Beyond.Why = "no slower layer: " + result.Beyond.Why
		return err
	}
	result.Layers = append(result.Layers, s.slowLayer(err))
	return err
}

// sustain keeps the fast layer at its limit until the time is over, or until a
// request is refused that it should have let pass.
func (s *search) sustain(until time.Duration) (found bool, err error) {
	s.next("sustain")
	if err := s.drain(); err != nil {
		return false, err
	}
	_, due, _ := s.opening()
	for s.now() < until {
		if err := s.sleepUntil(s.nextPoll()); err != nil {
			return false, err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return false, err
		}
		late := seen[0].sent > due+s.scale/4+2*s.trip
		switch {
		case seen[0].verdict == family.Accepted:
			if err := s.drain(); err != nil {
				return false, err
			}
			_, due, _ = s.opening()
		case seen[0].verdict == family.Refused && late && !s.onlyCounting():
			// Late by the middle of the fits: is it so by all that was seen?
			fits := family.Narrow(s.log(), s.fits)
			if len(fits) == 0 {
				seen[0].slow = true
				return true, nil
			}
			s.fits, due = fits, s.now()
		}
	}
	return false, nil
}

// untilOpenAgain sends single requests at growing waits until one passes.
func (s *search) untilOpenAgain() error {
	s.next("slow recovery")
	closed := s.lastReceived()
	for wait := s.scale; ; wait = wait * 6 / 5 {
		if err := s.sleepUntil(closed + wait); err != nil {
			return err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Accepted {
			return nil
		}
		seen[0].slow = seen[0].verdict == family.Refused
	}
}

func (s *search) anySlow() bool {
	for _, r := range s.seen {
		if r.slow {
			return true
		}
	}
	return false
}

// slowLayer fits the marked refusals. Refused requests are taken to count alike
// in both layers, and the slower one to be slower, and to hold more.
func (s *search) slowLayer(end error) Layer {
	fast := s.fits[0]
	_, window := fast.Window()
	log := s.logOf(func(r record) bool { return !r.slow })
	fits := slices.DeleteFunc(family.Fits(log), func(f family.Fit) bool {
		_, high := f.Window()
		apart := f.Counting != fast.Counting && f.Kind != family.Aligned && f.Kind != family.First && fast.Kind != family.Aligned && fast.Kind != family.First
		return apart || f.Limit <= fast.Limit || high <= 2*window
	})
	// With fewer of them, each is looked at more closely.
	for before := 0; before != len(fits); {
		before = len(fits)
		fits = family.Narrow(log, fits)
	}
	fmt.Println(fits)
	if len(fits) == 0 {
		return unexplained(s, errForeign)
	}
	l := layerOf(fits)
	if !l.Kind.Known() && end != nil {
		l.Kind.Why += "; stopped by " + reason(s, end)
	}
	passed := 0
	for _, r := range s.seen {
		if r.slow {
			break
		}
		if r.subject == Main && r.verdict == family.Accepted {
			passed++
		}
	}
	if !l.Limit.Known {
		l.Limit.Why += fmt.Sprintf("; %d requests had passed when it first refused", passed)
	}
	return l
}
