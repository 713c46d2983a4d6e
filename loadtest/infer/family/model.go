package family

import (
	"math"
	"slices"
	"time"
)

// Model is a limiter of one kind with concrete parameters. It predicts what
// such a limiter would do, to plan probes; nothing is concluded from it.
type Model struct {
	Kind     Kind
	Counting bool
	Limit    int
	window   float64 // of a bucket the time to refill one request
	phase    float64 // a boundary of a window that follows the clock

	start        float64 // of the current window; of a bucket when it held level
	level        float64 // of a bucket
	used, former int     // in the current window and in the one before
	taken        []bunch // of a log
}

// bunch is a number of requests that count from one moment.
type bunch struct {
	at float64
	n  int
}

func (f Fit) model(window, phase float64) Model {
	m := Model{Kind: f.Kind, Counting: f.Counting, Limit: f.Limit, window: window, phase: phase, start: math.Inf(-1), level: float64(f.Limit)}
	if f.Kind == Bucket {
		m.start = 0
	}
	return m
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
	counted := passed
	if m.Counting {
		counted = n
	}
	if counted > 0 {
		m.take(float64(t), counted)
	}
	return passed
}

// Clone returns an independent copy.
func (m *Model) Clone() Model {
	c := *m
	c.taken = m.taken[:len(m.taken):len(m.taken)]
	return c
}

// Room returns how many requests pass at t at once.
func (m *Model) Room(t time.Duration) int {
	return max(0, m.room(float64(t)))
}

// Opens returns when a single request will pass if nothing is sent before: now,
// if it passes now.
func (m *Model) Opens(now time.Duration) time.Duration {
	opens := m.opens(float64(now))
	if opens <= float64(now) {
		return now
	}
	// Slightly later, so that rounding cannot close it.
	return time.Duration(min(opens, math.MaxInt64/2)) + time.Microsecond
}

func (m *Model) take(t float64, n int) {
	m.roll(t)
	switch m.Kind {
	case Bucket:
		m.level -= float64(n)
		if m.Counting {
			m.level = max(m.level, -float64(m.Limit))
		}
	case Sliding:
		m.taken = append(m.taken, bunch{t, n})
	default:
		if m.Kind == First && m.used == 0 {
			m.start = t
		}
		m.used += n
	}
}

// roll advances the windows or the bucket to t.
func (m *Model) roll(t float64) {
	switch m.Kind {
	case Bucket:
		m.level = min(float64(m.Limit), m.level+(t-m.start)/m.window)
		m.start = t
	case First:
		if t >= m.start+m.window {
			m.used = 0
		}
	case Aligned, Counter:
		start := m.phase + math.Floor((t-m.phase)/m.window)*m.window
		// Half a window is far from both 0 and 1, so rounding does not matter.
		switch steps := (start - m.start) / m.window; {
		case steps < 0.5:
		case steps < 1.5:
			m.former, m.used, m.start = m.used, 0, start
		default:
			m.former, m.used, m.start = 0, 0, start
		}
	case Sliding:
	}
}

// at returns a copy with the windows and the bucket as they are at t.
func (m *Model) at(t float64) Model {
	c := *m
	c.roll(t)
	return c
}

func (m *Model) room(t float64) int {
	c := m.at(t)
	switch m.Kind {
	case Bucket:
		return int(math.Floor(c.level + rounding))
	case Sliding:
		n := 0
		for i := len(m.taken) - 1; i >= 0 && m.taken[i].at > t-m.window && n < m.Limit; i-- {
			n += m.taken[i].n
		}
		return m.Limit - n
	case Counter:
		share := 1 - (t-c.start)/m.window
		return int(math.Floor(float64(m.Limit) - float64(c.former)*share - float64(c.used) + rounding))
	default:
		return m.Limit - c.used
	}
}

func (m *Model) opens(t float64) float64 {
	c := m.at(t)
	if m.room(t) >= 1 {
		return t
	}
	switch m.Kind {
	case Bucket:
		return t + (1-c.level)*m.window
	case Sliding:
		n, i := 0, len(m.taken)-1
		for ; i > 0 && n+m.taken[i].n < m.Limit; i-- {
			n += m.taken[i].n
		}
		return m.taken[i].at + m.window
	case Counter:
		if free := m.Limit - 1 - c.used; free >= 0 && c.former > 0 {
			return c.start + m.window*(1-float64(free)/float64(c.former))
		}
		return c.start + m.window + m.window*max(0, 1-float64(m.Limit-1)/float64(max(1, c.used)))
	default:
		return c.start + m.window
	}
}

// Model returns the fit's model after the log, with the window at the given
// place between Low (0) and High (1).
func (f Fit) Model(l *Log, at float64) Model {
	m := f.model(float64(f.Low)+at*float64(f.High-f.Low), float64(f.PhaseLow)+at*float64(f.PhaseHigh-f.PhaseLow))
	m.Observe(l.observations...)
	return m
}
