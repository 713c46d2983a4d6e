package scenario

import (
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
	_, err := r.send("warm-up", schedule.Constant(rate, r.scenario.Warmup), r.mix.reading(limit), true)
	return err
}

// send sends a phase, or this process's shard of it, and returns what was measured.
func (r *runner) send(name string, whole schedule.Schedule, source generate.Source, warmUp bool) (measure.Recording, error) {
	mine := r.mine(whole)
	if err := r.permit(whole, mine.Planned()); err != nil {
		return measure.Recording{}, err
	}
	r.env.spent += mine.Planned()
	if r.env.Watch != nil {
		r.env.Watch(r.scenario.Name, name, mine)
	}
	p := generate.Phase{Name: name, Schedule: mine, Source: source, Start: r.begin(whole.Duration()), Warmup: warmUp}
	if !warmUp {
		p.Inspect = r.inspector.Take
	}
	rec, err := r.env.Generator.Run(r.ctx, p)
	addTraffic(&r.traffic, rec)
	return rec, err
}

// mine is the part of a phase that this process sends.
func (r *runner) mine(whole schedule.Schedule) schedule.Schedule {
	if r.env.Shard.Of > 1 {
		return whole.Shard(r.env.Shard.Index, r.env.Shard.Of)
	}
	return whole
}

// permit keeps the profile's word on how fast and how much may be sent.
func (r *runner) permit(whole schedule.Schedule, planned int64) error {
	for _, s := range whole.Segments {
		if most := r.env.MaxRate; most > 0 && s.Rate > most {
			return fmt.Errorf("%v requests a second are more than the %v that the profile allows (load.max_rate)", s.Rate, most)
		}
	}
	if planned > r.env.left() {
		return fmt.Errorf("the budget of %d requests does not suffice: %d are spent, and the next phase takes %d (load.budget)", r.env.Budget, r.env.spent, planned)
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

// count sends a phase that belongs to the scenario's figures. source returns
// what is asked from a place of the scenario on.
func (r *runner) count(name string, whole schedule.Schedule, source func(base uint64) generate.Source) (counted, error) {
	for attempt := 1; ; attempt++ {
		if err := r.stock(whole); err != nil {
			return counted{}, err
		}
		rec, err := r.send(name, whole, source(r.places), false)
		r.places += uint64(whole.Planned())
		c := r.judged(rec)
		if err == nil && silent(rec) {
			r.keep(c)
			return c, fmt.Errorf("%s: the target answers nothing any more (%s): the scenario was given up", rec.Name, endings(rec))
		}
		again := c.limited != "" && attempt < attempts && whole.Duration() <= worthAgain && r.env.Shard.Of <= 1 && r.env.Calibration.Ceiling*farFromTop > rec.Rate
		if err != nil || !again {
			r.keep(c)
			return c, err
		}
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
		r.note("%s: %s; that was to be tolerated", rec.Name, why)
		return c
	}
	if limits {
		c.limited = why
	}
	return c
}

func (r *runner) keep(c counted) {
	r.recordings = append(r.recordings, c.recording)
	r.counted = append(r.counted, c)
}
