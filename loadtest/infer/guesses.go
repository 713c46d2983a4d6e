package infer

import (
	"slices"

	"outreach.example/conformance/loadtest/infer/family"
)

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
