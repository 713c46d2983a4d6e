package main

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A second Ctrl-C ends the run at once, but not the twin of the first one, which
// timeout(1) sends to the process and to its group.
func TestSecondInterrupt(t *testing.T) {
	type event struct {
		after  time.Duration // after the event before
		signal os.Signal
	}
	for name, tc := range map[string]struct {
		events []event
		twice  bool
	}{
		"one":                  {[]event{{0, os.Interrupt}}, false},
		"a twin":               {[]event{{0, os.Interrupt}, {time.Millisecond, os.Interrupt}}, false},
		"a twin, then another": {[]event{{0, os.Interrupt}, {0, os.Interrupt}, {time.Second, os.Interrupt}}, true},
		"two":                  {[]event{{0, os.Interrupt}, {time.Second, os.Interrupt}}, true},
		"the end, twice":       {[]event{{0, syscall.SIGTERM}, {time.Second, syscall.SIGTERM}}, false},
		"the end, then Ctrl-C": {[]event{{0, syscall.SIGTERM}, {time.Second, os.Interrupt}}, true},
		"none":                 {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, done := make(chan os.Signal, 1), make(chan struct{})
				announced := 0
				twice, ended := false, make(chan struct{})
				go func() {
					defer close(ended)
					interruptedTwice(signals, done, func() { announced++ }, func() { twice = true })
				}()
				for _, e := range tc.events {
					time.Sleep(e.after)
					signals <- e.signal
				}
				time.Sleep(time.Minute)
				close(done)
				if <-ended; twice != tc.twice || announced != min(1, len(tc.events)) {
					t.Errorf("interrupted twice: %t, announced %d times", twice, announced)
				}
			})
		})
	}
}
