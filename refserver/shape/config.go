// Package shape makes a server slow, saturated or faulty in a way that is known
// exactly: latencies in fixed shares, stalls, latency that grows, a service rate
// that cannot be exceeded, and failures. What a load generator reports of such
// a server can be held against the truth.
//
// Nothing in it is left to chance: which request of a sequence gets which
// latency depends on its place in the sequence and on a seed. The package
// imports nothing of this module.
package shape

import (
	"errors"
	"fmt"
	"time"
)

// Config says what is done to requests. The zero Config does nothing. When the
// first request comes, time starts to count.
type Config struct {
	// Mix gives each share of the requests a latency; the shares add up to Whole.
	Mix []Part
	// Drift adds to the latency of each request Growth for each Per that has passed.
	Drift Drift
	// Stall holds all requests, those under way too, for the last For of each Every.
	Stall Stall
	// Capacity serves at most Requests in Per, one after the other and evenly;
	// more have to queue.
	Capacity Capacity
	// Errors answers a share of the requests with a failure, after their latency.
	Errors Errors
}

// Share is a part of all requests, in hundredths of a percent.
type Share int

// Whole is all requests.
const Whole Share = 10_000

// Part is a share of the requests and the latency that it gets.
type Part struct {
	Share   Share
	Latency time.Duration
}

// Drift is a latency that grows.
type Drift struct{ Growth, Per time.Duration }

// Stall is a stretch of time without answers that comes again.
type Stall struct{ For, Every time.Duration }

// Capacity is a service rate.
type Capacity struct {
	Requests int
	Per      time.Duration
}

// Errors is a share of failures.
type Errors struct {
	Share  Share
	Status int // a 5xx status
}

// Bounds of a configuration: longer than any test wants to wait.
const (
	MaxLatency  = time.Minute
	MaxPeriod   = time.Hour
	MaxParts    = 100
	MaxRequests = 1_000_000 // of a capacity
	minPer      = time.Millisecond
)

// Validate reports the first setting that cannot be used.
func (c Config) Validate() error {
	if err := c.validateMix(); err != nil {
		return err
	}
	switch {
	case c.Drift != (Drift{}) && !(0 < c.Drift.Growth && c.Drift.Growth <= MaxLatency && within(c.Drift.Per)):
		return fmt.Errorf("drift: %s in %s: the growth is above 0 and at most %s, the time %s to %s", c.Drift.Growth, c.Drift.Per, MaxLatency, minPer, MaxPeriod)
	case c.Stall != (Stall{}) && !(0 < c.Stall.For && c.Stall.For < c.Stall.Every && c.Stall.For <= MaxLatency && within(c.Stall.Every)):
		return fmt.Errorf("stall: %s in each %s: a stall is shorter than its period and at most %s, a period at most %s", c.Stall.For, c.Stall.Every, MaxLatency, MaxPeriod)
	case c.Capacity != (Capacity{}) && !(1 <= c.Capacity.Requests && c.Capacity.Requests <= MaxRequests && within(c.Capacity.Per)):
		return fmt.Errorf("capacity: %d in %s: the requests are 1 to %d, the time %s to %s", c.Capacity.Requests, c.Capacity.Per, MaxRequests, minPer, MaxPeriod)
	case c.Errors != (Errors{}) && !(0 < c.Errors.Share && c.Errors.Share <= Whole):
		return fmt.Errorf("errors: %s is not a share of the requests", c.Errors.Share)
	case c.Errors != (Errors{}) && !(500 <= c.Errors.Status && c.Errors.Status <= 599):
		return fmt.Errorf("errors: %d is not a status of a server's failure, 500 to 599", c.Errors.Status)
	}
	return nil
}

func (c Config) validateMix() error {
	if len(c.Mix) > MaxParts {
		return fmt.Errorf("mix: %d parts are more than %d", len(c.Mix), MaxParts)
	}
	var all Share
	for _, part := range c.Mix {
		if part.Share <= 0 || part.Share > Whole {
			return fmt.Errorf("mix: %s is not a share of the requests", part.Share)
		}
		if part.Latency < 0 || part.Latency > MaxLatency {
			return fmt.Errorf("mix: the latency %s is not within 0 and %s", part.Latency, MaxLatency)
		}
		all += part.Share
	}
	if len(c.Mix) > 0 && all != Whole {
		return fmt.Errorf("mix: the shares add up to %s, not to %s", all, Whole)
	}
	return nil
}

func within(per time.Duration) bool { return minPer <= per && per <= MaxPeriod }

var errTwice = errors.New("given twice")
