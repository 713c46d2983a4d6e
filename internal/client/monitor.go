package client

import "time"

// An outage is reported if it lasted and left several requests unanswered. Fewer may
// be chance.
const (
	leastRequests = 5
	leastDuration = 100 * time.Millisecond
)

// Outage is a time in which the target answered nothing. It begins with the
// response before it. Times count from the start of the phase.
type Outage struct {
	From, To   time.Duration
	Unanswered int64 // requests that were sent in it and got no response
}

// reported reports whether the outage is long enough to be reported.
func (o Outage) reported() bool {
	return o.Unanswered >= leastRequests && o.To-o.From >= leastDuration
}

// Outages sums up the outages of a phase. A slow target has no outage: only
// requests count that were sent after one response, before the next one, and got
// none themselves.
type Outages struct {
	Ended   int64  // how many ended with a response
	Longest Outage // of those
	// Last lasts from the last response to the end of the last request. It is nil
	// if the target was responding then, or never responded.
	Last *Outage
}

// Monitor is a detector that knows when requests were sent and answered. It
// decides by time as well as by number and records outages. Every response counts as
// a sign of life, also a 429 or an error. Times without requests do not count. A
// Monitor is for one goroutine.
type Monitor struct {
	detector Detector

	heard   bool // there was a response
	current Outage
	ended   Outages
}

// NewMonitor returns a monitor for which a target counts as stopped if it leaves that
// many requests in a row unanswered, and answers nothing for that long. Stalls that
// are shorter do not count, however often they recur.
func NewMonitor(requests int, lasting time.Duration) *Monitor {
	return &Monitor{detector: Detector{Limit: requests, Lasting: lasting}}
}

// Observe notes how a request ended. Times count from one common moment. It
// returns an Error once the target counts as stopped.
func (m *Monitor) Observe(sent, done time.Duration, answered bool) error {
	if answered {
		m.endOutage(done)
		m.detector.responded(done)
		return m.detector.Err()
	}
	if sent >= m.current.From {
		m.current.Unanswered++
		m.current.To = max(m.current.To, done)
	}
	m.detector.missed(sent, done)
	return m.detector.Err()
}

// endOutage ends the current outage, if there is one, and begins the next.
func (m *Monitor) endOutage(done time.Duration) {
	m.current.To = done
	if m.current.reported() {
		m.ended.Ended++
		if longest := m.ended.Longest; m.current.To-m.current.From > longest.To-longest.From {
			m.ended.Longest = m.current
		}
	}
	m.heard, m.current = true, Outage{From: max(m.current.From, done)}
}

// Outages returns the outages so far.
func (m *Monitor) Outages() Outages {
	all := m.ended
	if m.heard && m.current.reported() {
		last := m.current
		all.Last = &last
	}
	return all
}
