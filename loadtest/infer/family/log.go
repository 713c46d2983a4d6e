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
	refusals     []Observation // those that need an explanation
	latest       []int64       // latest answer to any observation up to this one
	groups       []group       // the refusals; computed on first use
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
	for _, o := range l.observations {
		trips = append(trips, o.Received-o.Sent)
		l.all.add(o)
		l.latest = append(l.latest, o.Received)
		if n := len(l.latest); n > 1 {
			l.latest[n-1] = max(o.Received, l.latest[n-2])
		}
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
				l.refusals = append(l.refusals, o)
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
	first    int // index of the first one in the log
	received []int64
	earliest int64   // of received
	late     []int64 // answers to others in flight with the group or after it, up to its end; ascending
}

func grouped(observations []Observation) []group {
	var groups []group
	for i, o := range observations {
		if o.Verdict != Refused || o.Excused {
			continue
		}
		if len(groups) == 0 || o.Sent > groups[len(groups)-1].earliest {
			groups = append(groups, group{interval: interval{o.Sent, o.Received}, first: i, earliest: o.Received})
		}
		g := &groups[len(groups)-1]
		g.received = append(g.received, o.Received)
		g.high = max(g.high, o.Received)
		g.earliest = min(g.earliest, o.Received)
	}
	return groups
}

// refusalGroups returns the refusals in groups.
func (l *Log) refusalGroups() []group {
	if l.groups == nil {
		l.groups = grouped(l.observations)
		for i := range l.groups {
			l.groups[i].late = l.inFlight(l.groups[i])
		}
	}
	return l.groups
}

// inFlight returns the answers outside the group that may have been decided
// while it was in flight.
func (l *Log) inFlight(g group) []int64 {
	var late []int64
	for i := l.all.sentBy(g.high) - 1; i >= 0 && l.latest[i] >= g.earliest; i-- {
		o := l.observations[i]
		member := o.Verdict == Refused && !o.Excused && g.low <= o.Sent && o.Sent <= g.earliest
		if !member && o.Received >= g.earliest {
			late = append(late, min(o.Received, g.high))
		}
	}
	slices.Sort(late)
	return late
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

// spans returns, for each run of n accepted requests in order of sending, the
// interval that holds all n decisions.
func (l *Log) spans(n int) []interval {
	if n < 1 || len(l.accepts) < n {
		return nil
	}
	var latest []int // indices of falling Received: the first is the latest of the run
	out := make([]interval, 0, len(l.accepts)-n+1)
	for i, o := range l.accepts {
		for len(latest) > 0 && l.accepts[latest[len(latest)-1]].Received <= o.Received {
			latest = latest[:len(latest)-1]
		}
		latest = append(latest, i)
		first := i - n + 1
		if latest[0] < first {
			latest = latest[1:]
		}
		if first >= 0 {
			out = append(out, interval{l.accepts[first].Sent, l.accepts[latest[0]].Received})
		}
	}
	return out
}

// interval is a span of time from low to high.
type interval struct{ low, high int64 }

// nthLatest returns the latest time before which the n-th latest accepted
// request that may precede o must have been decided. ok is false if there were
// fewer than n.
func (s *set) nthLatest(n int, o Observation) (t int64, ok bool) {
	known := s.receivedBefore(o.Received + 1)
	flying := s.sentBy(o.Received) - known // these may have come before o too
	if known+flying < n {
		return 0, false
	}
	if n <= flying {
		return o.Received, true
	}
	return s.received[known-(n-flying)], true
}

// nthLatestOfAll is nthLatest for requests of any verdict and the first
// decision in a group of refusals.
func (l *Log) nthLatestOfAll(n int, g group) (t int64, ok bool) {
	if n <= len(g.late) {
		return g.late[len(g.late)-n], true
	}
	n -= len(g.late)
	if before := l.all.receivedBefore(g.earliest); n <= before {
		return l.all.received[before-n], true
	}
	return 0, false
}
