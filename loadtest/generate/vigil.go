package generate

import (
	"fmt"
	"time"
)

// When a target counts as dead: nothing at all has been answered for
// Options.Silence, and that goes for so many requests in a row. Their number
// keeps a slow schedule, of which few are out at a time, from being given up for
// a restart that it met with twice.
const (
	leastSilence    = 10 * time.Second
	silentTimeouts  = 5
	leastUnanswered = 10
)

// SilentError ends a phase whose target has died.
type SilentError struct {
	For        time.Duration // for which nothing was answered
	Unanswered int64         // requests without an answer, in a row
}

func (e *SilentError) Error() string {
	lasted := e.For.Round(time.Millisecond)
	if lasted > leastSilence {
		lasted = lasted.Round(time.Second)
	}
	return fmt.Sprintf("the target has not answered for %s: %d requests in a row had no answer", lasted, e.Unanswered)
}

// Vigil tells from what becomes of requests when their target has died. Any
// answer is a sign of life, a refusal or an error too; a stall, however often it
// comes back, is none of death as long as it is shorter than the patience. Times
// in which nothing is asked do not count. One goroutine uses it.
type Vigil struct {
	silence    time.Duration
	alive      time.Duration // when the last answer came
	since      time.Duration // when the silence began
	unanswered int64

	heard    bool     // there was an answer
	silent   Silence  // since the last answer
	silences Silences // that are over
}

// Vigil begins to watch the generator's target.
func (g *Generator) Vigil() *Vigil { return &Vigil{silence: g.opts.Silence} }

// Saw takes down how a request ended; times count from one moment. Its error, a
// SilentError, says that the target is to be given up.
func (v *Vigil) Saw(sent, done time.Duration, answered bool) error {
	if answered {
		v.answered(done)
		v.alive, v.unanswered = max(v.alive, done), 0
		return nil
	}
	v.unansweredSince(sent, done)
	if v.unanswered == 0 {
		v.since = max(sent, v.alive)
	}
	v.unanswered++
	if silent := done - v.since; silent >= v.silence && v.unanswered >= leastUnanswered {
		return &SilentError{For: silent, Unanswered: v.unanswered}
	}
	return nil
}
