package family

import (
	"math"
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

// refutes reports whether one observation contradicts every point of the box. The one that
// refuted the last box is tested first.
func (c *counterCheck) refutes(p *plane) bool {
	for i, q := range c.questions {
		if c.judge(p, q) {
			copy(c.questions[1:i+1], c.questions[:i])
			c.questions[0] = q
			return true
		}
	}
	return false
}

// judge reports whether no window that may contain the decision explains it.
func (c *counterCheck) judge(p *plane, o *question) bool {
	first := math.Ceil((float64(o.Sent) - p.phase.high) / p.window.high)
	if float64(o.Sent) < p.phase.high { // before the reference windows count backward
		first = math.Ceil((float64(o.Sent) - p.phase.high) / p.window.low)
	}
	for k := first - 1; ; k++ {
		former, began, ended := p.boundary(k-1), p.boundary(k), p.boundary(k+1)
		if began.low > float64(o.Received) {
			return true
		}
		if ended.high < float64(o.Sent) {
			continue
		}
		// An estimate grows the earlier the counting starts, and the more of the
		// former window counts.
		at := corner{former.high, began.high, began.low, p.window.low}
		if o.Verdict == Refused {
			at = corner{former.low, began.low, began.high, p.window.high}
		}
		if c.explains(o, at) {
			return false
		}
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
