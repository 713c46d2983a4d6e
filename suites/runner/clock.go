package runner

import (
	"math"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
)

// What a run does besides the activities of its client.
const (
	probing   = client.Paced + 1 + iota // a request is in flight that exceeds the rate limit
	exceeding                           // the body of a spec that exceeds the rate limit runs
	judging                             // another body runs
)

// clock adds up where the time of a run goes. It is safe for concurrent use. A nil clock
// adds up nothing.
type clock struct {
	mu    sync.Mutex
	since time.Time               // of the last change
	doing map[client.Activity]int // of keys whose limit is not exceeded, unless they are probing
	sum   reports.Time
}

func newClock() *clock { return &clock{since: time.Now(), doing: map[client.Activity]int{}} }

// enter counts what the time goes into from now on.
func (c *clock) enter(a client.Activity, n int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	*c.current() += now.Sub(c.since).Seconds()
	c.since = now
	c.doing[a] += n
}

// current returns the sum into which time goes at the moment. The caller holds the lock.
func (c *clock) current() *float64 {
	switch {
	case c.doing[client.Sending] > 0:
		return &c.sum.InFlight
	case c.doing[client.Paced] > 0:
		return &c.sum.Paced
	case c.doing[client.Throttled] > 0 && (c.doing[judging] > 0 || c.doing[exceeding] == 0): // otherwise the probes provoked the 429
		return &c.sum.Throttled
	case c.doing[exceeding] > 0 && c.doing[judging] == 0:
		return &c.sum.RateLimit
	}
	return &c.sum.Judging
}

// total returns the sums so far.
func (c *clock) total() *reports.Time {
	c.enter(judging, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.sum
	t.Judging += t.InFlight
	for _, seconds := range []*float64{&t.Judging, &t.InFlight, &t.RateLimit, &t.Throttled, &t.Paced} {
		*seconds = math.Round(*seconds*1000) / 1000
	}
	return &t
}
