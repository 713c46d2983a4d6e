package infer

import (
	"errors"
	"time"
)

// Options bound the probing. The zero value stands for the defaults.
type Options struct {
	MaxRequests int           // requests that may be sent in all; default 5,000
	MaxTime     time.Duration // time that the probing may take in all; default 2 minutes
	MaxParallel int           // most requests in flight at once; default 64
	Drains      int           // drains that scope, Retry-After and recovery are judged by; default 5, the least that says something
	// Sustain is how long to stay at the limit to look for a slower layer behind
	// the one that was found; default 20 seconds.
	Sustain time.Duration
	Seed    uint64 // of the phases and fractions that probes are varied by
	Picture int    // most observations kept for the plot; default 2,000
	// Log is told in a few words what is done next; nil for nothing.
	Log func(step string)
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxRequests < 0 || o.MaxTime < 0 || o.MaxParallel < 0 || o.Drains < 0 || o.Picture < 0 || o.Sustain < 0 {
		return o, errors.New("infer: a budget is below 0")
	}
	set := func(value *int, standard int) {
		if *value == 0 {
			*value = standard
		}
	}
	set(&o.MaxRequests, 5000)
	set(&o.MaxParallel, 64)
	set(&o.Drains, 5)
	set(&o.Picture, 2000)
	if o.MaxTime == 0 {
		o.MaxTime = 2 * time.Minute
	}
	if o.Sustain == 0 {
		o.Sustain = 20 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return o, nil
}
