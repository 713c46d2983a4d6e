package outage

import (
	"context"
	"errors"
	"testing"

	"outreach.example/conformance/internal/client"
)

func TestDetector(t *testing.T) {
	lost, refused := client.ErrTimeout, client.ErrRefused
	timeouts := func(err error) bool { return errors.Is(err, client.ErrTimeout) }
	for name, tc := range map[string]struct {
		counts  func(error) bool
		errs    []error
		stopped bool
	}{
		"too few":                        {nil, []error{lost, lost}, false},
		"enough":                         {nil, []error{lost, refused, lost}, true},
		"interrupted by a response":      {nil, []error{lost, lost, nil, lost, lost}, false},
		"a cancellation changes nothing": {nil, []error{lost, lost, client.ErrCanceled, lost}, true},
		"cancellations do not count":     {nil, []error{client.ErrCanceled, client.ErrCanceled, client.ErrCanceled}, false},
		"another error interrupts":       {timeouts, []error{lost, lost, refused, lost}, false},
		"responses come too late":        {nil, []error{lost, lost, lost, nil}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, giveUp := context.WithCancelCause(t.Context())
			d := &Detector{Limit: 3, Counts: tc.counts, GiveUp: giveUp}
			for _, err := range tc.errs {
				d.Observe(err)
			}
			if stopped := errors.Is(d.Err(), ErrStopped); stopped != tc.stopped || Ended(ctx) != tc.stopped {
				t.Errorf("stopped: %v, %v; want %v", d.Err(), context.Cause(ctx), tc.stopped)
			}
		})
	}
}
