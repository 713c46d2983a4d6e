package generate

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"

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
		"a short time-out":     {Options{Timeout: 700 * time.Millisecond}, leastMaxOutage},
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
				g.Expect(err).To(MatchError(ContainSubstring("requests in a row had no response for ")))

				g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(20 * dies.Seconds()))
				g.Expect(r.Sent).To(BeEquivalentTo(len(n.came)))
				g.Expect(r.Planned()).To(BeEquivalentTo(8 * 3600 * 20))
				g.Expect(r.Dropped()).To(Equal(r.Planned() - r.Sent))
				g.Expect(n.since(r.Start)[r.Sent-1]).To(BeNumerically("<", dies+tc.silence+2*tc.opts.Timeout))
			})
		})
	}
}

// A target that responds now and then is loaded to the end.
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
				g.Expect(r.Sent).To(Equal(r.Planned()))
			})
		})
	}
}

// A 429 and an error are responses.
func TestAnyAnswerIsASignOfLife(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, newGenerator(t, Options{BaseURL: "http://target.example", Transport: always(status), Timeout: time.Second}, time.Sleep), constant(20, time.Minute))
			NewWithT(t).Expect(r.Statuses).To(Equal(map[int]int64{status: 20 * 60}))
		})
	}
}

// always is a target that responds to every request with the status.
type always int

func (a always) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(a), Body: http.NoBody}, nil
}

// A phase reports its outages if enough requests got no response.
func TestOutages(t *testing.T) {
	const lasts = 10 * time.Second
	within := func(spans ...time.Duration) func(time.Duration) bool { // from, to, from, to
		return func(at time.Duration) (dead bool) {
			for i := 0; i < len(spans); i += 2 {
				dead = dead || at >= spans[i] && at < spans[i+1]
			}
			return dead
		}
	}
	about := func(at time.Duration) types.GomegaMatcher { return BeNumerically("~", at, 100*time.Millisecond) }
	died := gstruct.PointTo(And(HaveField("From", about(6*time.Second)), HaveField("Unanswered", BeEquivalentTo(80))))
	for name, tc := range map[string]struct {
		dead     func(at time.Duration) bool
		ended    int
		from, to time.Duration // of the longest that is over
		last     types.GomegaMatcher
	}{
		"answers all":        {within(), 0, 0, 0, BeNil()},
		"dies":               {within(6*time.Second, lasts), 0, 0, 0, died},
		"dies at its end":    {within(lasts-220*time.Millisecond, lasts), 0, 0, 0, BeNil()},
		"comes back":         {within(3*time.Second, 7*time.Second), 1, 3 * time.Second, 7 * time.Second, BeNil()},
		"begins late":        {within(0, 4*time.Second), 1, 0, 4 * time.Second, BeNil()},
		"more than once":     {within(0, 2*time.Second, 4*time.Second, 7*time.Second), 2, 4 * time.Second, 7 * time.Second, BeNil()},
		"comes back to die":  {within(2*time.Second, 5*time.Second, 6*time.Second, lasts), 1, 2 * time.Second, 5 * time.Second, died},
		"never answers":      {within(0, lasts), 0, 0, 0, BeNil()},
		"stalls for a while": {within(3*time.Second, 3*time.Second+220*time.Millisecond), 0, 0, 0, BeNil()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				p := constant(20, lasts)
				n := &network{answer: mute(tc.dead)}
				_, told, err := inBubble(t, n, Options{Timeout: 700 * time.Millisecond, MaxOutage: time.Hour}).Run(t.Context(), p)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(told.Ended).To(BeEquivalentTo(tc.ended))
				g.Expect(told.Longest.From).To(about(tc.from))
				g.Expect(told.Longest.To).To(about(tc.to))
				g.Expect(told.Last).To(tc.last)
			})
		})
	}
}
