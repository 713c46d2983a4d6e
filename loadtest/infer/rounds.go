package infer

import (
	"outreach.example/conformance/loadtest/infer/family"
)

// split lets the limiter rest, sends a share of the burst, waits, and keeps it
// at its limit for a while. All times are in windows.
func (s *search) split(share, rest, wait, follow float64) error {
	s.next("split")
	if err := s.sleep(times(s.scale, rest)); err != nil {
		return err
	}
	if n := int(share * float64(s.burst)); n > 0 {
		if _, err := s.send(Main, n); err != nil {
			return err
		}
	}
	if err := s.sleep(times(s.scale, wait)); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	until := s.now() + times(s.scale, follow)
	return s.follow(func() bool { return s.now() > until })
}

// round asks what is still open: the kind, the limit, whether refused requests
// count, and then the window.
func (s *search) round() error {
	r := s.random.Float64
	kinds, limits, counting := map[family.Kind]bool{}, map[int]bool{}, map[bool]bool{}
	for _, f := range s.fits {
		kinds[f.Kind], limits[f.Limit], counting[f.Counting] = true, true, true
	}
	s.rounds++
	switch {
	case len(s.fits) == 1 && s.rounds%4 != 0:
		return s.edge(0)
	case len(s.fits) == 1:
		return s.edge(1 + r())
	case len(kinds) == 2 && kinds[family.Aligned] && kinds[family.First] && len(limits) == 1:
		return s.edge(1.1 + 0.6*r()) // so that a new window opens off the phase of the former ones
	case len(kinds) > 1 && s.rounds == 1:
		return s.split(0.5, 1.1, 0.6, 0.8)
	case len(kinds) == 1 && len(limits) > 1 && s.rounds%2 == 1:
		return s.fill(counting[true])
	case len(kinds) == 1 && len(counting) == 2 && s.rounds%2 == 1:
		return s.provoke()
	default:
		return s.split(0.25+0.5*r(), 0.3+r(), 0.2+0.7*r(), 0.6)
	}
}

// fill lets the limiter recover fully, from a debt too, and counts what passes.
func (s *search) fill(debt bool) error {
	s.next("fill")
	rest := 1.1
	if debt {
		rest = 2.1
	}
	if err := s.sleep(times(s.scale, rest)); err != nil {
		return err
	}
	return s.drain()
}

// provoke sends what will be refused, once the limit is used up: where refused
// requests count it stays shut for longer.
func (s *search) provoke() error {
	s.next("refused on purpose")
	if err := s.sleep(s.scale); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	if _, err := s.send(Main, s.fits[0].Limit); err != nil {
		return err
	}
	return s.untilDrained()
}

// edge rests so many windows, uses up the limit and looks closely at the next
// time that the limiter opens.
func (s *search) edge(rest float64) error {
	s.next("edge")
	if err := s.sleep(times(s.scale, rest)); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	return s.untilDrained()
}

// untilDrained follows until something passed and was drained, or for two windows.
func (s *search) untilDrained() error {
	first, until := len(s.seen), s.now()+2*s.scale
	return s.follow(func() bool { return count(s.seen[first:], family.Accepted) > 0 || s.now() > until })
}
