package family

import (
	"math"
	"slices"
	"time"
)

// Forecast is what a fit expects of the limiter at some time after its log: a
// guess at the middle of all intervals, to plan the next probes by. Nothing is
// concluded from it.
type Forecast struct {
	// Opens is when a lone request will pass if nothing is sent before: the
	// time asked about, if it passes then.
	Opens time.Duration
	// Room is how many pass at once when it opens.
	Room int
}

// Forecast looks from now on, with the window at the given place between the
// fit's Low (0) and High (1).
func (f Fit) Forecast(l *Log, now time.Duration, at float64) Forecast {
	m := middle{log: l, now: int64(now), limit: f.Limit, window: float64(f.Low) + at*float64(f.High-f.Low)}
	for _, o := range l.observations {
		if o.Verdict == Accepted || f.Counting && o.Verdict == Refused {
			m.counted = append(m.counted, (o.Sent+o.Received)/2)
		}
	}
	slices.Sort(m.counted)
	phase := float64(f.PhaseLow) + at*float64(f.PhaseHigh-f.PhaseLow)
	switch f.Kind {
	case Bucket:
		return m.bucket(f.Counting)
	case Sliding:
		return m.sliding()
	case First:
		return m.first()
	case Aligned:
		return m.aligned(phase)
	default:
		return m.counter(phase)
	}
}

// middle replays with every decision in the middle of its interval.
type middle struct {
	log     *Log
	counted []int64 // when
	now     int64
	limit   int
	window  float64
}

func (m middle) opens(t float64, room int) Forecast {
	return Forecast{Opens: time.Duration(max(float64(m.now), t)), Room: max(1, room)}
}

// since counts those from t on.
func (m middle) since(t float64) int {
	i, _ := slices.BinarySearch(m.counted, ceil(t))
	return len(m.counted) - i
}

func (m middle) bucket(counting bool) Forecast {
	level, at, capacity := float64(m.limit), float64(m.log.start), float64(m.limit)
	floor := math.Inf(-1)
	if counting {
		floor = -capacity
	}
	for _, t := range m.counted {
		level = max(floor, min(capacity, level+(float64(t)-at)/m.window)-1)
		at = float64(t)
	}
	now := float64(m.now)
	level = min(capacity, level+(now-at)/m.window)
	if level >= 1 {
		return m.opens(now, int(level))
	}
	return m.opens(now+(1-level)*m.window, 1)
}

func (m middle) sliding() Forecast {
	opens := float64(m.now)
	if n := len(m.counted); n >= m.limit {
		opens = max(opens, float64(m.counted[n-m.limit])+m.window)
	}
	return m.opens(opens, m.limit-m.since(opens-m.window+1))
}

func (m middle) first() Forecast {
	start, used := math.Inf(-1), 0
	for _, t := range m.counted {
		if float64(t) >= start+m.window {
			start, used = float64(t), 0
		}
		used++
	}
	now := float64(m.now)
	switch {
	case now >= start+m.window:
		return m.opens(now, m.limit)
	case used < m.limit:
		return m.opens(now, m.limit-used)
	default:
		return m.opens(start+m.window, m.limit)
	}
}

func (m middle) aligned(phase float64) Forecast {
	now := float64(m.now)
	start := phase + math.Floor((now-phase)/m.window)*m.window
	if used := m.since(start); used < m.limit {
		return m.opens(now, m.limit-used)
	}
	return m.opens(start+m.window, m.limit)
}

func (m middle) counter(phase float64) Forecast {
	limit, now := float64(m.limit), float64(m.now)
	start := phase + math.Floor((now-phase)/m.window)*m.window
	current := float64(m.since(start))
	former := float64(m.since(start-m.window)) - current
	share := 1 - (now-start)/m.window
	if estimate := former*share + current; estimate+1 <= limit {
		return m.opens(now, int(limit-estimate))
	}
	if free := limit - 1 - current; free >= 0 && former > 0 {
		return m.opens(start+m.window*(1-free/former), 1)
	}
	return m.opens(start+m.window+m.window*(1-(limit-1)/max(1, current)), 1)
}
