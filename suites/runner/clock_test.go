package runner

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
)

// Each second of a run goes into one sum.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		pass := func(seconds int) { time.Sleep(time.Duration(seconds) * time.Second) }
		c.enter(judging, +1)
		c.enter(exceeding, +1)
		pass(1) // judging: bodies run
		c.enter(client.Throttled, +1)
		c.enter(probing, +1)
		pass(10) // throttled: only the probe sends
		c.enter(client.Sending, +1)
		pass(2) // judging
		c.enter(client.Sending, -1)
		c.enter(client.Throttled, -1)
		c.enter(client.Paced, +1)
		pass(100) // paced
		c.enter(client.Paced, -1)
		c.enter(judging, -1)
		pass(700) // the rate limit: nothing else runs
		c.enter(probing, -1)
		c.enter(client.Throttled, +1)
		pass(300) // still: until its limit resets
		c.enter(client.Throttled, -1)
		c.enter(exceeding, -1)
		pass(4) // judging: rolling back
		NewWithT(t).Expect(c.total()).To(Equal(&reports.Time{Judging: 7, InFlight: 2, Throttled: 10, Paced: 100, RateLimit: 1000}))
	})
}
