package family

// counters holds the sliding counters of all remaining limits of a growing log.
// They are searched together, because what refutes a boundary mostly does so
// for a range of limits. Each search continues from the result of the last one.
type counters struct {
	counting  bool
	reference float64 // the searched boundary is the first one after this time
	known     map[int]bool
	boxes     []cube
}

// cube is a box of windows, boundaries and limits.
type cube struct {
	plane
	limit span // integers, both ends included
}

// mostCubes limits the work of one search.
const mostCubes = 120_000

// narrow returns what the log leaves of the fits, which differ only in the
// limit.
func (c *counters) narrow(l *Log, fits []Fit) []Fit {
	var left []Fit
	bounded := map[int]Fit{}
	for _, f := range fits {
		f, ok := l.boundCounter(f)
		if !ok {
			continue
		}
		left = append(left, f)
		if f.High != Unbounded {
			bounded[f.Limit] = f
		}
	}
	c.begin(l, bounded)
	found := c.search(l, bounded)
	kept := left[:0]
	for _, f := range left {
		if f.High != Unbounded {
			p, ok := found[f.Limit]
			if !ok {
				continue
			}
			if f, ok = p.fit(f); !ok {
				continue
			}
		}
		kept = append(kept, f)
	}
	return kept
}

// begin adds a box for fits whose windows were not bounded before.
func (c *counters) begin(l *Log, bounded map[int]Fit) {
	if c.known == nil {
		c.known, c.reference = map[int]bool{}, float64(l.end())
	}
	first := true
	var b cube
	for limit, f := range bounded {
		if c.known[limit] {
			continue
		}
		c.known[limit] = true
		own := span{float64(limit), float64(limit)}
		if first {
			b.limit, b.window, first = own, f.windows(), false
		}
		b.limit, b.window = b.limit.hull(own), b.window.hull(f.windows())
	}
	if !first {
		b.phase = span{c.reference, c.reference + b.window.high}
		c.boxes = append(c.boxes, b)
	}
}

// search halves the boxes within the work limit, keeps those that are not
// refuted, and returns what is left of each limit.
func (c *counters) search(l *Log, bounded map[int]Fit) map[int]plane {
	check := l.counterCheck(Fit{Counting: c.counting})
	var kept []cube
	work := mostCubes
	for queue := c.boxes; len(queue) > 0; {
		b := queue[0]
		queue = queue[1:]
		if !b.within(bounded) || b.phase.low > c.reference+b.window.high {
			continue
		}
		b.resolution, b.work = l.resolution(), &work
		b.windows = max(1, max(float64(l.end())-c.reference, c.reference-float64(l.start))/b.window.low)
		work--
		switch {
		case check.refutesAll(b):
		case work <= 0 || b.done():
			kept = append(kept, b)
		default:
			left, right := b.halves()
			queue = append(queue, left, right)
		}
	}
	c.boxes = kept
	return c.byLimit(bounded)
}

// byLimit returns the hull of the boxes of each limit.
func (c *counters) byLimit(bounded map[int]Fit) map[int]plane {
	found := map[int]plane{}
	for _, b := range c.boxes {
		for limit := int(b.limit.low); limit <= int(b.limit.high); limit++ {
			f, ok := bounded[limit]
			if !ok {
				continue
			}
			windows := b.window.meet(f.windows())
			if windows.width() < 0 {
				continue
			}
			p, ok := found[limit]
			if !ok {
				p = plane{phase: b.phase, window: windows}
			}
			p.phase, p.window = p.phase.hull(b.phase), p.window.hull(windows)
			found[limit] = p
		}
	}
	return found
}

// within clips the box to the bounds of its only limit's window and reports
// whether anything is left.
func (b *cube) within(bounded map[int]Fit) bool {
	if b.limit.width() > 0 {
		return true
	}
	f, ok := bounded[int(b.limit.low)]
	b.window = b.window.meet(f.windows())
	return ok && b.window.width() >= 0
}

func (b *cube) done() bool { return b.limit.width() == 0 && b.plane.done() }

// halves splits the box along its widest relative dimension.
func (b *cube) halves() (cube, cube) {
	left, right := *b, *b
	plane := max(b.phase.width(), b.window.width()*b.windows) / b.window.low
	if b.limit.width() > 0 && (b.limit.width()/b.limit.high > plane || b.plane.done()) {
		middle := float64(floor((b.limit.low + b.limit.high) / 2))
		left.limit.high, right.limit.low = middle, middle+1
		return left, right
	}
	left.plane, right.plane = b.plane.halves()
	return left, right
}

func (s span) meet(t span) span { return span{max(s.low, t.low), min(s.high, t.high)} }
