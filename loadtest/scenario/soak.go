package scenario

import (
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/load"
)

// A rise fails the scenario when it is sure to be worse than both of these: a
// share of the level, and a time that somebody would notice.
const (
	steepRise = 0.5
	leastRise = 0.005 // seconds
)

// between two looks at the target's memory.
const memoryEvery = 500 * time.Millisecond

// mostMemoryPoints bounds what the results keep of a long soak.
const mostMemoryPoints = 2_000

// watchMemory looks at the target's memory, where it can be seen, until the
// function that it returns is called, which returns what was seen.
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

// drift says how latency, errors and memory changed while the load stayed the
// same. Latency that is sure to have risen by half, and errors that are sure to
// have become more, fail the scenario; memory is reported. So is all that a soak
// shows which was cut short: its end may have bent the figures.
func (r *runner) drift(c counted, memory []load.MemoryPoint) {
	hours := c.recording.Duration.Hours()
	for _, t := range c.recording.Drifts() {
		r.out.Drift = append(r.out.Drift, driftOf(t))
		grown := t.Low * hours
		switch {
		case t.Verdict != measure.Rising || c.cut:
		case t.Series == "failed":
			r.fail("the share of failed requests rose under a steady load, by at least %.2g %% of all", 100*grown)
		case t.Unit == "s" && grown > max(leastRise, steepRise*t.Level):
			r.fail("%s rose under a steady load by at least %.3g ms, from a level of %.3g ms", t.Series, 1000*grown, 1000*t.Level)
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

// driftOf gives times in milliseconds, shares in percent, and changes by the minute.
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

// recovery says how long after a burst the target was as quick as before it.
func (r *runner) recovery(rec measure.Recording, third time.Duration) {
	const times = 2 // within which response times are as before
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
			r.note("after the burst the median response time was as before (%s ms) within %s", formatMS(before), at+time.Second-2*third)
			return
		}
	}
	r.fail("after the burst the median response time did not come back to what it was before, %s ms", formatMS(before))
}
