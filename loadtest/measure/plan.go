package measure

import "time"

// Plan is what a phase set out to do.
type Plan struct {
	Name     string        // of the phase
	Planned  int64         // requests this process was to send: its shard's share of the plan
	Rate     float64       // requests per second of the whole plan; 0: not one rate
	Duration time.Duration // of the whole plan
	Start    time.Time     // the instant that all times count from; the same for all shards

	// ClosedLoop marks a phase without a schedule: each request follows the
	// answer to the one before. Due equals Sent, and nothing can be dropped.
	ClosedLoop bool

	// Asked is how many of the planned requests were due in each second. Empty:
	// Planned is spread evenly over Duration. A Recording keeps it in Series.
	Asked []int64

	Shard Shard // which part of the whole plan this is
}

// Shard is one part of a plan that several processes share. Its zero value is
// the whole plan.
type Shard struct {
	Index int // from 0
	Of    int // how many shards there are; 0 is the whole plan
}

// asked is how many requests were due in the second i.
func (p Plan) asked(i int) int64 {
	if len(p.Asked) > 0 {
		if i < len(p.Asked) {
			return p.Asked[i]
		}
		return 0
	}
	return p.evenly(i+1) - p.evenly(i)
}

// evenly is how many requests are due in the first n seconds if they are spread evenly.
func (p Plan) evenly(n int) int64 {
	until := time.Duration(n) * time.Second
	if until >= p.Duration {
		return p.Planned
	}
	return int64(float64(p.Planned) * until.Seconds() / p.Duration.Seconds())
}

// seconds is how many seconds the plan lasts, the last one rounded up.
func (p Plan) seconds() int { return int((p.Duration + time.Second - 1) / time.Second) }
