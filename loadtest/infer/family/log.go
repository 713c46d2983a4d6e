// Package family knows the families of rate limiters. For each it finds the
// parameters that a log of observations does not contradict.
//
// Every observation is an interval, from sending to receiving, that contains
// the moment of the decision. All bounds here are necessary conditions that
// hold wherever in their intervals the decisions fell. So the true limiter is
// never contradicted, however slow or jittery the network is, and the result is
// an interval in the strict sense.
//
// The package is pure arithmetic on such intervals. It imports nothing of this
// module and has no clock.
package family

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Verdict is the answer to a request.
type Verdict uint8

// The verdicts.
const (
	Accepted Verdict = iota
	Refused
	Unknown // no answer, or neither accepted nor refused; it may have counted
)

// Observation is one request. Times are nanoseconds since a common start.
type Observation struct {
	Sent, Received int64
	Verdict        Verdict
	// Excused refusals need no explanation: another limit may have caused them.
	// They count only if refused requests count.
	Excused bool
}

// Log is a set of observations, prepared for counting. The limiter must have
// been at rest at its beginning.
type Log struct {
	observations []Observation // by time of sending
	certain      set           // the accepted ones
	possible     set           // these and the unknown ones
	answered     set           // all but the unknown ones
	all          set
	accepts      []Observation
	refusals     []group // those that need an explanation, each alone
	together     []group // those that were in flight at the same time
	start        int64
	// roundTrip is the median, which determines a useful resolution of
	// parameters.
	roundTrip int64
	coarse    float64 // minimum resolution
}

// NewLog prepares observations, in any order.
func NewLog(observations []Observation) *Log {
	l := &Log{observations: slices.Clone(observations)}
	slices.SortFunc(l.observations, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Received, b.Received))
	})
	var trips []int64
	for i, o := range l.observations {
		trips = append(trips, o.Received-o.Sent)
		l.all.add(o)
		if o.Verdict != Unknown {
			l.answered.add(o)
		}
		switch o.Verdict {
		case Accepted:
			l.certain.add(o)
			l.possible.add(o)
			l.accepts = append(l.accepts, o)
		case Unknown:
			l.possible.add(o)
		case Refused:
			if !o.Excused {
				l.refuse(i, o)
			}
		}
	}
	for _, s := range []*set{&l.all, &l.answered, &l.certain, &l.possible} {
		slices.Sort(s.received)
	}
	if len(trips) > 0 {
		slices.Sort(trips)
		l.start, l.roundTrip = l.observations[0].Sent, trips[len(trips)/2]
	}
	return l
}

// group is a set of refusals each of which was in flight with all others.
// Whichever was decided first had none of the others before it. If refused
// requests count, that says more than each of them alone.
type group struct {
	interval
	first    int     // index of the first one in the log
	received []int64 // when they were received, if refused requests count
	earliest int64   // of received
}

func (l *Log) refuse(i int, o Observation) {
	at := interval{o.Sent, o.Received}
	l.refusals = append(l.refusals, group{interval: at})
	if n := len(l.together); n == 0 || o.Sent > l.together[n-1].earliest {
		l.together = append(l.together, group{interval: at, first: i, earliest: o.Received})
	}
	g := &l.together[len(l.together)-1]
	g.received = append(g.received, o.Received)
	g.high, g.earliest = max(g.high, o.Received), min(g.earliest, o.Received)
}

// counted returns the requests that a limiter may have counted, and the refusals
// that it has to explain.
func (l *Log) counted(counting bool) (*set, []group) {
	if counting {
		return &l.all, l.together
	}
	return &l.possible, l.refusals
}

// since counts the members that may have been decided at t or later.
func (g group) since(t int64) (n int) {
	for _, r := range g.received {
		if r >= t {
			n++
		}
	}
	return n
}

// end is the time of the last answer.
func (l *Log) end() int64 {
	if len(l.all.received) == 0 {
		return l.start
	}
	return l.all.received[len(l.all.received)-1]
}

// set counts observations by time.
type set struct {
	sent, received []int64 // each ascending
}

func (s *set) add(o Observation) {
	s.sent = append(s.sent, o.Sent)
	s.received = append(s.received, o.Received)
}

// sentBy counts those sent at t or before: all others were decided after t.
func (s *set) sentBy(t int64) int {
	return sort.Search(len(s.sent), func(i int) bool { return s.sent[i] > t })
}

// receivedBefore counts those received before t: they were decided before t.
func (s *set) receivedBefore(t int64) int {
	return sort.Search(len(s.received), func(i int) bool { return s.received[i] >= t })
}

// atMostWithin returns the maximum number that may have been decided from a to
// b.
func (s *set) atMostWithin(a, b int64) int {
	return max(0, s.sentBy(b)-s.receivedBefore(a))
}

// floor and ceil round a real time outward or inward as the caller needs it.
func floor(t float64) int64 { return int64(math.Floor(t)) }
func ceil(t float64) int64  { return int64(math.Ceil(t)) }

// spans returns intervals that each hold n decisions to accept, in order of time. Of
// the requests that were answered by the high end, at least n were sent from the low
// end on.
func (l *Log) spans(n int) []interval {
	var out []interval
	for i := 0; n >= 1 && i+n <= len(l.accepts); i++ {
		out = append(out, interval{l.certain.sent[i], l.certain.received[i+n-1]})
	}
	return out
}

// interval is a span of time from low to high.
type interval struct{ low, high int64 }

// nthLatest returns the latest time before which the n-th latest request that may
// precede the first decision of the group must have been decided. ok is false if
// there were fewer than n.
func (s *set) nthLatest(n int, g group) (t int64, ok bool) {
	known := s.receivedBefore(g.high + 1)
	flying := s.sentBy(g.high) - known // these may have come before too
	if n <= flying {
		return g.high, true
	}
	for i := known - (n - flying); i >= 0; {
		t = s.received[i]
		missing := n - flying - (known - i - g.since(t))
		if missing <= 0 {
			return t, true
		}
		i -= missing
	}
	return 0, false
}
