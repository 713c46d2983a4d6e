package infer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// cycle is the wait after a drain until a request passed again.
type cycle struct {
	low, high time.Duration // bounds of the wait
	promised  time.Duration // by the first refusal; -1 if nothing
}

// leastCycles is the minimum number of drains for a conclusion.
const leastCycles = 5

// observeCycles drains the limiter several times to determine scope,
// Retry-After and recovery.
func (s *search) observeCycles() error {
	s.control()
	// Some comparisons are invalid; after a rest fewer are.
	for range 3 * leastCycles {
		s.next("drain and recover")
		before := s.validComparisons()
		s.guess()
		s.drain()
		s.sandwiches()
		if s.recover(); s.err != nil {
			return s.err
		}
		valid := s.validComparisons()
		if valid >= leastCycles && len(s.cycles) >= leastCycles {
			break
		}
		if valid == before {
			s.sleep(s.scale)
		}
	}
	return cmp.Or(s.err, s.fit())
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
func (s *search) control() {
	s.next("other subjects at rest")
	s.sleep(times(s.scale, 1.25))
	for _, other := range s.wire.Subjects {
		for _, r := range s.prober.send([]Subject{other}) {
			s.controls[other] = r.verdict
		}
	}
}

// sandwiches sends each other subject between requests of Main. A comparison is
// valid only if Main was refused before and after, that is, all four times.
func (s *search) sandwiches() {
	for _, other := range s.wire.Subjects {
		if s.controls[other] != family.Accepted {
			continue
		}
		seen := s.prober.send([]Subject{Main, Main, other, Main, Main})
		if len(seen) < 5 {
			return
		}
		inner := seen[2].verdict
		if count(slices.Concat(seen[:2], seen[3:]), family.Refused) < 4 || inner == family.Unknown {
			continue
		}
		t := s.tally[other]
		t.asked++
		if inner == family.Refused {
			t.refused++
		}
		s.tally[other] = t
	}
}

// recover waits until a single request passes: first for as long as a refusal
// promises, if that is not longer than expected.
func (s *search) recover() {
	// A single request: no other request in flight distorts its response.
	began := s.one()
	if began.verdict != family.Refused {
		return
	}
	s.doubts = 0
	s.update()
	first := len(s.seen) - 1
	promised := promise(began)
	opened := false
	if expected := s.openings(); promised >= 0 && (len(expected) == 0 || began.received+promised <= expected[len(expected)-1]+s.trip) {
		opened = s.look(began.received + promised)
	}
	if !opened && !s.untilOpens() {
		s.untilOpen()
	}
	if s.err != nil {
		return
	}
	c := cycle{promised: promised}
	for _, r := range s.seen[first:] {
		switch r.verdict {
		case family.Refused:
			c.low = max(0, r.sent-began.received)
		case family.Accepted:
			c.high = r.received - began.sent
		case family.Unknown:
		}
	}
	s.cycles = append(s.cycles, c)
}

// promise returns the Retry-After; -1 if there is none.
func promise(r record) time.Duration {
	if r.claims.RetryAfter == nil {
		return -1
	}
	return *r.claims.RetryAfter
}

// recoveryTime returns how long Main was refused after a drain.
func (p *prober) recoveryTime() load.Finding {
	n := len(p.cycles)
	if n == 0 {
		return load.Finding{Unit: "s", Why: "no recovery from a drain was observed within the budgets"}
	}
	var middles []float64
	hull := newRange()
	for _, c := range p.cycles {
		middles = append(middles, (c.low+c.high).Seconds()/2)
		hull.add(c.low.Seconds(), c.high.Seconds())
	}
	// The probability that the median lies outside all of n draws is 2^(1-n).
	e := typical(middles, 1-math.Pow(2, float64(1-n)), fmt.Sprintf("median of %d drains; the interval covers all of them", n))
	e.Low, e.High = hull.low, hull.high
	if n < leastCycles {
		e.Known, e.Confidence = false, 0
		e.Why = fmt.Sprintf("only %s observed; %d needed", plural(n, "drain"), leastCycles)
	}
	return e
}
