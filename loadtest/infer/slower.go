package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// A slower layer shows once the fast one is known: it refuses what the fast
// one would let pass. Such refusals are marked, and are the only ones that the
// slower layer has to explain; what passed, passed both.

// layersBehind looks for a layer behind the fast one for as long as the options say,
// and then at that layer. It adds the layer, or what was tried, to the result.
// found says that one has refused already.
func (s *search) layersBehind(result *Result, found bool) error {
	began, first := s.now(), len(s.seen)
	var err error
	if !found {
		s.next("sustain")
		s.sustained = began
		found, err = s.feed(math.MaxInt, min(s.options.MaxTime, began+s.options.Sustain))
	}
	if found && err == nil {
		err = s.behind()
	}
	if s.tell(result, err) && len(result.Layers) == 1 {
		// What the fast one lets pass at once says nothing of what is sustained.
		if passed := count(s.seen[first:], family.Accepted) - s.burst; passed > 0 {
			result.Beyond = beyond(passed, s.burst, s.now()-began)
			rate, long := result.Beyond.inWords()
			result.Beyond.Why = fmt.Sprintf("no slower layer was met while %s were sustained for %s", rate, long)
		}
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
	if !s.anySlow() {
		return true
	}
	err := s.fitSlow()
	if errors.Is(err, errTooLarge) {
		result.Layers = append(result.Layers, s.largeLayer())
		return true
	}
	if err != nil || s.again() != nil {
		// What is behind it is of no known kind, or was at work while the fast one
		// was looked at: then that one may be misunderstood as well.
		result.Layers = []Layer{unexplained(s, errForeign)}
		return false
	}
	result.Layers = []Layer{s.layer(nil), s.slowLayer(end)}
	return true
}

// again looks at the fast layer once more: what was refused before it was
// understood may have been the slower one's doing. If that changes what is known
// of the fast one, it changes what the slower one has to explain.
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
			return nil // it is told vaguely
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

// perhapsSlow are the refusals from before the fast layer was understood that the
// slower one may have been the reason of.
func (s *search) perhapsSlow() map[flight]bool {
	perhaps := map[flight]bool{}
	for i, at := range s.seen {
		if at.subject != Main || at.verdict != family.Refused || at.sent > s.understood {
			continue
		}
		// A limiter refuses no request before it was sent as many as its limit.
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

// fewSlow fits are asked whether they explain a refusal; one of more of them may.
const fewSlow = 6

// outOfReach tells that no slower layer can have refused before the fast one was
// understood: it let twice as many pass later on, when they came faster and for
// longer. Twice, since a window's boundary may have lain amid the later ones.
func (s *search) outOfReach() bool {
	before, after := 0, 0
	for _, r := range s.seen {
		switch {
		case r.slow:
			return after >= 2*before && s.sustained > 0 && r.sent-s.sustained >= s.understood
		case r.sent <= s.understood:
			before++ // whether it passed or not: refused ones may count
		case r.sent >= s.sustained && r.verdict == family.Accepted:
			after++
		}
	}
	return true
}

// explained tells whether the fast layer, as it was understood before slower
// ones were looked for, may have been the reason of a refusal.
func (s *search) explained(i int) bool {
	at := s.seen[i]
	log := s.logOf(func(r record) bool { return r.sent > s.understood && r.flight() != at.flight() })
	log.Coarsely(s.scale / 500)
	return len(family.Narrow(log, s.fast)) > 0
}

// markSlow marks the refusals that the fast layer does not explain. Of those that
// were sent together only the first is looked at: the others may come of it.
func (s *search) markSlow() {
	group, slow := time.Duration(-1), false
	for i := s.marked; i < len(s.seen); i++ {
		r := s.seen[i]
		slow = slow && r.verdict == family.Refused
		if r.subject != Main || r.verdict != family.Refused || r.sent <= s.understood || group >= 0 && r.sent-group < s.trip/2 {
			continue
		}
		// With nothing passed since one that was slow, the fast layer has but more room.
		slow = slow && s.noneCounting() || !s.explained(i)
		group, s.seen[i].slow = r.sent, slow
	}
	s.marked = len(s.seen)
}

func (s *search) anySlow() bool {
	return slices.ContainsFunc(s.seen, func(r record) bool { return r.slow })
}

// largeLayer is a slower layer of which it is only known that it is there.
func (s *search) largeLayer() Layer {
	l := unexplained(s, errTooLarge)
	l.Limit.Why = fmt.Sprintf("%s; %d requests had passed when it first refused", errTooLarge, s.passedBeforeSlow())
	return l
}

// slowLayer says what is left of the slower layer.
func (s *search) slowLayer(end error) Layer {
	l := vagueIsUnknown(layerOf(s.slow))
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
