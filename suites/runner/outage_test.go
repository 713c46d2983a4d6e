package runner

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// stalling answers the first requests and lets all others wait.
func stalling(after int64, came *atomic.Int64) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		if came.Add(1) > after {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return http.DefaultTransport.RoundTrip(r)
	}
}

// A target that stops answering is given up, not waited for request by request.
func TestTargetStalls(t *testing.T) {
	for _, tc := range []struct {
		name        string
		after       int64
		concurrency int
	}{
		{"from the beginning", 0, 16},
		{"in the middle", 400, 16},
		{"one request at a time", 40, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			profile := *server.Profile
			profile.Pace.Timeout, profile.Pace.Concurrency = 250*time.Millisecond, tc.concurrency
			patient, err := target.URL(&profile, server.BaseURL)
			g.Expect(err).NotTo(HaveOccurred())
			before := tests(t, server)
			journals := t.TempDir()
			var came atomic.Int64
			results := judged(t, t.Context(), Config{Target: patient, Transport: stalling(tc.after, &came), JournalDir: journals})

			g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
			g.Expect(results.ExitCode()).To(Equal(3))
			g.Expect(results.Run.Interrupted).To(BeFalse(), "nobody interrupted it")
			g.Expect(results.Reasons[0]).To(And(HavePrefix("the target stopped responding: 5 requests in a row had no response within 250ms each"), ContainSubstring("pace.timeout")))
			g.Expect(results.Troubles).To(ContainElement(reports.Trouble{Where: "target", What: results.Reasons[0]}))
			g.Expect(results.Troubles).NotTo(ContainElement(HaveField("What", ContainSubstring("answered 0"))))
			g.Expect(results.Run.Specs).To(BeNumerically("<", len(suites.Specs())/2))
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(len(of(results, reports.NotAssessed))).To(BeNumerically(">", len(spec.Pairs())/4))
			for _, c := range results.Checks {
				if c.Outcome == reports.NotAssessed {
					g.Expect(c.Missing).To(ContainElement("answers: the target stopped responding"), "%s on %s", c.Requirement, c.Operation)
				}
			}
			// What was under way when it began to stall, and what that left to put back.
			g.Expect(came.Load()-tc.after).To(BeNumerically("<", 100), "requests that were sent in vain")

			_, err = sandbox.Cleanup(t.Context(), server, journals, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.ReadDir(journals)).To(BeEmpty())
			g.Expect(tests(t, server)).To(Equal(before))
		})
	}
}

func TestSilence(t *testing.T) {
	g := NewWithT(t)
	ctx, giveUp := context.WithCancelCause(t.Context())
	quiet := newOutage(30*time.Second, giveUp)
	hear := func(err error, times int) {
		for range times {
			quiet.Observe(err)
		}
	}
	hear(client.ErrTimeout, maxTimeouts-1)
	hear(nil, 1)
	hear(client.ErrTimeout, maxTimeouts-1)
	hear(client.ErrRefused, 1)
	hear(client.ErrTimeout, maxTimeouts-1)
	hear(client.ErrCanceled, 1) // says nothing either way
	g.Expect(ctx.Err()).NotTo(HaveOccurred())
	g.Expect(quiet.Err()).NotTo(HaveOccurred())
	hear(client.ErrTimeout, 1)
	g.Expect(context.Cause(ctx)).To(MatchError(outage.ErrStopped))
	said := quiet.Err()
	g.Expect(errors.Is(said, outage.ErrStopped)).To(BeTrue())
	hear(nil, 1)
	hear(client.ErrTimeout, maxTimeouts)
	g.Expect(quiet.Err()).To(BeIdenticalTo(said), "the first word is the last")
}
