package generate

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/measure"
)

// mute leaves those requests without an answer that come when dead says so.
func mute(dead func(at time.Duration) bool) func(*http.Request) {
	began := time.Now()
	return func(r *http.Request) {
		if dead(time.Since(began)) {
			<-r.Context().Done()
		}
	}
}

// Eight hours of load on a target that has died tell no more than a while of it.
func TestADeadTargetIsGivenUp(t *testing.T) {
	const dies = time.Minute
	for name, tc := range map[string]struct {
		opts    Options
		silence time.Duration
	}{
		"a short time-out":     {Options{Timeout: 700 * time.Millisecond}, leastSilence},
		"a long time-out":      {Options{Timeout: 4 * time.Second}, silentTimeouts * 4 * time.Second},
		"a silence of its own": {Options{Timeout: time.Second, Silence: 3 * time.Second}, 3 * time.Second},
		"no free worker":       {Options{Timeout: 700 * time.Millisecond, Workers: 5}, leastSilence},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := &network{answer: mute(func(at time.Duration) bool { return at >= dies })}
				r, err := inBubble(t, n, tc.opts).Run(context.Background(), constant(20, 8*time.Hour))
				var silent *SilentError
				g.Expect(errors.As(err, &silent)).To(BeTrue(), "%v", err)
				g.Expect(silent.For).To(BeNumerically("~", tc.silence, time.Second))
				g.Expect(err).To(MatchError(ContainSubstring("requests in a row had no answer")))

				g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(20 * dies.Seconds()))
				g.Expect(r.Sent).To(BeEquivalentTo(len(n.came)))
				g.Expect(r.Planned).To(BeEquivalentTo(8 * 3600 * 20))
				g.Expect(r.Dropped()).To(Equal(r.Planned - r.Sent))
				g.Expect(n.since(r.Start)[r.Sent-1]).To(BeNumerically("<", dies+tc.silence+2*tc.opts.Timeout))
			})
		})
	}
}

// What is alive is loaded to the end, however badly it does.
func TestALivingTargetIsNotGivenUp(t *testing.T) {
	const lasts = 10 * time.Minute
	for name, tc := range map[string]struct {
		rate float64
		dead func(at time.Duration) bool
	}{
		"stalls beyond the time-out":   {20, func(at time.Duration) bool { return at%(10*time.Second) < 2*time.Second }},
		"hardly ever answers":          {20, func(at time.Duration) bool { return at%(9*time.Second) > 100*time.Millisecond }},
		"misses few and far between":   {0.02, func(at time.Duration) bool { return at > 3*time.Minute }},
		"misses the first and is well": {0.1, func(at time.Duration) bool { return at < 15*time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := &network{answer: mute(tc.dead)}
				r := run(t, inBubble(t, n, Options{Timeout: time.Second}), constant(tc.rate, lasts))
				g.Expect(r.Failures[measure.FailureTimeout]).To(BeNumerically(">=", 1), "the test is about requests without an answer")
				g.Expect(r.Sent).To(Equal(r.Planned))
			})
		})
	}
}

// A refusal and an error are answers.
func TestAnyAnswerIsASignOfLife(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, newGenerator(t, Options{BaseURL: "http://target.example", Transport: always(status), Timeout: time.Second}, time.Sleep), constant(20, time.Minute))
			NewWithT(t).Expect(r.Statuses).To(Equal(map[int]int64{status: 20 * 60}))
		})
	}
}

// always is a target that answers everything with the status.
type always int

func (a always) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(a), Body: http.NoBody}, nil
}
