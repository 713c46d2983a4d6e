package measure

import (
	"math"
	"math/bits"
	"time"
)

// steps is the number of steps in one request. Rates are whole millionths of a
// request per second and times are whole nanoseconds, so rate × time is a whole
// number of steps.
const steps = 1_000_000 * uint64(time.Second)

// place is an exact amount of requests: whole ones and steps of the next.
type place struct{ whole, part uint64 }

func (p place) add(q place) place {
	sum := place{p.whole + q.whole, p.part + q.part}
	if sum.part >= steps {
		sum.whole, sum.part = sum.whole+1, sum.part-steps
	}
	return sum
}

// up returns the number of requests before p.
func (p place) up() uint64 {
	if p.part > 0 {
		return p.whole + 1
	}
	return p.whole
}

// millionths returns the segment's rate in millionths of a request per second.
func (g Segment) millionths() uint64 { return uint64(math.Round(g.Rate * 1e6)) }

// until returns what the segment's rate adds up to in d.
func (g Segment) until(d time.Duration) place {
	hi, lo := bits.Mul64(g.millionths(), uint64(d))
	whole, part := bits.Div64(hi, lo, steps)
	return place{whole, part}
}

// Planned returns the number of requests of the schedule, or of this shard of it.
func (s Schedule) Planned() int64 { return s.before(s.Duration()) }

// before returns the number of the shard's requests that are due before t.
func (s Schedule) before(t time.Duration) int64 {
	var at place
	for _, g := range s.Segments {
		if t <= 0 {
			break
		}
		at = at.add(g.until(min(t, g.Duration)))
		t -= g.Duration
	}
	all, first, of := at.up(), uint64(s.Index), uint64(s.shards())
	if all <= first {
		return 0
	}
	return int64((all - first + of - 1) / of)
}

// Seq returns the place of this shard's request seq (from 0) in the whole schedule.
// The request depends on the place, so shards together send what the whole sends.
func (s Schedule) Seq(seq uint64) uint64 { return uint64(s.Index) + seq*uint64(s.shards()) }

// Due returns when this shard's request seq (from 0) is due, counted from the start
// of the phase and rounded down to 1 ns. A seq beyond Planned is due at the end. The
// schedule must be valid.
func (s Schedule) Due(seq uint64) time.Duration {
	k := s.Seq(seq)
	var from time.Duration
	var at place
	for _, g := range s.Segments {
		end := at.add(g.until(g.Duration))
		if k < end.up() {
			hi, lo := bits.Mul64(k-at.whole, steps)
			lo, borrow := bits.Sub64(lo, at.part, 0)
			wait, _ := bits.Div64(hi-borrow, lo, g.millionths())
			return from + time.Duration(wait)
		}
		at, from = end, from+g.Duration
	}
	return from
}

// perSecond returns the number of this shard's requests that are due in each second
// of the phase.
func (s Schedule) perSecond() []int64 {
	seconds := (s.Duration() + time.Second - 1) / time.Second
	asked := make([]int64, seconds)
	var done int64
	for i := range asked {
		until := s.before(time.Duration(i+1) * time.Second)
		asked[i], done = until-done, until
	}
	return asked
}

// Pace returns how long after elapsed the shard's next request is due, if hits
// were sent before it, and whether none is left. With Rate, it makes a Schedule a
// vegeta.Pacer.
func (s Schedule) Pace(elapsed time.Duration, hits uint64) (wait time.Duration, stop bool) {
	if hits >= uint64(s.Planned()) {
		return 0, true
	}
	return s.Due(hits) - elapsed, false
}

// Rate returns the shard's requests per second at that time of the phase; 0 after
// its end.
func (s Schedule) Rate(elapsed time.Duration) float64 {
	for _, g := range s.Segments {
		if elapsed < g.Duration {
			return g.Rate / float64(s.shards())
		}
		elapsed -= g.Duration
	}
	return 0
}
