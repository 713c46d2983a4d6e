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

const tickEvery = 100 * time.Millisecond

// ticker calls Options.Tick on a goroutine of its own, so that a slow terminal
// does not delay the recording.
type ticker struct {
	figures chan Live
	done    chan struct{}
}

func newTicker(tick func(Live)) *ticker {
	t := &ticker{figures: make(chan Live, 1), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for l := range t.figures {
			tick(l)
		}
	}()
	return t
}

// show skips the figures if the previous ones are still being shown.
func (t *ticker) show(l Live) {
	select {
	case t.figures <- l:
	default:
	}
}

// end shows the last figures and returns when they were shown.
func (t *ticker) end(l Live) {
	t.figures <- l
	close(t.figures)
	<-t.done
}
