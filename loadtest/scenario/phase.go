package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/reports/load"
)

// betweenShards is the pause between two phases that several processes send:
// answers of the one before may still be under way.
const betweenShards = 2 * time.Second

// counted is a phase that thresholds are held against.
type counted struct {
	recording measure.Recording
	limited   string // why its figures are the generator's and not the target's; empty if they are not
	cut       bool   // it did not run to its end
}

// begin returns when the next phase starts that lasts so long; zero is now.
func (r *runner) begin(lasts time.Duration) time.Time {
	if r.env.Start.IsZero() {
		return time.Time{}
	}
	start := r.env.Start
	r.env.Start = start.Add(lasts + betweenShards)
	return start
}

// warmUp sends requests that change nothing and count for nothing.
func (r *runner) warmUp(rate float64, limit int) error {
	if r.scenario.Warmup == 0 {
		return nil
	}
	rec, err := r.send("warm-up", schedule.Constant(rate, r.scenario.Warmup), r.mix.reading(limit), true)
	r.foremost = append(r.foremost, r.outageNotes...)
	r.uses.WarmUp += rec.Sent
	return err
}

// send sends a phase, or this process's shard of it, and returns what was measured.
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
		Outages: func(s generate.Outages) { r.outageNotes = r.outages(name, s) }}
	if !warmUp {
		p.Inspect = r.inspector.Take
	}
	r.tellOfStart(p)
	rec, err := r.env.Generator.Run(r.ctx, p)
	r.env.Budget.giveBack(mine.Planned() - rec.Sent)
	addTraffic(&r.traffic, rec)
	return rec, r.cutShort(name, rec, err)
}

// farAhead is how far ahead a start is that is told: nothing happens until then.
const farAhead = 5 * time.Second

// tellOfStart says when the phase starts if that is not soon.
func (r *runner) tellOfStart(p generate.Phase) {
	if ahead := time.Until(p.Start); r.env.Say != nil && ahead > farAhead {
		r.env.Say(fmt.Sprintf("%s: %s starts at %s, in %s", r.scenario.Name, p.Name, p.Start.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
	}
}

// cutShort says of a phase that did not run to its end why, and how far it came.
func (r *runner) cutShort(name string, rec measure.Recording, err error) error {
	var dead *generate.OutageError
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

// mine is the part of a phase that this process sends.
func (r *runner) mine(whole schedule.Schedule) schedule.Schedule {
	if r.env.Shard.Of > 1 {
		return whole.Shard(r.env.Shard.Index, r.env.Shard.Of)
	}
	return whole
}

// permit keeps the profile's word on how fast may be sent.
func (r *runner) permit(whole schedule.Schedule) error {
	for _, s := range whole.Segments {
		if most := r.env.MaxRate; most > 0 && s.Rate > most {
			return fmt.Errorf("%v requests a second are more than the %v that the profile allows (load.max_rate)", s.Rate, most)
		}
	}
	return nil
}

// addTraffic counts what was sent, whether it counts for figures or not.
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

// A short phase is sent again when this machine was too busy to send it on time:
// on a shared machine that passes.
const (
	attempts   = 3
	worthAgain = 10 * time.Second
	farFromTop = 0.5 // of the generator's ceiling
)

// count sends a phase that belongs to the scenario's figures. mix returns
// what is asked from a place of the scenario on.
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
			err = fmt.Errorf("%s: the target answers nothing any more (%s): the scenario was given up", rec.Name, endings(rec))
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

// silent reports whether requests were sent and not one was answered.
func silent(rec measure.Recording) bool {
	return rec.Sent > 0 && rec.Statuses[0] == rec.Sent
}

// judged says whether the figures are the target's.
func (r *runner) judged(rec measure.Recording) counted {
	c := counted{recording: rec}
	limits, why := r.env.Calibration.Limits(rec)
	if tolerated := r.env.LagLimit; limits && tolerated > 0 && rec.Lag.Quantile(0.99).Value <= tolerated {
		r.note("%s: requests went out as much as %s late (p99), which --lag-limit tolerates: the response times hold it, too", rec.Name, rec.Lag.Quantile(0.99).Value.Round(10*time.Microsecond))
		return c
	}
	if limits {
		c.limited = why
	}
	return c
}

// keep takes the phase into the scenario's figures.
func (r *runner) keep(c counted) {
	r.uses.Counted += c.recording.Sent
	r.recordings = append(r.recordings, c.recording)
	r.counted = append(r.counted, c)
}

// keepCut keeps what was measured of a phase that did not run to its end, which
// is the scenario's last.
func (r *runner) keepCut(c counted, why error) {
	if c.recording.Sent == 0 {
		return
	}
	c.cut, r.cut = true, why.Error()
	r.keep(c)
}
