package family

import (
	"math"
	"slices"
)

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
func (l *Log) questions(counting bool) []*question {
	var out []*question
	if counting {
		for _, g := range l.refusalGroups() {
			out = append(out, &question{Observation: Observation{Sent: g.low, Received: g.high, Verdict: Refused}, group: g})
		}
	}
	for i, o := range l.observations {
		if o.Verdict == Unknown || o.Verdict == Refused && (o.Excused || counting) {
			continue
		}
		last := i+1 == len(l.observations)
		if last || l.observations[i+1].Verdict != o.Verdict || l.observations[i+1].Sent-o.Sent > 4*l.roundTrip {
			out = append(out, &question{Observation: o})
		}
	}
	return out
}

type question struct {
	Observation
	group group // of a refusal, where refused requests count

	// Counts that are the same for every box.
	certain  int // requests that were certainly accepted by the time its answer came
	answered int // requests that were answered before it was sent
	possible int // requests sent by the time its answer came, of those that may count
}

// counterCheck refutes boxes of counters.
type counterCheck struct {
	log       *Log
	limit     float64
	counting  bool
	possible  *set // the requests that the limiter may have counted
	questions []*question
	refuters  []*question // that refuted boxes, the latest first
	left      []*question // a buffer of refutes
}

func (l *Log) counterCheck(f Fit) *counterCheck {
	c := &counterCheck{log: l, limit: float64(f.Limit), counting: f.Counting, questions: l.questions(f.Counting), possible: &l.possible}
	if c.counting {
		c.possible = &l.all
	}
	for _, q := range c.questions {
		q.certain = l.certain.receivedBefore(q.Received + 1)
		q.answered = l.answered.receivedBefore(q.Sent)
		q.possible = c.possible.sentBy(q.Received)
	}
	return c
}

// mostRefuters is how many observations are tested first.
const mostRefuters = 8

// refutes reports whether one observation contradicts every point of the box. Those that
// refuted other boxes are tested first. If none does, the halves of the box need not be
// tested by those that contradict no point of it.
func (c *counterCheck) refutes(p *plane) bool {
	for i, q := range c.refuters {
		if c.judge(p, q) == contradicted {
			copy(c.refuters[1:i+1], c.refuters[:i])
			c.refuters[0] = q
			return true
		}
	}
	open := c.questions
	if p.open != nil {
		open = p.open
	}
	c.left = c.left[:0]
	for _, q := range open {
		switch c.judge(p, q) {
		case contradicted:
			c.refuters = slices.Insert(c.refuters[:min(len(c.refuters), mostRefuters-1)], 0, q)
			return true
		case undecided:
			c.left = append(c.left, q)
		}
	}
	if 2*len(c.left) <= len(open) { // else it is not worth a copy
		p.open = append(make([]*question, 0, len(c.left)), c.left...)
	}
	return false
}

// answer is what an observation says of a box.
type answer int

const (
	undecided    answer = iota // it may contradict some points
	contradicted               // it contradicts every point
	settled                    // it contradicts no point
)

// judge tells whether a window that may contain the decision explains it.
func (c *counterCheck) judge(p *plane, o *question) answer {
	first := math.Ceil((float64(o.Sent) - p.phase.high) / p.window.high)
	if float64(o.Sent) < p.phase.high { // before the reference windows count backward
		first = math.Ceil((float64(o.Sent) - p.phase.high) / p.window.low)
	}
	for k := first - 1; ; k++ {
		began := p.boundary(k)
		ended := p.boundary(k + 1)
		if began.low > float64(o.Received) {
			return contradicted
		}
		if ended.high < float64(o.Sent) {
			continue
		}
		former := p.boundary(k - 1)
		if !c.explains(p, o, former, began, false) {
			continue
		}
		if began.high <= float64(o.Received) && ended.low >= float64(o.Sent) && c.explains(p, o, former, began, true) {
			return settled
		}
		return undecided
	}
}

// boundary returns the position of the k-th boundary.
func (p *plane) boundary(k float64) span {
	if k < 0 {
		return span{p.phase.low + k*p.window.high, p.phase.high + k*p.window.low}
	}
	return span{p.phase.low + k*p.window.low, p.phase.high + k*p.window.high}
}

// corner is where in a box the estimate of a request is taken: the start of the former window
// and of the one that began, from which requests are counted, and the start and the width
// that say how much of the former window still counts.
type corner struct{ former, began, since, window float64 }

// explains reports whether o may have been decided in the window that began there, after the
// former one: at some point of the box or, always, at each of them. An estimate grows the
// earlier the counting starts, and the more of the former window counts.
func (c *counterCheck) explains(p *plane, o *question, former, began span, always bool) bool {
	least := corner{former.high, began.high, began.low, p.window.low}
	greatest := corner{former.low, began.low, began.high, p.window.high}
	switch {
	case o.Verdict == Accepted && always:
		return c.whenAccepted(o, greatest) <= c.limit+1e-9
	case o.Verdict == Accepted:
		return c.whenAccepted(o, least) <= c.limit+1e-9
	case always:
		return c.whenRefused(o, least)+1 > c.limit-1e-9
	default:
		return c.whenRefused(o, greatest)+1 > c.limit-1e-9
	}
}

// whenAccepted is the least that the limiter can have counted when it accepted o.
func (c *counterCheck) whenAccepted(o *question, at corner) float64 {
	former, began := ceil(at.former)-1, ceil(at.began)-1
	both := max(0, o.certain-c.log.certain.sentBy(former))
	current := max(0, o.certain-c.log.certain.sentBy(began))
	if c.counting {
		// All requests answered before, and itself.
		both = max(both, 1+max(0, o.answered-c.log.answered.sentBy(former)))
		current = max(current, 1+max(0, o.answered-c.log.answered.sentBy(began)))
	}
	return at.estimate(o.Received, both, current)
}

// whenRefused is the most that the limiter can have counted when it refused o.
func (c *counterCheck) whenRefused(o *question, at corner) float64 {
	former, began := floor(at.former), floor(at.began)
	both := max(0, o.possible-c.possible.receivedBefore(former)) - o.group.since(former)
	current := max(0, o.possible-c.possible.receivedBefore(began)) - o.group.since(began)
	return at.estimate(o.Sent, both, current)
}

// estimate weighs what both windows counted and what the current one did at that time.
func (at corner) estimate(now int64, both, current int) float64 {
	share := min(1, max(0, 1-(float64(now)-at.since)/at.window))
	return share*float64(both) + (1-share)*float64(current)
}
