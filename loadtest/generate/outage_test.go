package generate

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/measure"
)

// mute responds to no request that comes while dead returns true.
func mute(dead func(at time.Duration) bool) func(*http.Request) {
	began := time.Now()
	return func(r *http.Request) {
		if dead(time.Since(began)) {
			<-r.Context().Done()
		}
	}
}

// A phase of 8 hours ends soon after its target has stopped responding.
func TestADeadTargetIsGivenUp(t *testing.T) {
	const dies = time.Minute
	for name, tc := range map[string]struct {
		opts    Options
		silence time.Duration
	}{
		"a long time-out":      {Options{Timeout: 4 * time.Second}, outageTimeouts * 4 * time.Second},
		"a maximum of its own": {Options{Timeout: time.Second, MaxOutage: 3 * time.Second}, 3 * time.Second},
		"no free worker":       {Options{Timeout: 700 * time.Millisecond, Workers: 5}, leastMaxOutage},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := &network{answer: mute(func(at time.Duration) bool { return at >= dies })}
				r, _, err := inBubble(t, n, tc.opts).Run(context.Background(), constant(20, 8*time.Hour))
				var silent *outage.Error
				g.Expect(errors.As(err, &silent)).To(BeTrue(), "%v", err)
				g.Expect(silent.For).To(BeNumerically("~", tc.silence, time.Second))
				g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(20 * dies.Seconds()))
				g.Expect(r.Sent).To(BeEquivalentTo(len(n.came)))
				g.Expect(r.Dropped()).To(BeEquivalentTo(8*3600*20 - r.Sent))
			})
		})
	}
}

// A target that responds now and then is loaded to the end, and its outages are told.
func TestOutages(t *testing.T) {
	every := func(period, silent time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at%period < silent }
	}
	within := func(from, to time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at >= from && at < to }
	}
	for name, tc := range map[string]struct {
		rate  float64
		dead  func(at time.Duration) bool
		ended int64
		last  bool // the last one goes on to the end
	}{
		"hardly ever answers":      {20, every(9*time.Second, 8900*time.Millisecond), 66, true},
		"misses few, far between":  {0.02, within(3*time.Minute, 5*time.Minute), 0, false},
		"comes back":               {20, within(time.Minute, time.Minute+5*time.Second), 1, false},
		"dies just before the end": {20, within(9*time.Minute+55*time.Second, time.Hour), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := &network{answer: mute(tc.dead)}
				r, told, err := inBubble(t, n, Options{Timeout: time.Second}).Run(t.Context(), constant(tc.rate, 10*time.Minute))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(r.Sent).To(Equal(r.Planned()))
				g.Expect(r.Failures[measure.FailureTimeout]).To(BeNumerically(">=", 1))
				g.Expect(told.Ended).To(BeEquivalentTo(tc.ended))
				g.Expect(told.Last != nil).To(Equal(tc.last))
			})
		})
	}
}
