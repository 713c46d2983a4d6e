package limiter

import (
	"math"
	"sync"
	"time"
)

// Limiter decides about the requests of one scope. It may be used concurrently.
type Limiter struct {
	countRefused bool

	deciding sync.Mutex
	layers   []counter
	limits   []int
	now      int64 // the latest time seen, in Unix nanoseconds
}

// New returns a limiter that has seen no request. The configuration must be valid.
func New(c Config) *Limiter {
	l := &Limiter{countRefused: c.CountRefused, now: math.MinInt64}
	for _, layer := range c.Layers {
		l.layers = append(l.layers, newCounter(layer))
		l.limits = append(l.limits, layer.Limit)
	}
	return l
}

// Decision is what a limiter says to one request.
type Decision struct {
	OK bool
	// RetryAfter is the time after which a request would be allowed if nothing
	// else came; 0 when OK.
	RetryAfter time.Duration
	// Limit, Remaining and Reset describe the layer that has the least left:
	// its limit, what it still allows, and when all of it is available again.
	Limit     int
	Remaining int
	Reset     time.Duration
}

// Allow decides about a request at the given time. A time before one that was
// passed earlier counts as that one.
func (l *Limiter) Allow(now time.Time) (ok bool, retryAfter time.Duration) {
	d := l.Decide(now)
	return d.OK, d.RetryAfter
}

// Decide is Allow with all that can be told about the decision.
func (l *Limiter) Decide(at time.Time) Decision {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	l.now = max(l.now, at.UnixNano())
	now := l.now
	d := Decision{OK: l.wait(now) == 0}
	if d.OK || l.countRefused {
		for _, layer := range l.layers {
			layer.take(now)
		}
	}
	if !d.OK {
		d.RetryAfter = time.Duration(l.wait(now))
	}
	for i, layer := range l.layers {
		if left := int(layer.remaining(now)); i == 0 || left < d.Remaining {
			d.Limit, d.Remaining, d.Reset = l.limits[i], left, time.Duration(layer.reset(now))
		}
	}
	return d
}

// wait is the longest wait of any layer: when it is over, the others' are too.
func (l *Limiter) wait(now int64) int64 {
	longest := int64(0)
	for _, layer := range l.layers {
		longest = max(longest, layer.wait(now))
	}
	return longest
}

// maxMembers bounds a Group: addresses come from outside.
const maxMembers = 4096

// Group holds one limiter for each member of a scope: each key, each address…
type Group struct {
	config Config

	mu      sync.Mutex
	members map[string]*Limiter
}

// NewGroup returns a group without members. The configuration must be valid.
func NewGroup(c Config) *Group { return &Group{config: c, members: map[string]*Limiter{}} }

// Config returns the configuration of the group's limiters.
func (g *Group) Config() Config { return g.config }

// Decide asks the member's limiter. Beyond maxMembers, newcomers share one limiter.
func (g *Group) Decide(member string, now time.Time) Decision {
	g.mu.Lock()
	l, ok := g.members[member]
	if !ok && len(g.members) >= maxMembers {
		member = ""
		l, ok = g.members[member]
	}
	if !ok {
		l = New(g.config)
		g.members[member] = l
	}
	g.mu.Unlock()
	return l.Decide(now)
}
