package family

import (
	"math"
	"slices"
)

// Windows with boundaries on the clock. An aligned one lets a request pass if the
// count of the current window, including it, is at most the limit. A sliding
// counter adds the count of the previous window times the share of it that a full
// window before now still covers.

// question is an observation that decides.
type question struct {
	Observation
	group group // of a refusal, where refused requests count

	// Counts that are the same for every box.
	certain  int // requests that were certainly accepted by the time its answer came
	answered int // requests that were answered before it was sent
	possible int // requests sent by the time its answer came, of those that may count
}

// counterCheck refutes boxes of such windows.
type counterCheck struct {
	log       *Log
	limit     float64
	aligned   bool // the previous window does not count
	counting  bool
	possible  *set // the requests that the limiter may have counted
	questions []*question
	refuters  []*question // that refuted boxes, the latest first
	left      []*question // a buffer of refutes
}

func (l *Log) counterCheck(f Fit) *counterCheck {
	c := &counterCheck{log: l, limit: float64(f.Limit), aligned: f.Kind == Aligned, counting: f.Counting}
	var refusals []group
	if c.possible, refusals = l.counted(f.Counting); f.Counting {
		for _, g := range refusals {
			c.ask(Observation{Sent: g.low, Received: g.high, Verdict: Refused}, g)
		}
	}
	// The estimate falls while nothing is accepted, so the last of a run of refusals
	// constrains most. It rises with each accepted request, so the last of a run of
	// those does.
	for i, o := range l.observations {
		if o.Verdict == Unknown || o.Verdict == Refused && (o.Excused || f.Counting) {
			continue
		}
		last := i+1 == len(l.observations)
		if last || l.observations[i+1].Verdict != o.Verdict || l.observations[i+1].Sent-o.Sent > 4*l.roundTrip {
			c.ask(o, group{})
		}
	}
	return c
}

func (c *counterCheck) ask(o Observation, g group) {
	c.questions = append(c.questions, &question{Observation: o, group: g, certain: c.log.certain.receivedBefore(o.Received + 1),
		answered: c.log.answered.receivedBefore(o.Sent), possible: c.possible.sentBy(o.Received)})
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
		former, began, ended := p.boundary(k-1), p.boundary(k), p.boundary(k+1)
		if began.low > float64(o.Received) {
			return contradicted
		}
		if ended.high < float64(o.Sent) {
			continue
		}
		// An estimate grows the earlier the counting starts, and the more of the
		// former window counts.
		easy, hard := corner{former.high, began.high, began.low, p.window.low}, corner{former.low, began.low, began.high, p.window.high}
		if o.Verdict == Refused {
			easy, hard = hard, easy
		}
		if !c.explains(o, easy) {
			continue
		}
		if began.high <= float64(o.Received) && ended.low >= float64(o.Sent) && c.explains(o, hard) {
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

// explains reports whether the estimate at the corner allows the verdict: the least that
// the limiter can have counted when it accepted o, or the most when it refused o.
func (c *counterCheck) explains(o *question, at corner) bool {
	if o.Verdict == Accepted {
		return c.estimate(at, o.Received, c.least(o, at.former), c.least(o, at.began)) <= c.limit+1e-9
	}
	return c.estimate(at, o.Sent, c.most(o, at.former), c.most(o, at.began))+1 > c.limit-1e-9
}

// least returns how many requests counted for certain since t when o was accepted.
func (c *counterCheck) least(o *question, t float64) int {
	before := ceil(t) - 1
	n := o.certain - c.log.certain.sentBy(before)
	if c.counting { // all requests answered before, and itself
		n = max(n, 1+max(0, o.answered-c.log.answered.sentBy(before)))
	}
	return max(0, n)
}

// most returns how many requests may have counted since t when o was refused.
func (c *counterCheck) most(o *question, t float64) int {
	return max(0, o.possible-c.possible.receivedBefore(floor(t))) - o.group.since(floor(t))
}

// estimate weighs what both windows counted and what the current one did at that time.
func (c *counterCheck) estimate(at corner, now int64, both, current int) float64 {
	if c.aligned {
		return float64(current)
	}
	share := min(1, max(0, 1-(float64(now)-at.since)/at.window))
	return share*float64(both) + (1-share)*float64(current)
}
