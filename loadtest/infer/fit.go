package infer

import (
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// fit fits the whole log.
func (s *search) fit() error {
	log := s.log()
	if s.fitted {
		s.fits = family.Narrow(log, s.fits)
	} else {
		s.fits, s.fitted = family.Fits(log), true
	}
	if len(s.fits) == 0 {
		return errForeign
	}
	s.fits = slices.DeleteFunc(s.fits, func(f family.Fit) bool {
		_, high := f.Window()
		return high < leastTrips*s.trip
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
	switch {
	case most == family.Unbounded:
	case most < 3*least:
		s.scale = least + (most-least)/2
	}
}

// settled reports whether more probing is useless.
func (s *search) settled() bool { return closelyKnown(s.fits, s.trip) }

// closelyKnown reports whether one kind with one limit and a narrow window is
// left.
func closelyKnown(fits []family.Fit, trip time.Duration) bool {
	kind, limit := fits[0].Kind, fits[0].Limit
	for _, f := range fits {
		if f.Kind != kind || f.Limit != limit {
			return false
		}
		low, high := f.Window()
		// The middle of an interval of 2 % is within 1 % of the truth.
		if high == family.Unbounded || high-low > max(high/50, 3*trip) {
			return false
		}
	}
	return kind == family.Aligned || kind == family.First || len(fits) == 1
}

// log returns the observations for the fast layer. Once a slower layer has
// refused, it may have caused any refusal after the fast one was identified.
func (s *search) log() *family.Log {
	slower := s.anySlow()
	return s.logOf(func(r record) bool { return slower && r.sent > s.understood })
}

func fixed(f family.Fit) bool { return f.Kind == family.Aligned || f.Kind == family.First }

// logOf attributes some refusals to another layer. Requests of other subjects
// may have counted too, until that is known.
func (s *search) logOf(excused func(record) bool) *family.Log {
	shared := map[Subject]string{}
	for other, t := range s.tally {
		shared[other] = s.shared(other, t).Value
	}
	all := make([]family.Observation, 0, len(s.seen))
	for _, r := range s.seen {
		o := family.Observation{Sent: int64(r.sent), Received: int64(r.received), Verdict: r.verdict, Excused: excused(r)}
		switch {
		case r.subject == Main || shared[r.subject] == Shared:
		case shared[r.subject] == Separate:
			continue
		default:
			o.Verdict = family.Unknown
		}
		all = append(all, o)
	}
	return family.NewLog(all)
}

// guess is a model with its probability weight.
type guess struct {
	family.Model
	weight float64
}

// leastShare is the weight of a fit that matches only by chance.
const leastShare = 0.05

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
	log := s.log()
	groups := map[family.Fit][]family.Fit{}
	var order []family.Fit
	for _, f := range s.fits {
		key := family.Fit{Kind: f.Kind, Counting: f.Counting}
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
			models, share := log.Guesses(f, max(1, quota/chosen))
			for _, m := range models {
				s.guesses = append(s.guesses, guess{m, max(share, leastShare) / float64(len(models)*chosen)})
			}
		}
	}
	s.guessed = len(s.seen)
	// A model that is open just after a refusal is nearly contradicted.
	if last := s.seen[len(s.seen)-1]; last.verdict == family.Refused {
		s.guesses = slices.DeleteFunc(s.guesses, func(g guess) bool { return g.Room(last.received) > 0 })
	}
}

// update feeds new observations to the models and drops those that predicted
// otherwise for a single request. The last ones stay and count as doubtful.
func (s *search) update() {
	fresh := s.seen[s.guessed:]
	s.guessed = len(s.seen)
	observations := observed(fresh)
	if len(fresh) == 1 {
		left := slices.DeleteFunc(slices.Clone(s.guesses), func(g guess) bool { return g.denies(fresh[0]) })
		if len(left) > 0 {
			s.guesses = left
		} else {
			s.doubts++
		}
	}
	for i := range s.guesses {
		s.guesses[i].Observe(observations...)
	}
}

// observed converts records to observations for models.
func observed(records []record) []family.Observation {
	observations := make([]family.Observation, 0, len(records))
	for _, r := range records {
		observations = append(observations, family.Observation{Sent: int64(r.sent), Received: int64(r.received), Verdict: r.verdict})
	}
	return observations
}

// denies reports whether the model expected otherwise.
func (g *guess) denies(r record) bool {
	switch r.verdict {
	case family.Accepted:
		return g.Opens(r.received) > r.received
	case family.Refused:
		return g.Room(r.sent) > 0
	default:
		return false
	}
}
