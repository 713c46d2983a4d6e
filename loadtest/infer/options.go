package infer

import (
	"errors"
	"time"
)

// Options limit the probing. The zero value means the defaults.
type Options struct {
	MaxRequests int           // maximum number of requests; default 5,000
	MaxTime     time.Duration // maximum duration; default 2 minutes
	MaxParallel int           // maximum requests in flight; default 64
	Drains      int           // drains for scope, Retry-After and recovery; default and minimum 5
	// Sustain is how long to stay at the limit to look for a slower layer;
	// default 20 seconds.
	Sustain time.Duration
	Seed    uint64 // of the random variation of probes
	Picture int    // maximum observations for the plot; default 2,000
	// Log receives the name of each step; may be nil.
	Log func(step string)
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxRequests < 0 || o.MaxTime < 0 || o.MaxParallel < 0 || o.Drains < 0 || o.Picture < 0 || o.Sustain < 0 {
		return o, errors.New("infer: negative budget")
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
