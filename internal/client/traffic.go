package client

import (
	"maps"
	"sync"
)

// Traffic sums up what went over the wire. Requests is the sum of Statuses and
// NoAnswer.
type Traffic struct {
	Requests      int         // sent, those repeated after a 429 included
	Statuses      map[int]int // answers by HTTP status
	NoAnswer      int         // sent without so much as a status line coming back
	BytesReceived int64       // of bodies, decoded, as far as they were kept
	Throttled     int         // 429 answers that were waited out
	Reconnected   int         // GET requests repeated because the connection closed before any answer
}

type counters struct {
	mu    sync.Mutex
	total Traffic
}

func (c *counters) sent(e Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Requests++
	c.total.BytesReceived += int64(len(e.Body))
	if e.Status == 0 {
		c.total.NoAnswer++
		return
	}
	if c.total.Statuses == nil {
		c.total.Statuses = map[int]int{}
	}
	c.total.Statuses[e.Status]++
}

func (c *counters) waitedOut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Throttled++
}

// reconnected counts the request that was lost as well: it was sent, unanswered.
func (c *counters) reconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Requests++
	c.total.NoAnswer++
	c.total.Reconnected++
}

func (c *counters) snapshot() Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.total
	t.Statuses = maps.Clone(c.total.Statuses)
	if t.Statuses == nil {
		t.Statuses = map[int]int{}
	}
	return t
}
