package infer

import (
	"errors"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// errConcurrency means that only concurrent requests are refused.
var errConcurrency = errors.New("a limit on requests in flight")

// waves is how often groups of each size are sent.
const waves = 5

// onlyTogether checks, after a group was partly refused, whether single
// requests are refused too. It returns errConcurrency if they are not, while
// large groups still are and groups as large as the accepted part never are.
func (s *search) onlyTogether() error {
	s.next("one at a time")
	alone := max(8, min(s.burst+1, 200))
	for range alone {
		if s.one().verdict == family.Refused {
			return nil // a rate limit
		}
	}
	s.next("together")
	s.sleep(10 * s.trip)
	low, high := math.MaxInt, 0
	for range waves {
		seen := s.send(s.options.MaxParallel)
		passed := count(seen, family.Accepted)
		low, high = min(low, passed), max(high, passed)
		// After a rest a bucket passes all it holds, and then what it gains in
		// a round trip. Only if these are equal it cannot be told apart.
		if count(seen, family.Refused) == 0 || low < 2 || high > low+low/4+1 {
			return nil
		}
	}
	// A bucket would be empty now. A limiter that passes one group of the
	// accepted size after the other does not count over time.
	for range waves {
		if count(s.send(max(1, low*3/4)), family.Refused) > 0 {
			return nil
		}
	}
	if s.err != nil {
		return s.err
	}
	s.inFlight = [2]int{low, high}
	return errConcurrency
}

func (s *search) concurrencyAnswer() (load.Answer, *load.Finding) {
	low, high := float64(s.inFlight[0]), float64(s.inFlight[1])
	return known(ConcurrencyLimited, 0.9,
			"only parts of large groups are refused, never single requests or smaller groups (a rate limit with a window shorter than a round trip looks the same)"),
		&load.Finding{Known: true, Value: low, Low: low * 3 / 4, High: high, Confidence: 0.9, Unit: "requests",
			Why: "requests in flight: the smallest accepted part of a large group"}
}

// ramps reports whether the answers to the largest group came evenly one after
// the other, and at what rate: excess requests wait in a queue.
func (s *search) ramps() (rate float64, ok bool) {
	largest := s.seen[max(0, len(s.seen)-s.options.MaxParallel):]
	if len(largest) < 16 {
		return 0, false
	}
	sent := largest[0].sent
	times := make([]float64, 0, len(largest))
	for _, r := range largest {
		if r.sent-sent < time.Millisecond { // of one group
			times = append(times, (r.received - r.sent).Seconds())
		}
	}
	slices.Sort(times)
	n := len(times)
	if n < 16 || times[n-1] < 8*s.trip.Seconds() {
		return 0, false
	}
	// Evenly: at each quarter of the answers, a quarter of the time has passed.
	for quarter := 1; quarter < 4; quarter++ {
		want := times[0] + (times[n-1]-times[0])*float64(quarter)/4
		if got := times[n*quarter/4]; math.Abs(got-want) > 0.1*(times[n-1]-times[0]) {
			return 0, false
		}
	}
	return float64(n-1) / (times[n-1] - times[0]), true
}
