package client

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestDetector(t *testing.T) {
	lost, refused := ErrTimeout, ErrRefused
	timeouts := func(err error) bool { return errors.Is(err, ErrTimeout) }
	for name, tc := range map[string]struct {
		counts  func(error) bool
		errs    []error
		stopped bool
	}{
		"too few":                        {nil, []error{lost, lost}, false},
		"enough":                         {nil, []error{lost, refused, lost}, true},
		"interrupted by a response":      {nil, []error{lost, lost, nil, lost, lost}, false},
		"a cancellation changes nothing": {nil, []error{lost, lost, ErrCanceled, lost}, true},
		"cancellations do not count":     {nil, []error{ErrCanceled, ErrCanceled, ErrCanceled}, false},
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

// A monitor decides by number and time together. Neither alone is enough.
func TestMonitorDecidesByNumberAndTime(t *testing.T) {
	for name, tc := range map[string]struct {
		missed  int
		every   time.Duration
		stopped string // the error; empty for none
	}{
		"few, and long":   {2, time.Minute, ""},
		"many, and short": {100, 10 * time.Millisecond, ""},
		"many, and long":  {4, time.Second, "the target stopped responding: 3 requests in a row had no response for 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := NewMonitor(3, 2*time.Second)
			var err error
			for i := range tc.missed {
				err = m.Observe(time.Duration(i)*tc.every, time.Duration(i)*tc.every, false)
			}
			if tc.stopped == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(And(MatchError(tc.stopped), MatchError(ErrStopped)))
		})
	}
}

// Requests that were sent before the last response and time out after it are slow.
// They make no outage.
func TestSlowRequestsAreNoOutage(t *testing.T) {
	g := NewWithT(t)
	m := NewMonitor(10, time.Hour)
	at := func(tenths int) time.Duration { return time.Duration(tenths) * 100 * time.Millisecond }
	for i := range 10 {
		g.Expect(m.Observe(at(i), at(i+1), true)).To(Succeed())
	}
	for i := range 10 {
		g.Expect(m.Observe(at(i), at(i+50), false)).To(Succeed())
	}
	g.Expect(m.Outages()).To(Equal(Outages{}))
	for i := range 4 {
		g.Expect(m.Observe(at(10+i), at(60+i), false)).To(Succeed())
	}
	g.Expect(m.Outages().Last).To(BeNil(), "four are not enough")
	g.Expect(m.Observe(at(20), at(70), false)).To(Succeed())
	g.Expect(m.Outages().Last).To(Equal(&Outage{From: at(10), To: at(70), Unanswered: 5}))
}
