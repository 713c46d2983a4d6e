package generate

import (
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// Live is what a live view shows of a phase that runs.
type Live struct {
	Phase    string
	Warmup   bool
	At       time.Duration // since the phase's start
	Duration time.Duration // that the schedule lasts
	InFlight int64         // requests that wait for their answer
	measure.Live
}

func (s *sender) live(recorder *measure.Recorder) Live {
	at := time.Since(s.start)
	return Live{Phase: s.phase.Name, Warmup: s.phase.Warmup, At: at, Duration: s.phase.Schedule.Duration(),
		InFlight: s.inFlight.Load(), Live: recorder.Live(at)}
}

const tickEvery = 100 * time.Millisecond

// ticker calls Options.Tick on a goroutine of its own, so that a slow terminal
// does not hold up the recording.
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

// show leaves the figures out when the ones before are still being shown.
func (t *ticker) show(l Live) {
	select {
	case t.figures <- l:
	default:
	}
}

// end shows the last figures and waits until they were.
func (t *ticker) end(l Live) {
	t.figures <- l
	close(t.figures)
	<-t.done
}
