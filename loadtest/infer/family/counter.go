package family

import "math"

// A sliding counter estimates: the count of the previous window times the share
// of it that a full window before now still covers, plus the count of this one.
// A request passes if the estimate including it is at most the limit.

// boundCounter bounds the window without knowing the boundaries.
func (l *Log) boundCounter(f Fit) (Fit, bool) {
	low, ok := l.latestFull(f)
	if !ok {
		return Fit{}, false
	}
	low /= 2 // the limit-th latest request is at most two windows old
	f, ok = f.within(low, min(leastDistance(minimal(l.spans(f.Limit+1))), l.longestWindow(f)))
	if !ok || f.High == Unbounded {
		return f, ok
	}
	return f, !l.tooMany(f.Limit, int64(f.Low))
}

// fitCounter fits such a counter.
func (l *Log) fitCounter(f Fit, work *int) (Fit, bool) {
	f, ok := l.boundCounter(f)
	if !ok || f.High == Unbounded {
		return f, ok
	}
	c := l.counterCheck(f)
	// Seen from the middle of the log, boundaries are known best.
	middle := float64(l.start + (l.end()-l.start)/2)
	p := plane{window: f.windows(), resolution: l.resolution(), work: work}
	p.phase = span{middle, middle + p.window.high}
	p.windows = max(1, float64(l.end()-l.start)/2/p.window.low)
	p, f.corners, ok = searchPlane(p, c.refutes)
	if !ok {
		return Fit{}, false
	}
	return p.fit(f)
}

// tooMany reports that more were accepted in a short time than even the
// previous window's weight allows.
func (l *Log) tooMany(limit int, window int64) bool {
	for _, n := range []int{limit + 1, limit + 2, limit + limit/20 + 1, limit + limit/5 + 1, limit + limit/2 + 1, 2*limit + 1} {
		if short := l.shortestSpan(n); short < window && float64(n)*(1-float64(short)/float64(window)) > float64(limit) {
			return true
		}
	}
	return false
}

// questions returns the observations that decide. The estimate falls while
// nothing is accepted, so the last of a run of refusals constrains most. It
// rises with each accepted request, so the last of a run of those does. If
// refused requests count, groups of refusals constrain.
func (l *Log) questions(counting bool) []question {
	var out []question
	if counting {
		for _, g := range l.refusalGroups() {
			out = append(out, question{Observation{Sent: g.low, Received: g.high, Verdict: Refused}, g})
		}
	}
	for i, o := range l.observations {
		if o.Verdict == Unknown || o.Verdict == Refused && (o.Excused || counting) {
			continue
		}
		last := i+1 == len(l.observations)
		if last || l.observations[i+1].Verdict != o.Verdict || l.observations[i+1].Sent-o.Sent > 4*l.roundTrip {
			out = append(out, question{Observation: o})
		}
	}
	return out
}

type question struct {
	Observation
	group group // of a refusal, where refused requests count
}

type counterCheck struct {
	log       *Log
	limit     span
	counting  bool
	questions []question
}

func (l *Log) counterCheck(f Fit) *counterCheck {
	return &counterCheck{log: l, limit: span{float64(f.Limit), float64(f.Limit)}, counting: f.Counting, questions: l.questions(f.Counting)}
}

// refutesAll is refutes for all limits of the box.
func (c *counterCheck) refutesAll(b cube) bool {
	c.limit = b.limit
	return c.refutes(b.plane)
}

// refutes reports whether one observation contradicts every point of the box.
// The observation that refuted one box is tested first for the next.
func (c *counterCheck) refutes(p plane) bool {
	for i, q := range c.questions {
		if c.contradicts(p, q) {
			copy(c.questions[1:i+1], c.questions[:i])
			c.questions[0] = q
			return true
		}
	}
	return false
}

// contradicts reports whether no window that may contain the decision explains
// it.
func (c *counterCheck) contradicts(p plane, o question) bool {
	first := math.Ceil((float64(o.Sent) - p.phase.high) / p.window.high)
	if float64(o.Sent) < p.phase.high { // before the reference windows count backward
		first = math.Ceil((float64(o.Sent) - p.phase.high) / p.window.low)
	}
	for k := first - 1; ; k++ {
		began := p.boundary(k)
		ended := p.boundary(k + 1)
		if began.low > float64(o.Received) {
			return true
		}
		if ended.high < float64(o.Sent) {
			continue
		}
		if c.explains(p, o, p.boundary(k-1), began) {
			return false
		}
	}
}

// boundary returns the position of the k-th boundary.
func (p plane) boundary(k float64) span {
	if k < 0 {
		return span{p.phase.low + k*p.window.high, p.phase.high + k*p.window.low}
	}
	return span{p.phase.low + k*p.window.low, p.phase.high + k*p.window.high}
}

// explains reports whether o may have been decided in the window that began
// there, after the previous one.
func (c *counterCheck) explains(p plane, o question, former, began span) bool {
	if o.Verdict == Accepted {
		share := clip(1 - (float64(o.Received)-began.low)/p.window.low)
		counted := &c.log.certain
		both := counted.within(ceil(former.high), o.Received)
		current := counted.within(ceil(began.high), o.Received)
		if c.counting {
			// All requests answered before, and itself.
			both = max(both, c.log.answered.within(ceil(former.high), o.Sent-1)+1)
			current = max(current, c.log.answered.within(ceil(began.high), o.Sent-1)+1)
		}
		return share*float64(both)+(1-share)*float64(current) <= c.limit.high+1e-9
	}
	share := clip(1 - (float64(o.Sent)-began.high)/p.window.high)
	possible := &c.log.possible
	if c.counting {
		possible = &c.log.all
	}
	both := possible.atMostWithin(floor(former.low), o.Received) - o.group.since(floor(former.low))
	current := possible.atMostWithin(floor(began.low), o.Received) - o.group.since(floor(began.low))
	return share*float64(both)+(1-share)*float64(current)+1 > c.limit.low-1e-9
}

func clip(share float64) float64 { return min(1, max(0, share)) }
