package measure

import "time"

// Plan describes what a phase intends to send.
type Plan struct {
	Name     string        // of the phase
	Planned  int64         // requests of this process: its shard's share of the plan
	Rate     float64       // requests per second of the whole plan; 0 if it varies
	Duration time.Duration // of the whole plan
	Start    time.Time     // all times count from here; the same for all shards

	// ClosedLoop marks a phase without a schedule: each request follows the
	// previous answer. Due equals Sent, and nothing can be dropped.
	ClosedLoop bool

	// Asked holds how many planned requests were due in each second. If empty,
	// Planned is spread evenly over Duration. A Recording keeps it in Series.
	Asked []int64

	Shard Shard // this part of the whole plan
}

// Shard is one part of a plan that several processes share. The zero value is
// the whole plan.
type Shard struct {
	Index int // from 0
	Of    int // number of shards; 0 means the whole plan
}

// asked returns how many requests were due in second i.
func (p Plan) asked(i int) int64 {
	if len(p.Asked) > 0 {
		if i < len(p.Asked) {
			return p.Asked[i]
		}
		return 0
	}
	return p.evenly(i+1) - p.evenly(i)
}

// evenly returns how many requests are due in the first n seconds if they are
// spread evenly.
func (p Plan) evenly(n int) int64 {
	until := time.Duration(n) * time.Second
	if until >= p.Duration {
		return p.Planned
	}
	return int64(float64(p.Planned) * until.Seconds() / p.Duration.Seconds())
}

// seconds returns the length of the plan in seconds, rounded up.
func (p Plan) seconds() int { return int((p.Duration + time.Second - 1) / time.Second) }
