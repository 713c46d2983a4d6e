package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/reports/load"
)

// betweenShards is the pause between two phases of several processes. Responses of
// the first may still be on their way.
const betweenShards = 2 * time.Second

// counted is a phase that thresholds are compared with.
type counted struct {
	recording measure.Recording
	limited   string // why the generator affected its figures; empty if it did not
	cut       bool   // it did not run to its end
}

// begin returns when the next phase, of that length, starts. Zero means now.
func (r *runner) begin(lasts time.Duration) time.Time {
	if r.env.Start.IsZero() {
		return time.Time{}
	}
	start := r.env.Start
	r.env.Start = start.Add(lasts + betweenShards)
	return start
}

// warmUp sends requests that change nothing and do not count.
func (r *runner) warmUp(rate float64, limit int) error {
	if r.scenario.Warmup == 0 {
		return nil
	}
	rec, err := r.send("warm-up", schedule.Constant(rate, r.scenario.Warmup), r.mix.reading(limit), true)
	r.foremost = append(r.foremost, r.outageNotes...)
	r.uses.WarmUp += rec.Sent
	return err
}

// send sends a phase, or this process's shard of it, and returns the recording.
func (r *runner) send(name string, whole schedule.Schedule, mix generate.Mix, warmUp bool) (measure.Recording, error) {
	r.outageNotes = nil
	mine := r.mine(whole)
	if err := r.permit(whole); err != nil {
		return measure.Recording{}, err
	}
	if err := r.env.Budget.take(mine.Planned()); err != nil {
		return measure.Recording{}, err
	}
	if r.env.Watch != nil {
		r.env.Watch(r.scenario.Name, name, mine)
	}
	p := generate.Phase{Name: name, Schedule: mine, Mix: mix, Start: r.begin(whole.Duration()), Warmup: warmUp,
		Outages: func(s outage.Outages) { r.outageNotes = r.outages(name, s) }}
	if !warmUp {
		p.Inspect = r.inspector.Take
	}
	if r.env.LagLimit > 0 {
		// What may go out late is sent and not dropped.
		p.LateTolerance = max(generate.DefaultLateTolerance, r.env.LagLimit)
	}
	r.announceStart(p)
	rec, err := r.env.Generator.Run(r.ctx, p)
	r.env.Budget.giveBack(mine.Planned() - rec.Sent)
	addTraffic(&r.traffic, rec)
	return rec, r.cutShort(name, rec, err)
}

// farAhead is the least wait for a start that is announced.
const farAhead = 5 * time.Second

// announceStart announces the start of the phase if it is not soon.
func (r *runner) announceStart(p generate.Phase) {
	if ahead := time.Until(p.Start); r.env.Say != nil && ahead > farAhead {
		r.env.Say(fmt.Sprintf("%s: %s starts at %s, in %s", r.scenario.Name, p.Name, p.Start.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
	}
}

// cutShort returns why a phase did not run to its end, and how far it came.
func (r *runner) cutShort(name string, rec measure.Recording, err error) error {
	var dead *outage.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &dead):
		return fmt.Errorf("%s was given up after %d of %d requests: %w", name, rec.Sent, rec.Planned, dead)
	case r.ctx.Err() != nil:
		return fmt.Errorf("%s was interrupted after %d of %d requests: %w", name, rec.Sent, rec.Planned, context.Cause(r.ctx))
	default:
		return err
	}
}

// mine returns the part of a phase that this process sends.
func (r *runner) mine(whole schedule.Schedule) schedule.Schedule {
	if r.env.Shard.Of > 1 {
		return whole.Shard(r.env.Shard.Index, r.env.Shard.Of)
	}
	return whole
}

// permit returns an error if the schedule exceeds the profile's maximum rate.
func (r *runner) permit(whole schedule.Schedule) error {
	for _, s := range whole.Segments {
		if most := r.env.MaxRate; most > 0 && s.Rate > most {
			return fmt.Errorf("%v requests a second exceed the profile's maximum of %v (load.max_rate)", s.Rate, most)
		}
	}
	return nil
}

// addTraffic counts what was sent, warm-ups included.
func addTraffic(t *load.Traffic, rec measure.Recording) {
	t.Planned += planned(rec)
	t.Sent += rec.Sent
	t.Late += rec.Late()
	t.Dropped += rec.Dropped()
	t.BytesReceived += rec.Bytes
	for status, n := range statuses(rec.Statuses) {
		t.Statuses[status] += n
	}
}

// A short phase is sent again if this machine was too busy to send it on time. On a
// shared machine that passes.
const (
	attempts   = 3
	worthAgain = 10 * time.Second
	farFromTop = 0.5 // of the generator's ceiling: above it, the rate is the cause
)

// count sends a phase that belongs to the scenario's figures. mix returns the mix of
// a phase that begins at the place base.
func (r *runner) count(name string, whole schedule.Schedule, mix func(base uint64) generate.Mix) (counted, error) {
	for attempt := 1; ; attempt++ {
		if err := r.stock(whole); err != nil {
			return counted{}, err
		}
		rec, err := r.send(name, whole, mix(r.places), false)
		r.foremost = append(r.foremost, r.outageNotes...)
		r.places += uint64(whole.Planned())
		c := r.judged(rec)
		if err == nil && silent(rec) {
			err = fmt.Errorf("%s: the target has stopped responding (%s); the scenario was given up", rec.Name, endings(rec))
		}
		if err != nil {
			r.keepCut(c, err)
			return c, err
		}
		again := c.limited != "" && attempt < attempts && whole.Duration() <= worthAgain && r.env.Shard.Of <= 1 && r.env.Calibration.Ceiling*farFromTop > rec.Rate
		if !again {
			r.keep(c)
			return c, nil
		}
		r.uses.Again += rec.Sent
		r.note("%s was sent again: this machine was too busy to send it on time", name)
	}
}

// silent reports whether requests were sent and none got a response.
func silent(rec measure.Recording) bool {
	return rec.Sent > 0 && rec.Statuses[0] == rec.Sent
}

// judged finds out whether the generator affected the figures.
func (r *runner) judged(rec measure.Recording) counted {
	c := counted{recording: rec}
	limits, why := r.env.Calibration.Limits(rec)
	if tolerated := r.env.LagLimit; limits && tolerated > 0 && rec.Lag.Quantile(0.99).Value <= tolerated {
		r.note("%s: requests were sent up to %s late (p99), within --lag-limit; response times include it", rec.Name, rec.Lag.Quantile(0.99).Value.Round(10*time.Microsecond))
		return c
	}
	if limits {
		c.limited = why
	}
	return c
}

// keep adds the phase to the scenario's figures.
func (r *runner) keep(c counted) {
	r.uses.Counted += c.recording.Sent
	r.recordings = append(r.recordings, c.recording)
	r.counted = append(r.counted, c)
}

// keepCut keeps the recording of a phase that did not run to its end. It is the
// scenario's last.
func (r *runner) keepCut(c counted, why error) {
	if c.recording.Sent == 0 {
		return
	}
	c.cut, r.cut = true, why.Error()
	r.keep(c)
}
