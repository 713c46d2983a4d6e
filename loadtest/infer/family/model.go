package family

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Model is a limiter of one kind with concrete parameters. It predicts what
// such a limiter would do, to plan probes; nothing is concluded from it.
type Model struct {
	Kind     Kind
	Counting bool
	Limit    int
	point
	start float64 // of a window that the first request opened; of a bucket when it held level
	level float64 // of a bucket
	taken []total
}

// total is how many requests were counted up to a moment.
type total struct {
	at float64
	n  int
}

// Window returns the time in which Limit requests pass.
func (m *Model) Window() time.Duration {
	if m.Kind == Bucket {
		return time.Duration(m.window * float64(m.Limit))
	}
	return time.Duration(m.window)
}

// Observe counts observations, each at the middle of its interval.
func (m *Model) Observe(observations ...Observation) {
	times := make([]int64, 0, len(observations))
	for _, o := range observations {
		if o.Verdict == Accepted || m.Counting && o.Verdict == Refused {
			times = append(times, o.Sent+(o.Received-o.Sent)/2)
		}
	}
	slices.Sort(times)
	for _, t := range times {
		m.take(float64(t), 1)
	}
}

// Send returns how many of n requests at t pass, and counts them.
func (m *Model) Send(t time.Duration, n int) (passed int) {
	passed = min(n, m.Room(t))
	if m.Counting {
		m.take(float64(t), n)
	} else {
		m.take(float64(t), passed)
	}
	return passed
}

// Clone returns an independent copy.
func (m *Model) Clone() Model {
	c := *m
	c.taken = slices.Clip(m.taken)
	return c
}

// Room returns how many requests pass at t at once.
func (m *Model) Room(t time.Duration) int { return max(0, m.room(float64(t))) }

// Opens returns when a single request will pass if nothing is sent before: now,
// if it passes now.
func (m *Model) Opens(now time.Duration) time.Duration {
	if m.Room(now) > 0 {
		return now
	}
	shut, open := now, now+3*m.Window() // no limiter stays shut for so long
	for open-shut > time.Microsecond {
		if mid := shut + (open-shut)/2; m.Room(mid) > 0 {
			open = mid
		} else {
			shut = mid
		}
	}
	return open
}

func (m *Model) take(t float64, n int) {
	switch {
	case n == 0:
		return
	case m.Kind == Bucket:
		m.level, m.start = m.levelAt(t)-float64(n), t
		if m.Counting {
			m.level = max(m.level, -float64(m.Limit))
		}
		return
	case m.Kind == First && t >= m.start+m.window:
		m.start = t
	}
	m.taken = append(m.taken, total{t, m.until(math.Inf(1)) + n})
}

// levelAt returns what a bucket holds at t.
func (m *Model) levelAt(t float64) float64 {
	return min(float64(m.Limit), m.level+(t-m.start)/m.window)
}

// until returns how many requests were counted before t.
func (m *Model) until(t float64) int {
	i := sort.Search(len(m.taken), func(i int) bool { return m.taken[i].at >= t })
	if i == 0 {
		return 0
	}
	return m.taken[i-1].n
}

func (m *Model) room(t float64) int {
	if m.Kind == Bucket {
		return int(math.Floor(m.levelAt(t) + rounding))
	}
	all := m.until(math.Inf(1))
	boundary := m.phase + math.Floor((t-m.phase)/m.window)*m.window
	switch m.Kind {
	case First:
		if t >= m.start+m.window {
			return m.Limit
		}
		return m.Limit - (all - m.until(m.start))
	case Sliding:
		return m.Limit - (all - m.until(t-m.window))
	case Aligned:
		return m.Limit - (all - m.until(boundary))
	default:
		former, current := m.until(boundary)-m.until(boundary-m.window), all-m.until(boundary)
		share := 1 - (t-boundary)/m.window
		return int(math.Floor(float64(m.Limit) - float64(former)*share - float64(current) + rounding))
	}
}

// spread is how many points stand for a window of which only the bounds are known.
const spread = 24

// Guesses returns up to n models, spread over the parameters that the fit leaves
// open, after the log. They represent the fit when probes are planned.
func (l *Log) Guesses(f Fit, n int) []Model {
	if f.High == Unbounded {
		f, _ = l.explore(f, unboundedBoxes)
	}
	points := f.left
	n = min(n, len(points))
	models := make([]Model, 0, n)
	for i := range n {
		m := Model{Kind: f.Kind, Counting: f.Counting, Limit: f.Limit, point: points[i*(len(points)-1)/max(1, n-1)], start: math.Inf(-1)}
		if m.Kind == Bucket {
			m.start, m.level = 0, float64(m.Limit)
		}
		m.Observe(l.observations...)
		models = append(models, m)
	}
	return models
}
