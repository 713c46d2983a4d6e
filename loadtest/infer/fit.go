package infer

import (
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// fit fits the whole log.
func (s *search) fit() error {
	log := s.layerLog()
	least := leastTrips * s.trip
	switch {
	case s.fitted:
		s.fits = family.Narrow(log, s.fits)
	case s.passed() > mostBurst:
		return errTooLarge
	default:
		s.fits = family.Fits(log, func(f family.Fit) bool { return s.front == nil || s.front.slowerThan(f) })
	}
	s.fitted = true
	if len(s.fits) == 0 {
		return errForeign
	}
	if s.front != nil {
		least = 2 * s.front.window
	}
	s.fits = slices.DeleteFunc(s.fits, func(f family.Fit) bool {
		_, high := f.Window()
		return high < least
	})
	if len(s.fits) == 0 {
		return errTooFast
	}
	s.rescale()
	return nil
}

// rescale sets the scale to the window of the fits once they roughly agree.
func (s *search) rescale() {
	least, most := family.Unbounded, time.Duration(0)
	for _, f := range s.fits {
		low, high := f.Window()
		least, most = min(least, low), max(most, high)
	}
	if most != family.Unbounded && most < 3*least {
		s.scale = least + (most-least)/2
	}
}

// settled reports whether one kind with one limit and a narrow window is left:
// more probing is useless.
func (s *search) settled() bool {
	first := s.fits[0]
	for _, f := range s.fits {
		low, high := f.Window()
		// The middle of an interval of 2 % is within 1 % of the truth.
		if f.Kind != first.Kind || f.Limit != first.Limit || high == family.Unbounded || high-low > max(high/50, 3*s.trip) {
			return false
		}
	}
	return fixed(first) || len(s.fits) == 1
}

// fixed reports whether refused requests make no difference to the kind.
func fixed(f family.Fit) bool { return f.Kind == family.Aligned || f.Kind == family.First }

// noneCounting reports whether no refused request prolongs the wait.
func noneCounting(fits []family.Fit) bool {
	return len(fits) > 0 && !slices.ContainsFunc(fits, func(f family.Fit) bool { return f.Counting })
}

// guess is a model with its probability weight.
type guess struct {
	family.Model
	weight float64
}

// class is what must be identified exactly.
type class struct {
	kind     family.Kind
	counting bool
	limit    int
}

func (g *guess) class() class { return class{g.Kind, g.Counting, g.Limit} }

// mostGuesses is the number of models that represent all remaining fits.
const mostGuesses = 24

// guess chooses models for all remaining kinds and limits.
func (s *search) guess() {
	log := s.layerLog()
	groups := map[class][]family.Fit{}
	var order []class
	for _, f := range s.fits {
		key := class{kind: f.Kind, counting: f.Counting}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], f)
	}
	s.guesses = s.guesses[:0]
	for _, key := range order {
		fits := groups[key]
		quota := max(3, mostGuesses/len(order))
		chosen := min(len(fits), 1+quota/3)
		for i := range chosen {
			f := fits[i*(len(fits)-1)/max(1, chosen-1)]
			models := log.Guesses(f, max(1, quota/chosen))
			for _, m := range models {
				s.guesses = append(s.guesses, guess{m, 1 / float64(len(models)*chosen)})
			}
		}
	}
	s.guessed = len(s.seen)
	// A model that is open just after a refusal is nearly contradicted.
	if last := s.seen[len(s.seen)-1:]; s.refused(last) {
		s.guesses = slices.DeleteFunc(s.guesses, func(g guess) bool { return g.Room(last[0].received) > 0 })
	}
}

// update feeds new observations to the models and drops those that predicted
// otherwise for a single request. The last ones stay and count as doubtful.
func (s *search) update() {
	fresh := s.seen[s.guessed:]
	s.guessed = len(s.seen)
	if len(fresh) == 1 {
		r := fresh[0]
		denies := func(g guess) bool {
			return r.verdict == family.Accepted && g.Opens(r.received) > r.received || s.refused(fresh) && g.Room(r.sent) > 0
		}
		if !slices.ContainsFunc(s.guesses, func(g guess) bool { return !denies(g) }) {
			s.doubts++
		} else {
			s.guesses = slices.DeleteFunc(s.guesses, denies)
		}
	}
	for i := range s.guesses {
		for _, r := range fresh {
			s.guesses[i].Observe(observed(r))
		}
	}
}
