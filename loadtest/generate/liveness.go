package generate

import (
	"fmt"
	"time"
)

// A target counts as dead if it answers nothing for Options.MaxOutage and does not
// answer leastUnanswered requests in a row. The number matters on a slow schedule:
// two restarts that hit single requests must not look like death.
const (
	leastMaxOutage  = 10 * time.Second
	outageTimeouts  = 5
	leastUnanswered = 10
	outageRequests  = 5 // fewer unanswered requests may be chance
	shortestOutage  = 100 * time.Millisecond
)

// OutageError ends a phase whose target has stopped responding.
type OutageError struct {
	For        time.Duration // how long nothing was answered
	Unanswered int64         // requests in a row without a response
}

func (e *OutageError) Error() string {
	lasted := e.For.Round(time.Millisecond)
	if lasted > leastMaxOutage {
		lasted = lasted.Round(time.Second)
	}
	return fmt.Sprintf("the target has not answered for %s: %d requests in a row had no answer", lasted, e.Unanswered)
}

// Outage is a time in which the target answered nothing. It begins with the
// response before it. Times count from the start of the phase.
type Outage struct {
	From, To   time.Duration
	Unanswered int64 // requests that were sent in it and got no response
}

// reported reports whether the outage is long enough to be reported.
func (o Outage) reported() bool {
	return o.Unanswered >= outageRequests && o.To-o.From >= shortestOutage
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

// LivenessMonitor detects a target that has stopped responding. Every response
// counts as a sign of life, also a 429 or an error. Stalls shorter than the
// maximum outage do not count as death, however often they recur. Times without
// requests do not count. A LivenessMonitor is for one goroutine.
type LivenessMonitor struct {
	maxOutage  time.Duration
	alive      time.Duration // when the last response came
	since      time.Duration // when the requests without a response began
	unanswered int64         // in a row

	heard   bool // there was a response
	current Outage
	ended   Outages
}

// LivenessMonitor returns a monitor of the generator's target.
func (g *Generator) LivenessMonitor() *LivenessMonitor {
	return &LivenessMonitor{maxOutage: g.opts.MaxOutage}
}

// Observe notes how a request ended. Times count from one common moment. It
// returns an OutageError if the target counts as dead.
func (m *LivenessMonitor) Observe(sent, done time.Duration, answered bool) error {
	if answered {
		m.endOutage(done)
		m.alive, m.unanswered = max(m.alive, done), 0
		return nil
	}
	if sent >= m.current.From {
		m.current.Unanswered++
		m.current.To = max(m.current.To, done)
	}
	if m.unanswered == 0 {
		m.since = max(sent, m.alive)
	}
	m.unanswered++
	if lasted := done - m.since; lasted >= m.maxOutage && m.unanswered >= leastUnanswered {
		return &OutageError{For: lasted, Unanswered: m.unanswered}
	}
	return nil
}

// endOutage ends the current outage, if there is one, and begins the next.
func (m *LivenessMonitor) endOutage(done time.Duration) {
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
func (m *LivenessMonitor) Outages() Outages {
	all := m.ended
	if m.heard && m.current.reported() {
		last := m.current
		all.Last = &last
	}
	return all
}
