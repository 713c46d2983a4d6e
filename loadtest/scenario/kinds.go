package scenario

import (
	"errors"
	"fmt"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/schedule"
)

// steady sends at one rate, once or once for each page size.
func (r *runner) steady() error {
	s := r.scenario
	limits := s.Limits
	if len(limits) == 0 {
		limits = []int{0}
	}
	whole := schedule.Constant(s.Rate, s.Duration)
	if err := r.warmUp(s.Rate, limits[0]); err != nil {
		return err
	}
	for _, limit := range limits {
		name := "steady"
		if len(limits) > 1 {
			name = fmt.Sprintf("limit=%d", limit)
		}
		if _, err := r.count(name, whole, r.mix.from(limit)); err != nil {
			return err
		}
	}
	return nil
}

// spike sends at a base rate, at the burst rate and at the base rate again, in
// one schedule, so that the queue after the burst is visible.
func (r *runner) spike() error {
	s := r.scenario
	third := s.Duration / 3
	whole := schedule.Schedule{Segments: []schedule.Segment{{Rate: s.Rate, Duration: third}, {Rate: s.Burst, Duration: third}, {Rate: s.Rate, Duration: third}}}
	if err := r.warmUp(s.Rate, inTurn); err != nil {
		return err
	}
	c, err := r.count("spike", whole, r.mix.from(inTurn))
	if err != nil {
		return err
	}
	r.recovery(c.recording, third)
	return nil
}

// soak sends at one rate for a long time and looks for drift.
func (r *runner) soak() error {
	s := r.scenario
	whole := schedule.Constant(s.Rate, s.Duration)
	if err := r.warmUp(s.Rate, inTurn); err != nil {
		return err
	}
	memory := r.watchMemory()
	c, err := r.count("soak", whole, r.mix.from(inTurn))
	seen := memory()
	if dead := new(outage.Error); errors.As(err, &dead) {
		return err // a dead target shows no drift
	}
	c.cut = err != nil
	r.drift(c, seen)
	return err
}
