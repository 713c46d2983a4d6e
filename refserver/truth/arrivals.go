package truth

import (
	"sync"
	"time"
)

const (
	// paceWindow is the span in which the most arrivals are counted.
	paceWindow = 10 * time.Millisecond
	// maxSeconds bounds the series: a day. Later seconds count as the last one.
	maxSeconds = 24 * 60 * 60
)

// arrivals tells how evenly requests came, and how many came and went in each second.
type arrivals struct {
	mu      sync.Mutex
	since   time.Time   // of the first request
	recent  []time.Time // arrivals of the last paceWindow, oldest at the place first
	first   int
	busiest int
	seconds []Second
}

func (a *arrivals) arrived(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = at
	}
	a.second(at).Arrived++
	for a.first < len(a.recent) && at.Sub(a.recent[a.first]) > paceWindow {
		a.first++
	}
	if a.first > len(a.recent)/2 { // so that it stays as small as one window, twice
		a.recent, a.first = append(a.recent[:0], a.recent[a.first:]...), 0
	}
	a.recent = append(a.recent, at)
	a.busiest = max(a.busiest, len(a.recent)-a.first)
}

func (a *arrivals) done(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		return // it came before the reset
	}
	a.second(at).Done++
}

// second is the entry for the moment at.
func (a *arrivals) second(at time.Time) *Second {
	n := min(max(int(at.Sub(a.since)/time.Second), 0), maxSeconds-1)
	for len(a.seconds) <= n {
		a.seconds = append(a.seconds, Second{T: len(a.seconds)})
	}
	return &a.seconds[n]
}

func (a *arrivals) report() Arrivals {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := Arrivals{WindowNS: int64(paceWindow), Busiest: a.busiest, Seconds: append([]Second{}, a.seconds...)}
	if !a.since.IsZero() {
		first := a.since
		r.First = &first
	}
	return r
}

// Arrivals tells when requests came.
type Arrivals struct {
	First    *time.Time `json:"first"` // null: none since the reset
	WindowNS int64      `json:"window_ns"`
	Busiest  int        `json:"busiest"` // the most arrivals in any window of that length
	Seconds  []Second   `json:"seconds"` // since First, without gaps; at most a day
}

// Second counts the requests that came and that were answered in one second.
type Second struct {
	T       int   `json:"t"` // from 0
	Arrived int64 `json:"arrived"`
	Done    int64 `json:"done"`
}
