package infer

import (
	"math"
	"outreach.example/conformance/loadtest/infer/family"
	"time"
)

// drain sends until a request is refused.
func (s *search) drain() error {
	s.polls = nil
	sent := 0
	for size := s.room(); ; size = s.more(sent) {
		seen, err := s.send(Main, size)
		sent += size
		if err != nil {
			return err
		}
		if count(seen, family.Refused) > 0 {
			return nil
		}
	}
}

// more returns how many to send after this many were accepted.
func (s *search) more(sent int) int {
	now, least := s.now(), math.MaxInt
	for i := range s.guesses {
		if room := s.guesses[i].Room(now); room >= sent {
			least = min(least, room+1-sent)
		}
	}
	if least == math.MaxInt {
		least = max(2, sent)
	}
	return min(least, s.options.MaxParallel)
}

// nextPoll returns when a single request yields the most: spread evenly over
// the time in which the limiter is expected to open.
func (s *search) nextPoll() time.Duration {
	now := s.now()
	if s.polls == nil {
		s.polls = s.pollsFrom(now)
	}
	for len(s.polls) > 0 {
		next := s.polls[0]
		s.polls = s.polls[1:]
		if next > now {
			return next
		}
	}
	return now + max(s.recovery/4, s.scale/25, s.trip/2)
}

// pollsEach is how many requests are spent on one opening.
const pollsEach = 6

func (s *search) pollsFrom(now time.Duration) []time.Duration {
	low, high, ok := s.opening()
	if !ok {
		return []time.Duration{}
	}
	low = max(low, now+s.scale/25)
	step := max((high-low)/pollsEach, s.trip/2, s.scale/1000)
	plan := []time.Duration{low}
	for t := low + step; t < high+step; t += step {
		plan = append(plan, t)
	}
	return plan
}

// opening returns when the limiter is expected to open again, over all
// remaining fits.
func (s *search) opening() (low, high time.Duration, ok bool) {
	forecasts := s.forecasts()
	for i, f := range forecasts {
		if i == 0 {
			low, high = f.Opens, f.Opens
		}
		low, high = min(low, f.Opens), max(high, f.Opens)
	}
	return low, high, len(forecasts) > 0
}

// room returns how many requests to send at once so that one is refused.
func (s *search) room() int {
	if len(s.guesses) > 0 {
		return s.more(0)
	}
	room := 0
	for _, f := range s.forecasts() {
		room = max(room, f.Room)
	}
	if room == 0 {
		return 2
	}
	return min(room+1, s.options.MaxParallel)
}

// forecasts returns the forecasts of some fits, each at both ends of its
// window.
func (s *search) forecasts() []family.Forecast {
	if len(s.fits) == 0 {
		return nil
	}
	log, now := s.log(), s.now()
	var out []family.Forecast
	for i := 0; i < len(s.fits); i += 1 + len(s.fits)/8 {
		f := s.fits[i]
		if f.High == family.Unbounded {
			continue
		}
		for _, at := range []float64{0, 1} {
			out = append(out, f.Forecast(log, now, at))
		}
	}
	return out
}

func (s *search) lastReceived() time.Duration { return s.seen[len(s.seen)-1].received }

func times(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}
