package runner

import (
	"errors"
	"fmt"
	"time"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/reports/load"
)

// steady sends at one rate, once or once for each page size.
func (r *runner) steady() error {
	s := r.scenario
	limits := s.Limits
	if len(limits) == 0 {
		limits = []int{0}
	}
	whole, _ := s.Schedule()
	if err := r.warmUp(s.Rate, limits[0]); err != nil {
		return err
	}
	for _, limit := range limits {
		name := "steady"
		if len(limits) > 1 {
			name = fmt.Sprintf("limit=%d", limit)
		}
		if _, err := r.count(name, whole, r.mix.From(limit)); err != nil {
			return err
		}
	}
	return nil
}

// spike sends at a base rate, at the burst rate and at the base rate again, in
// one schedule, so that the queue after the burst is visible.
func (r *runner) spike() error {
	s := r.scenario
	whole, _ := s.Schedule()
	if err := r.warmUp(s.Rate, prepare.InTurn); err != nil {
		return err
	}
	c, err := r.count("spike", whole, r.mix.From(prepare.InTurn))
	if err != nil {
		return err
	}
	r.draft.Recovery(c, whole.Segments[0].Duration)
	return nil
}

// soak sends at one rate for a long time and looks for drift.
func (r *runner) soak() error {
	whole, _ := r.scenario.Schedule()
	if err := r.warmUp(r.scenario.Rate, prepare.InTurn); err != nil {
		return err
	}
	memory := r.watchMemory()
	c, err := r.count("soak", whole, r.mix.From(prepare.InTurn))
	seen := memory()
	if dead := new(outage.Error); errors.As(err, &dead) {
		return err // a dead target shows no drift
	}
	r.draft.Drift(c, seen)
	return err
}

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
