package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// A slower layer shows once the fast one is known: it refuses what the fast one
// would accept. These refusals are marked, and the slower layer has to
// explain only them. Accepted requests passed both layers.

// layersBehind looks for a slower layer for as long as the options allow, then
// identifies it. It adds the layer, or what was tried, to the result. found
// means that it has already refused a request.
func (s *search) layersBehind(result *Result, found bool) error {
	began, first := s.now(), len(s.seen)
	var err error
	if !found {
		s.next("sustain")
		s.sustained = began
		found, err = s.feed(math.MaxInt, min(s.options.MaxTime, began+s.options.Sustain))
	}
	if found && err == nil {
		err = s.secondLayer()
	}
	if s.tell(result, err) && len(result.Layers) == 1 {
		// The burst that the fast layer accepts says nothing about the
		// sustained rate.
		if passed := count(s.seen[first:], family.Accepted) - s.burst; passed > 0 {
			result.Beyond = beyond(passed, s.burst, s.now()-began)
			rate, long := result.Beyond.inWords()
			result.Beyond.Why = fmt.Sprintf("no slower limit was found in %s at %s", long, rate)
		}
	}
	return err
}

// tell records what is left of the fast layer after all observations, and a
// slower one if refusals require it. It reports whether the fast layer still
// stands. end is the error that ended the search.
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
	if !s.anySlow() {
		return true
	}
	err := s.fitSlow()
	if errors.Is(err, errTooLarge) {
		result.Layers = append(result.Layers, s.largeLayer())
		return true
	}
	if err != nil || s.again() != nil {
		// The slower layer is of no known kind, or it interfered with the
		// analysis of the fast one, which may then be wrong too.
		result.Layers = []Layer{unexplained(s, errForeign)}
		return false
	}
	result.Layers = []Layer{s.layer(nil), s.slowLayer(end)}
	return true
}

// again re-evaluates the fast layer, because the slower one may have caused
// earlier refusals. A change in the fast layer changes what the slower one has
// to explain.
func (s *search) again() error {
	if s.outOfReach() {
		return nil
	}
	for range 3 {
		perhaps := s.perhapsSlow()
		if len(perhaps) == 0 {
			return nil
		}
		log := s.logOf(func(r record) bool { return r.sent > s.understood || perhaps[r.flight()] })
		s.fits = family.Fits(log)
		if len(s.fits) == 0 {
			return errForeign
		}
		s.rescale()
		if len(s.fits) > mostFast {
			return nil // the result will be vague
		}
		changed := false
		s.fast = s.fits
		for i, r := range s.seen {
			if r.slow && s.explained(i) {
				s.seen[i].slow, changed = false, true
			}
		}
		if !changed {
			return nil
		}
		s.slower = nil
		if err := s.fitSlow(); err != nil {
			return err
		}
	}
	return errForeign
}

// perhapsSlow returns the refusals that the slower layer may have caused before
// the fast one was identified.
func (s *search) perhapsSlow() map[flight]bool {
	perhaps := map[flight]bool{}
	for i, at := range s.seen {
		if at.subject != Main || at.verdict != family.Refused || at.sent > s.understood {
			continue
		}
		// A limiter refuses nothing before it received as many requests as its
		// limit.
		reached := slices.DeleteFunc(slices.Clone(s.slow), func(f family.Fit) bool { return f.Limit > i+s.options.MaxParallel })
		if len(reached) == 0 {
			continue
		}
		log := s.logOf(func(r record) bool { return r.flight() != at.flight() })
		log.Coarsely(s.scale / 500)
		if len(reached) > fewSlow || len(family.Narrow(log, reached)) > 0 {
			perhaps[at.flight()] = true
		}
	}
	return perhaps
}

// fewSlow is the number of fits up to which each is tested; more of them are
// assumed to explain a refusal.
const fewSlow = 6

// outOfReach reports that no slower layer can have refused before the fast one
// was identified: it let twice as many pass later, faster and for longer.
// Twice, because a window's boundary may lie among the later ones.
func (s *search) outOfReach() bool {
	before, after := 0, 0
	for _, r := range s.seen {
		switch {
		case r.slow:
			return after >= 2*before && s.sustained > 0 && r.sent-s.sustained >= s.understood
		case r.sent <= s.understood:
			before++ // accepted or not: refused ones may count
		case r.sent >= s.sustained && r.verdict == family.Accepted:
			after++
		}
	}
	return true
}

// explained reports whether the fast layer, as identified before slower ones
// were sought, may have caused a refusal.
func (s *search) explained(i int) bool {
	at := s.seen[i]
	log := s.logOf(func(r record) bool { return r.sent > s.understood && r.flight() != at.flight() })
	log.Coarsely(s.scale / 500)
	return len(family.Narrow(log, s.fast)) > 0
}

// markSlow marks the refusals that the fast layer does not explain. Of requests
// sent together only the first is tested, because the others may follow from
// it.
func (s *search) markSlow() {
	group, slow := time.Duration(-1), false
	for i := s.marked; i < len(s.seen); i++ {
		r := s.seen[i]
		slow = slow && r.verdict == family.Refused
		if r.subject != Main || r.verdict != family.Refused || r.sent <= s.understood || group >= 0 && r.sent-group < s.trip/2 {
			continue
		}
		// If nothing has passed since a slow refusal, the fast layer has only
		// more room.
		slow = slow && s.noneCounting() || !s.explained(i)
		group, s.seen[i].slow = r.sent, slow
	}
	s.marked = len(s.seen)
}

func (s *search) anySlow() bool {
	return slices.ContainsFunc(s.seen, func(r record) bool { return r.slow })
}

// largeLayer returns a slower layer that is only known to exist.
func (s *search) largeLayer() Layer {
	l := unexplained(s, errTooLarge)
	l.Limit.Why = fmt.Sprintf("%s; %d requests were accepted before its first refusal", errTooLarge, s.passedBeforeSlow())
	return l
}

// slowLayer returns what is left of the slower layer.
func (s *search) slowLayer(end error) Layer {
	l := vagueIsUnknown(layerOf(s.slow))
	if !l.Kind.Known() && end != nil && !errors.Is(end, errForeign) {
		l.Kind.Why += "; stopped by " + reason(s, end)
	}
	if !l.Limit.Known {
		l.Limit.Why += fmt.Sprintf("; %d requests were accepted before its first refusal", s.passedBeforeSlow())
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
