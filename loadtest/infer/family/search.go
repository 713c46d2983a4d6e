package family

import "math"

// The search for parameters halves boxes and discards those that are refuted as
// a whole. Its result contains every point that is not refuted.

// span is a range of a parameter.
type span struct{ low, high float64 }

func (s span) width() float64 { return s.high - s.low }

func (s span) halves() (span, span) {
	mid := s.low + s.width()/2
	return span{s.low, mid}, span{mid, s.high}
}

func (s span) holds(t span) bool { return s.low <= t.low && t.high <= s.high }

func (s span) hull(t span) span { return span{min(s.low, t.low), max(s.high, t.high)} }

// mostBoxes limits the work. Whatever is undecided by then counts as possible.
const mostBoxes = 12_000

// plane is a box of windows and positions of one boundary.
type plane struct {
	phase, window span
	windows       float64 // number of windows between that boundary and the ends of the log
	resolution    float64 // the width at which halving ends
	work          *int    // boxes that may still be searched
	// open are the observations that may contradict a part of the box; nil for all.
	open []*question
}

// done reports whether the box is too small to halve.
func (p plane) done() bool {
	return *p.work <= 0 || p.phase.width() <= p.resolution && p.window.width()*p.windows <= p.resolution
}

func (p plane) halves() (plane, plane) {
	left, right := p, p
	if p.window.width()*p.windows > p.phase.width() {
		left.window, right.window = p.window.halves()
	} else {
		left.phase, right.phase = p.phase.halves()
	}
	return left, right
}

// point is a window and the position of one boundary.
type point struct{ window, phase float64 }

// corners holds extreme points: those with the least and greatest value of each
// parameter.
type corners [4]point

func (p plane) middle() point {
	return point{p.window.low + p.window.width()/2, p.phase.low + p.phase.width()/2}
}

func (c *corners) add(p point) {
	if *c == (corners{}) {
		*c = corners{p, p, p, p}
	}
	if p.window < c[0].window {
		c[0] = p
	}
	if p.window > c[1].window {
		c[1] = p
	}
	if p.phase < c[2].phase {
		c[2] = p
	}
	if p.phase > c[3].phase {
		c[3] = p
	}
}

// searchPlane returns the hull of what is left of the box, with its corners. ok
// is false if nothing is left.
func searchPlane(p plane, refuted func(*plane) bool) (found plane, at corners, ok bool) {
	queue := []plane{p}
	for len(queue) > 0 {
		b := queue[0]
		queue = queue[1:]
		if ok && found.phase.holds(b.phase) && found.window.holds(b.window) {
			continue
		}
		*p.work--
		switch {
		case refuted(&b):
			continue
		case !b.done():
			left, right := b.halves()
			queue = append(queue, left, right)
			continue
		case !ok:
			found, ok = b, true
		default:
			found.phase, found.window = found.phase.hull(b.phase), found.window.hull(b.window)
		}
		at.add(b.middle())
	}
	return found, at, ok
}

// Guesses returns up to n models that explain the log, spread over what the fit
// leaves open, and the share of its parameters that explain it. They represent
// the fit when probes are planned. An unbounded fit may have none.
func (l *Log) Guesses(f Fit, n int) (models []Model, share float64) {
	explains := l.pointCheck(f)
	tried := 0
	for ; tried < n*tries && len(models) < n; tried++ {
		p := l.boxPoint(f, tried)
		if f.corners != (corners{}) && tried%2 == 1 {
			p = f.corners.between(tried)
		}
		if m := f.model(p.window, p.phase); explains(m) {
			models = append(models, m)
		}
	}
	share = float64(len(models)) / float64(tried)
	if len(models) == 0 && f.corners != (corners{}) {
		p := f.corners[0] // nearly explains it
		models = append(models, f.model(p.window, p.phase))
	}
	for i := range models {
		models[i].Observe(l.observations...)
	}
	return models, share
}

// boxPoint returns the i-th of points spread evenly over the bounds of the fit.
func (l *Log) boxPoint(f Fit, i int) point {
	windows, phases := f.windows(), span{float64(f.PhaseLow), float64(f.PhaseHigh)}
	if f.High == Unbounded {
		windows.high = windows.low * unboundedTo
	}
	window := windows.low + windows.width()*fraction(i, 0)
	if f.High == Unbounded {
		phases = span{float64(l.end()) - window, float64(l.end())}
	}
	return point{window, phases.low + phases.width()*fraction(i, 1)}
}

// between returns the i-th of points spread between the corners.
func (c corners) between(i int) (p point) {
	sum := 0.0
	for k := range c {
		w := fraction(i, k)
		p.window, p.phase, sum = p.window+w*c[k].window, p.phase+w*c[k].phase, sum+w
	}
	return point{p.window / sum, p.phase / sum}
}

// fraction returns the i-th of numbers between 0 and 1 that are spread evenly
// in any beginning of the sequence, along several axes at once.
func fraction(i, axis int) float64 {
	x := 0.5 + float64(i)*[]float64{0.7548776662466927, 0.5698402909980532, 0.8566748838545029, 0.7338918566271259}[axis]
	return x - math.Floor(x)
}

// unboundedTo is the assumed upper end of an unbounded window, as a multiple of
// its lower bound.
const unboundedTo = 3

// tries is how many points are tested to find one that explains the log.
const tries = 20

// pointCheck returns a function that reports whether a model of the fit
// explains the log.
func (l *Log) pointCheck(f Fit) func(m Model) bool {
	var refutes func(*plane) bool
	switch f.Kind {
	case Bucket:
		return func(m Model) bool { return l.enough(f, 1/m.window) && l.notTooMuch(f, 1/m.window) }
	case Sliding:
		return func(Model) bool { return true }
	case Aligned:
		refutes = refutesAligned(minimal(l.spans(f.Limit+1)), l.misses(f))
	case Counter:
		refutes = l.counterCheck(f).refutes
	case First:
		runs := l.spans(f.Limit + 1)
		if len(runs) == 0 {
			return func(Model) bool { return true }
		}
		refutes = l.refutesFirsts(f.Limit, runs)
	}
	return func(m Model) bool {
		return !refutes(&plane{phase: span{m.phase, m.phase}, window: span{m.window, m.window}})
	}
}
