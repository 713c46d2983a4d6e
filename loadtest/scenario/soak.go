package scenario

import (
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/load"
)

// A rise fails the scenario if it certainly exceeds both: a share of the level,
// and a time that users notice.
const (
	steepRise = 0.5
	leastRise = 0.005 // seconds
)

// memoryEvery is the interval between two samples of the target's memory.
const memoryEvery = 500 * time.Millisecond

// mostMemoryPoints limits the memory samples of a long soak.
const mostMemoryPoints = 2_000

// watchMemory samples the target's memory, if visible, until the returned
// function is called, which returns the samples.
func (r *runner) watchMemory() func() []load.MemoryPoint {
	if r.env.Memory == nil {
		return func() []load.MemoryPoint { return nil }
	}
	every := max(memoryEvery, r.scenario.Duration/mostMemoryPoints)
	started, stop, done := time.Now(), make(chan struct{}), make(chan []load.MemoryPoint)
	go func() {
		var seen []load.MemoryPoint
		clock := time.NewTicker(every)
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				if point, err := r.env.Memory(r.ctx); err == nil {
					point.Seconds = time.Since(started).Seconds()
					seen = append(seen, point)
				}
			case <-stop:
				done <- seen
				return
			}
		}
	}()
	return func() []load.MemoryPoint {
		close(stop)
		return <-done
	}
}

// drift reports how latency, errors and memory changed under constant load.
// Latency that certainly rose by half and a certain rise of errors fail the
// scenario; memory is only reported. A soak that was cut short is only reported
// too, because its end may have distorted the figures.
func (r *runner) drift(c counted, memory []load.MemoryPoint) {
	hours := c.recording.Duration.Hours()
	for _, t := range c.recording.Drifts() {
		r.out.Drift = append(r.out.Drift, driftOf(t))
		grown := t.Low * hours
		switch {
		case t.Verdict != measure.Rising || c.cut:
		case t.Series == "failed":
			r.fail("the share of failed requests rose under steady load by at least %.2g percentage points", 100*grown)
		case t.Unit == "s" && grown > max(leastRise, steepRise*t.Level):
			r.fail("%s rose under steady load by at least %.3g ms, from %.3g ms", t.Series, 1000*grown, 1000*t.Level)
		}
	}
	if len(memory) == 0 {
		return
	}
	r.out.Memory = append(r.out.Memory, load.Memory{Of: "target", Points: memory})
	series := measure.Series{Name: "memory", Unit: "bytes"}
	for _, point := range memory {
		series.Points = append(series.Points, measure.Point{At: time.Duration(point.Seconds * float64(time.Second)), Value: float64(point.RSSBytes)})
	}
	r.out.Drift = append(r.out.Drift, driftOf(measure.Drift(series)))
}

// driftOf converts times to milliseconds, shares to percent, and changes to
// changes per minute.
func driftOf(t measure.Trend) load.Drift {
	unit, factor := t.Unit, 1/60.0
	switch t.Unit {
	case "s":
		unit, factor = "ms", 1000/60.0
	case "share":
		unit, factor = "%", 100/60.0
	}
	d := load.Drift{Name: t.Series, Unit: unit, Verdict: load.Drifts, Why: t.Why,
		PerMinute: load.Estimate{Value: t.PerHour * factor, Low: t.Low * factor, High: t.High * factor}}
	switch t.Verdict {
	case measure.Steady:
		d.Verdict = load.Steady
	case measure.CannotTell:
		d.Verdict = load.TrendNotKnown
	}
	return d
}

// recovery reports how long after a burst the target was as fast as before it.
func (r *runner) recovery(rec measure.Recording, third time.Duration) {
	const times = 2 // factor within which response times count as recovered
	before, usual := time.Duration(0), 0
	for _, s := range rec.Series {
		if at := time.Duration(s.At) * time.Second; at+time.Second <= third && s.Response[measure.Accepted].Count() > 0 {
			before += s.Response[measure.Accepted].Quantile(0.5).Value
			usual++
		}
	}
	if usual == 0 {
		return
	}
	before /= time.Duration(usual)
	allowed := max(times*before, before+5*time.Millisecond)
	for _, s := range rec.Series {
		at := time.Duration(s.At) * time.Second
		if h := s.Response[measure.Accepted]; at >= 2*third && h.Count() > 0 && h.Quantile(0.5).Value <= allowed {
			r.note("after the burst the median response time recovered to %s ms within %s", formatMS(before), at+time.Second-2*third)
			return
		}
	}
	r.fail("after the burst the median response time did not recover to %s ms", formatMS(before))
}
