package family

import (
	"time"
)

// The search for parameters halves boxes and discards those that are refuted as
// a whole. Its result contains every point that is not refuted.

// span is a range of a parameter.
type span struct{ low, high float64 }

func (s span) width() float64 { return s.high - s.low }

func (s span) middle() float64 { return s.low + s.width()/2 }

func (s span) holds(t span) bool { return s.low <= t.low && t.high <= s.high }

func (s span) hull(t span) span { return span{min(s.low, t.low), max(s.high, t.high)} }

// plane is a box of windows and positions of one boundary.
type plane struct {
	phase, window span
}

// point is a window, of a bucket the time to refill one request, and the
// position of one boundary.
type point struct{ window, phase float64 }

// Limits of the work: boxes for one fit, and for all fits, of which each gets the
// same. Whatever is undecided by then counts as possible.
const (
	mostBoxes = 12_000
	allBoxes  = 4 * mostBoxes
)

// search narrows the window of the fit to what refutes leaves of the box, with
// work as the number of boxes to try. windows is the number of windows between
// the boundary and the ends of the log.
func (l *Log) search(f Fit, box plane, windows float64, refutes func(*plane) bool, work int) (Fit, bool) {
	resolution := max(float64(l.roundTrip)/8, 1000, l.coarse)
	var found plane
	var left []point // the middles of the boxes that found consists of
	for queue := []plane{box}; len(queue) > 0; work-- {
		b := queue[0]
		queue = queue[1:]
		if len(left) > 0 && found.phase.holds(b.phase) && found.window.holds(b.window) || refutes(&b) {
			continue
		}
		lower, upper := b, b
		switch shift := b.window.width() * windows; {
		case work <= 0 || max(shift, b.phase.width()) <= resolution:
			if len(left) == 0 {
				found = b
			}
			found.phase, found.window = found.phase.hull(b.phase), found.window.hull(b.window)
			left = append(left, point{b.window.middle(), b.phase.middle()})
			continue
		case shift > b.phase.width():
			lower.window.high, upper.window.low = b.window.middle(), b.window.middle()
		default:
			lower.phase.high, upper.phase.low = b.phase.middle(), b.phase.middle()
		}
		queue = append(queue, lower, upper)
	}
	if f.left = left; f.High == Unbounded {
		return f, true // the box was not all of it
	}
	if len(left) == 0 {
		return f, false
	}
	return f.within(floor(found.window.low), ceil(found.window.high))
}

// Coarsely ends the search for parameters at a width that suits a limiter much
// slower than the round trip.
func (l *Log) Coarsely(width time.Duration) { l.coarse = float64(width) }
