package infer

import (
	"outreach.example/conformance/loadtest/infer/family"
	"slices"
	"time"
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
