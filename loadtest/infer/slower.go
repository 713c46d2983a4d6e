package infer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// A slower layer shows once the fast one is known: it refuses what the fast
// one would let pass. Such refusals are marked, and are the only ones that the
// slower layer has to explain; what passed, passed both.

// openings is how often a slower layer should be seen to shut and open.
const openings = 3

// slower looks for a layer behind the fast one for as long as the options say.
// It adds the layer, or what was tried, to the result. found says that one has
// refused already.
func (s *search) slower(result *Result, found bool) error {
	began, first := s.now(), len(s.seen)
	until := min(s.options.MaxTime, began+s.options.Sustain)
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
	if s.tell(result, err) && len(result.Layers) == 1 {
		result.Beyond = beyond(count(s.seen[first:], family.Accepted), s.burst, s.now()-began)
		result.Beyond.Why = "no slower layer: " + result.Beyond.Why
	}
	return err
}

// tell says what is left of the fast layer after all that was seen, and that
// there is a slower one where refusals ask for it. It reports whether the fast
// one still stands. The error is what ended the look.
func (s *search) tell(result *Result, end error) bool {
	s.fits = family.Narrow(s.log(), s.fast)
	if len(s.fits) == 0 && len(s.fast) <= mostFast {
		s.markSlow()
		s.fits = family.Narrow(s.log(), s.fast)
	}
	if len(s.fits) == 0 {
		result.Layers = []Layer{unexplained(s, errForeign)}
		return false
	}
	result.Layers = []Layer{s.layer(nil)}
	if s.anySlow() {
		result.Layers = append(result.Layers, s.slowLayer(end))
	}
	return true
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
		case seen[0].verdict == family.Refused && s.onlyCounting():
			_, due, _ = s.opening() // the refusal itself has put it off
		case seen[0].verdict == family.Refused && late:
			// Late by the middle of the fits; is it so by all of them?
			if !s.explained(len(s.seen) - 1) {
				return true, nil
			}
			due = s.now()
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
	}
}

// explained tells whether the fast layer, as it was understood before slower
// ones were looked for, may have been the reason of a refusal.
func (s *search) explained(i int) bool {
	at := s.seen[i]
	log := s.logOf(func(r record) bool { return r.sent > s.understood && r.sent != at.sent })
	return len(family.Narrow(log, s.fast)) > 0
}

// markSlow marks the refusals that the fast layer does not explain. Of a group
// only the first is looked at; if it is marked, either layer may be the reason
// of the others.
func (s *search) markSlow() {
	group, marked := time.Duration(-1), false
	for i, r := range s.seen {
		switch {
		case r.subject != Main || r.verdict != family.Refused || r.sent <= s.understood:
		case group >= 0 && r.sent-group < s.trip/2:
			s.seen[i].unsure = marked
		default:
			group, marked = r.sent, !s.explained(i)
			s.seen[i].slow = marked
		}
	}
}

func (s *search) anySlow() bool {
	return slices.ContainsFunc(s.seen, func(r record) bool { return r.slow })
}

// slowLayer fits the marked refusals. Refused requests are taken to count alike
// in both layers, and the slower one to be slower, and to hold more.
func (s *search) slowLayer(end error) Layer {
	fast := s.fits[0]
	_, window := fast.Window()
	log := s.logOf(func(r record) bool { return !r.slow })
	fits := slices.DeleteFunc(family.Fits(log), func(f family.Fit) bool {
		_, high := f.Window()
		fixed := f.Kind == family.Aligned || f.Kind == family.First || fast.Kind == family.Aligned || fast.Kind == family.First
		return f.Limit <= fast.Limit || high <= 2*window || f.Counting != fast.Counting && !fixed
	})
	// With fewer of them, each is looked at more closely.
	for before := 0; before != len(fits); {
		before = len(fits)
		fits = family.Narrow(log, fits)
	}
	if len(fits) == 0 {
		return unexplained(s, errForeign)
	}
	l := vagueIsUnknown(layerOf(fits))
	if !l.Kind.Known() && end != nil && !errors.Is(end, errForeign) {
		l.Kind.Why += "; stopped by " + reason(s, end)
	}
	if !l.Limit.Known {
		l.Limit.Why += fmt.Sprintf("; %d requests had passed when it first refused", s.passedBeforeSlow())
	}
	return l
}

func (s *search) passedBeforeSlow() (passed int) {
	for _, r := range s.seen {
		switch {
		case r.slow:
			return passed
		case r.subject == Main && r.verdict == family.Accepted:
			passed++
		}
	}
	return passed
}
