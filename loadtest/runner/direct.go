package runner

import (
	"errors"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
)

// direct records the requests of a step that does not use the generator. It is safe for
// concurrent use.
type direct struct {
	name     string
	lasts    time.Duration
	start    time.Time
	mu       sync.Mutex
	recorder *measure.Recorder
	monitor  *client.Monitor
}

// direct begins a step of that name, whose times count from the start.
func (r *runner) direct(name string, start time.Time) *direct {
	r.env.Watch(r.scenario.Name, name)
	lasts := r.scenario.Duration
	return &direct{name: name, lasts: lasts, start: start, recorder: measure.NewRecorder(name, start.Round(0), measure.Constant(0, lasts)),
		monitor: r.env.Generator.OutageMonitor()}
}

// record records an exchange with the status that counts. The error is an client.Error.
func (d *direct) record(label string, status int, ex client.Exchange) error {
	if ex.Sent.IsZero() {
		return nil // the context or the budget ended before it was sent
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	sent := max(0, ex.Sent.Sub(d.start))
	d.recorder.Add(measure.Sample{Label: label, Due: sent, Sent: sent, Done: sent + ex.Took, Status: status, Bytes: int64(len(ex.Body)), Failure: failureOf(ex)})
	return d.monitor.Observe(sent, sent+ex.Took, ex.Status != 0)
}

// feed shows figures of the step in a live view until the returned function is called.
func (d *direct) feed(show func(generate.Live)) (stop func()) {
	now := func() {
		at := time.Since(d.start)
		d.mu.Lock()
		defer d.mu.Unlock()
		show(generate.Live{Phase: d.name, At: at, Duration: d.lasts, Live: d.recorder.Live(at)})
	}
	end := every(generate.LiveEvery, now)
	return func() {
		end()
		now()
	}
}

// failureOf classifies why there is no complete answer.
func failureOf(ex client.Exchange) string {
	switch {
	case ex.Err == nil && ex.Truncated:
		return measure.FailureTooLong
	case ex.Err == nil:
		return ""
	case errors.Is(ex.Err, client.ErrTimeout):
		return measure.FailureTimeout
	case errors.Is(ex.Err, client.ErrRefused):
		return measure.FailureRefused
	case errors.Is(ex.Err, client.ErrProtocol):
		return measure.FailureReset
	default:
		return measure.FailureOther
	}
}
