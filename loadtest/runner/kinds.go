package runner

import (
	"errors"
	"fmt"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/prepare"
)

// steady sends at one rate, once or once for each page size.
func (r *runner) steady() error {
	limits := r.scenario.PageSizes()
	if err := r.getReady(limits[0]); err != nil {
		return err
	}
	for _, limit := range limits {
		name := "steady"
		if len(limits) > 1 {
			name = fmt.Sprintf("limit=%d", limit)
		}
		if _, err := r.count(name, r.schedule(), r.mix.Requests(limit, r.places)); err != nil {
			return err
		}
	}
	return nil
}

// spike sends at a base rate, at the burst rate and at the base rate again, in
// one schedule, so that the queue after the burst is visible.
func (r *runner) spike() error {
	if err := r.getReady(prepare.InTurn); err != nil {
		return err
	}
	whole := r.schedule()
	c, err := r.count("spike", whole, r.mix.Requests(prepare.InTurn, r.places))
	if err == nil {
		r.draft.Recovery(c, whole.Segments[0].Duration)
	}
	return err
}

// soak sends at one rate for a long time and looks for drift.
func (r *runner) soak() error {
	if err := r.getReady(prepare.InTurn); err != nil {
		return err
	}
	c, err := r.count("soak", r.schedule(), r.mix.Requests(prepare.InTurn, r.places))
	if dead := new(client.Error); errors.As(err, &dead) {
		return err // a dead target shows no drift
	}
	r.draft.Drift(c)
	return err
}

// every calls a function each interval, from one goroutine, until the returned one is called.
func every(interval time.Duration, call func()) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		clock := time.NewTicker(interval)
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				call()
			case <-ended:
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}
