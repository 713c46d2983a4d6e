package scenario

import (
	"net/http"
	"sync/atomic"
	"time"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

// liveEvery is the interval at which a live view gets figures.
const liveEvery = 100 * time.Millisecond

// announceStep tells a live view what begins.
func (r *runner) announceStep(name string) {
	if r.env.Watch != nil {
		r.env.Watch(r.scenario.Name, name, schedule.Schedule{})
	}
}

// showing feeds a live view until the returned function is called.
func (r *runner) showing(figures func() generate.Live) (stop func()) {
	if r.env.Live == nil {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(liveEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				r.env.Live(figures())
			case <-ended:
				r.env.Live(figures())
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// probesSeen counts the answers to probes for a live view.
type probesSeen struct{ accepted, limited, failed atomic.Int64 }

func (n *probesSeen) add(seen []infer.Observation) {
	for _, o := range seen {
		switch {
		case o.Status == http.StatusTooManyRequests:
			n.limited.Add(1)
		case o.Status >= 200 && o.Status < 300:
			n.accepted.Add(1)
		default:
			n.failed.Add(1)
		}
	}
}

func (n *probesSeen) counts() map[measure.Class]int64 {
	return map[measure.Class]int64{measure.Accepted: n.accepted.Load(), measure.Limited: n.limited.Load(), measure.Failed: n.failed.Load()}
}
