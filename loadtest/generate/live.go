package generate

import (
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// Live is what a live view shows of a running phase.
type Live struct {
	Phase    string
	Warmup   bool
	At       time.Duration // since the start of the phase
	Duration time.Duration // of the schedule
	InFlight int64         // requests that wait for their response
	measure.Live
}

// LiveEvery is how often the figures of a live view change.
const LiveEvery = 100 * time.Millisecond

// Live returns the latest figures of the phase that runs, or of the last one. It is safe
// for concurrent use.
func (g *Generator) Live() Live {
	if l := g.live.Load(); l != nil {
		return *l
	}
	return Live{}
}
