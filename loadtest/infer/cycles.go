package infer

import (
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// cycle is one drain, the answers to other subjects meanwhile, and the wait
// until a request passed again.
type cycle struct {
	low, high time.Duration // bounds of the wait; high is 0 if none passed
	promised  time.Duration // by the first refusal; -1 if nothing
	kept      bool          // whether the promise was kept: the first refusal's, or the last one's if refused requests may count
	tried     bool          // whether the promise could be tested
}

// observeCycles drains the limiter several times to determine scope,
// Retry-After and recovery.
func (s *search) observeCycles() error {
	if err := s.control(); err != nil {
		return err
	}
	// Some comparisons are invalid; after a rest fewer are.
	for range 3 * s.options.Drains {
		s.next("drain and recover")
		before := s.validComparisons()
		if err := s.drain(); err != nil {
			return err
		}
		if err := s.sandwiches(); err != nil {
			return err
		}
		invalid := s.validComparisons() == before
		if err := s.recover(); err != nil {
			return err
		}
		if s.validComparisons() >= s.options.Drains && len(s.cycles) >= s.options.Drains {
			break
		}
		if invalid {
			if err := s.sleep(s.scale); err != nil {
				return err
			}
		}
	}
	return s.fit()
}

// validComparisons returns the number of valid comparisons of the subject with
// the fewest.
func (s *search) validComparisons() int {
	least := math.MaxInt
	for other, verdict := range s.controls {
		if verdict == family.Accepted {
			least = min(least, s.tally[other].asked)
		}
	}
	return least
}

// control sends one request of each other subject while the limiter is at rest.
func (s *search) control() error {
	s.next("other subjects at rest")
	if err := s.sleep(times(s.scale, 1.25)); err != nil {
		return err
	}
	for _, other := range Others() {
		if !s.wire.has(other) {
			continue
		}
		seen, err := s.send(other, 1)
		if err != nil {
			return err
		}
		s.controls[other] = seen[0].verdict
	}
	return nil
}

// sandwiches sends each other subject between requests of Main. A comparison is
// valid only if Main was refused before and after, that is, all four times.
func (s *search) sandwiches() error {
	for _, other := range Others() {
		if s.controls[other] != family.Accepted || !s.wire.has(other) {
			continue
		}
		seen, err := s.shoot([]Shot{{Subject: Main}, {Subject: Main}, {Subject: other}, {Subject: Main}, {Subject: Main}})
		if err != nil {
			return err
		}
		refused := 0
		for _, r := range seen {
			if r.subject == Main && r.verdict == family.Refused {
				refused++
			}
		}
		if inner := seen[2].verdict; refused == 4 && inner != family.Unknown {
			t := s.tally[other]
			t.asked++
			if inner == family.Refused {
				t.refused++
			}
			s.tally[other] = t
		}
	}
	return nil
}

// recover sends single requests until one passes, and records the Retry-After
// on the way.
func (s *search) recover() error {
	// A single request: no other request in flight distorts its response.
	first, err := s.send(Main, 1)
	if err != nil || first[0].verdict != family.Refused {
		return err
	}
	last := first[0]
	c := cycle{promised: promise(last)}
	began := last
	for {
		wait := s.nextPoll()
		if end := last.received + promise(last); promise(last) >= 0 && end > s.now() && (end < wait || s.onlyCounting()) {
			wait = end
		}
		if err := s.sleepUntil(wait); err != nil {
			return err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		probe := seen[0]
		tried := last
		if s.noneCounting() {
			tried = began // an early request does not invalidate the promise
		}
		over := promise(tried) >= 0 && probe.sent >= tried.received+promise(tried)
		switch probe.verdict {
		case family.Refused:
			if over {
				c.tried, c.kept = true, false
			}
			c.low = probe.sent - began.received
			last = probe
		case family.Accepted:
			if promise(last) >= 0 && !c.tried {
				c.tried, c.kept = true, true
			}
			c.low, c.high = max(0, c.low), probe.received-began.sent
			s.cycles = append(s.cycles, c)
			return nil
		case family.Unknown:
		}
	}
}

// onlyCounting reports whether every refused request prolongs the wait.
func (s *search) onlyCounting() bool {
	return !slices.ContainsFunc(s.fits, func(f family.Fit) bool { return !f.Counting })
}

// noneCounting reports whether no refused request prolongs the wait.
func (s *search) noneCounting() bool {
	return len(s.fits) > 0 && !slices.ContainsFunc(s.fits, func(f family.Fit) bool { return f.Counting })
}

// promise returns the Retry-After; -1 if there is none.
func promise(r record) time.Duration {
	if r.claims.RetryAfter == nil {
		return -1
	}
	return *r.claims.RetryAfter
}

// recoveryTime returns how long Main was refused after a drain.
func (s *search) recoveryTime() Estimate {
	e := Estimate{Unit: "s"}
	if len(s.cycles) == 0 {
		e.Why = "no recovery from a drain was observed within the budgets"
		return e
	}
	var middles []float64
	hull := newRange()
	for _, c := range s.cycles {
		middles = append(middles, (c.low+c.high).Seconds()/2)
		hull.add(c.low.Seconds(), c.high.Seconds())
	}
	slices.Sort(middles)
	e.Value, e.Low, e.High = middles[len(middles)/2], hull.low, hull.high
	if len(s.cycles) < leastCycles {
		e.Why = fmt.Sprintf("only %s observed; %d needed", plural(len(s.cycles), "drain"), leastCycles)
		return e
	}
	e.Known = true
	// The probability that the median lies outside all of n draws is 2^(1-n).
	e.Confidence = 1 - math.Pow(2, float64(1-len(s.cycles)))
	e.Why = fmt.Sprintf("median of %d drains; the interval covers all of them", len(s.cycles))
	return e
}

// leastCycles is the minimum number of drains for a conclusion.
const leastCycles = 5
