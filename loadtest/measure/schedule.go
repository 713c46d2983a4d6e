package measure

// A Schedule is data: segments of constant rate, one after the other. Request k is
// due when the rates of the segments have added up to k. So requests are evenly
// spaced, segments join without a gap or a double request, and nothing drifts:
// due times are computed with integers and never added up. Pace and Rate make a
// Schedule a vegeta.Pacer.

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The bounds of a schedule are far beyond what one generator can do. They reject
// mistakes such as a rate in requests per minute or a duration without its unit.
const (
	MaxRate     = 1_000_000          // requests per second
	MinRate     = 0.001              // requests per second; 0 is a pause
	MaxDuration = 7 * 24 * time.Hour // of all segments together
	MaxSegments = 1_000
	MaxShards   = 10_000
)

// Segment is a time of constant rate.
type Segment struct {
	Rate     float64 // requests per second, rounded to a millionth; 0 is a pause
	Duration time.Duration
}

// Schedule says when each request of a phase is due. Its zero value plans
// nothing and does not validate.
type Schedule struct {
	Segments []Segment

	// Index and Of make the schedule one of several shards: it takes the requests
	// Index, Index+Of, Index+2·Of, … of the whole. If Of is 0, it is the whole
	// schedule. Shard sets them.
	Index, Of int
}

// Constant plans one rate (requests per second) for the duration.
func Constant(rate float64, d time.Duration) Schedule {
	return Schedule{Segments: []Segment{{Rate: rate, Duration: d}}}
}

// Shard returns the i-th (from 0) of n shards. It takes every n-th request, and the n
// shards together are exactly s. Validate rejects an i outside 0…n-1.
func (s Schedule) Shard(i, n int) Schedule {
	own := s.shards()
	return Schedule{Segments: s.Segments, Index: s.Index + i*own, Of: n * own}
}

func (s Schedule) shards() int { return max(s.Of, 1) }

// Validate returns an error if there are no segments, a rate or a duration is out of
// bounds, the shard does not exist, or there is nothing to send for any shard.
func (s Schedule) Validate() error {
	if len(s.Segments) == 0 {
		return errors.New("schedule: no segments: name at least one rate and its duration")
	}
	if len(s.Segments) > MaxSegments {
		return fmt.Errorf("schedule: %d segments, at most %d are allowed", len(s.Segments), MaxSegments)
	}
	var total time.Duration
	for i, g := range s.Segments {
		if err := g.validate(); err != nil {
			return fmt.Errorf("schedule: segment %d: %w", i+1, err)
		}
		if total += g.Duration; total > MaxDuration {
			return fmt.Errorf("schedule: the segments up to %d last longer than %s", i+1, MaxDuration)
		}
	}
	if s.Of < 0 || s.Of > MaxShards || s.Index < 0 || s.Index >= s.shards() {
		return fmt.Errorf("schedule: there is no shard %d of %d: shards count from 0 and are at most %d", s.Index, s.Of, MaxShards)
	}
	if (Schedule{Segments: s.Segments}).Planned() == 0 {
		return errors.New("schedule: nothing to send: the rates and durations come to no request")
	}
	return nil
}

func (g Segment) validate() error {
	switch {
	case math.IsNaN(g.Rate) || g.Rate != 0 && (g.Rate < MinRate || g.Rate > MaxRate):
		return fmt.Errorf("rate %v/s: want 0 (a pause) or %v to %v requests per second", g.Rate, MinRate, MaxRate)
	case g.Duration <= 0 || g.Duration > MaxDuration:
		return fmt.Errorf("duration %s: want more than 0 and at most %s", g.Duration, MaxDuration)
	}
	return nil
}

// Duration returns how long the schedule lasts, with pauses and the last interval.
func (s Schedule) Duration() time.Duration {
	var d time.Duration
	for _, g := range s.Segments {
		d += g.Duration
	}
	return d
}
