package infer

import (
	"slices"

	"outreach.example/conformance/loadtest/infer/family"
)

// guess is a model with the share that it has in what is thought possible.
type guess struct {
	family.Model
	weight float64
}

// leastShare is the weight of a fit that is met by chance only.
const leastShare = 0.05

// class is what must be told exactly.
type class struct {
	kind     family.Kind
	counting bool
	limit    int
}

func (g *guess) class() class { return class{g.Kind, g.Counting, g.Limit} }

// mostGuesses is how many models stand for all that is left.
const mostGuesses = 24

// guess chooses models for all kinds that are left, and for the limits of each.
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
	// Who thinks that it is open, just after a refusal, is on the brink of being contradicted.
	if last := s.seen[len(s.seen)-1]; last.verdict == family.Refused {
		s.guesses = slices.DeleteFunc(s.guesses, func(g guess) bool { return g.Room(last.received) > 0 })
	}
}

// update shows the models what was seen since, and drops those that expected
// otherwise of a lone request. The last ones stay, in doubt.
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

// observed is what models are shown.
func observed(records []record) []family.Observation {
	observations := make([]family.Observation, 0, len(records))
	for _, r := range records {
		observations = append(observations, family.Observation{Sent: int64(r.sent), Received: int64(r.received), Verdict: r.verdict})
	}
	return observations
}

// denies tells whether the model expected otherwise.
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
