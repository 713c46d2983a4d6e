package infer

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
	return experiment{rest: min(times(window, 0.3+1.2*r()), s.now()), share: int((0.2 + 0.5*r()) * float64(s.fits[0].Limit)), wait: min(times(window, 0.2+0.6*r()), s.now()/2), drain: true, openings: 1}
}
