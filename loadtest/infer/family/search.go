package family

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
func searchPlane(p plane, refuted func(plane) bool) (found plane, at corners, ok bool) {
	queue := []plane{p}
	for len(queue) > 0 {
		b := queue[0]
		queue = queue[1:]
		if ok && found.phase.holds(b.phase) && found.window.holds(b.window) {
			continue
		}
		*p.work--
		switch {
		case refuted(b):
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
