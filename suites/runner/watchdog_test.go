package runner

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"outreach.example/conformance/internal/testbed"
	"strings"
	"sync"
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
func TestTargetStalls_long(t *testing.T) {
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
			g.Expect(results.Run.Specs).To(BeNumerically("<", len(suites.Tree.Specs())/2))
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(len(of(results, reports.NotAssessed))).To(BeNumerically(">", len(spec.Pairs())/4))
			for _, c := range results.Checks {
				if c.Outcome == reports.NotAssessed {
					// A check that was under way may name the request that had no response.
					g.Expect(c.Missing).To(ContainElement(Or(Equal("responses: the target stopped responding"), ContainSubstring("no complete response in time"))), "%s on %s", c.Requirement, c.Operation)
				}
			}
			// What was under way when it began to stall, and what that left to put back.
			g.Expect(came.Load()-tc.after).To(BeNumerically("<", 100), "requests that were sent in vain")

			_, err = sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.ReadDir(journals)).To(BeEmpty())
			g.Expect(tests(t, server)).To(Equal(before))
		})
	}
}

// A target that closes every connection without a response is given up too. A series
// that a response interrupts does not count, even a response that is not HTTP.
func TestTargetClosesConnections(t *testing.T) {
	g := NewWithT(t)
	ctx, giveUp := context.WithCancelCause(t.Context())
	dog := newWatchdog(30*time.Second, giveUp)
	closed := client.Exchange{Err: client.ErrProtocol}
	hear := func(ex client.Exchange, times int) {
		for range times {
			dog.observe(ex)
		}
	}
	hear(closed, maxClosed-1)
	hear(client.Exchange{Status: http.StatusOK}, 1)
	hear(closed, maxClosed-1)
	hear(client.Exchange{Err: client.ErrProtocol, Malformed: true}, 1)
	hear(closed, maxClosed-1)
	g.Expect(ended(ctx)).To(BeEmpty())
	hear(closed, 1)
	g.Expect(ended(ctx)).To(ContainSubstring("100 requests in a row had no response: it closed each connection"))
}

func TestSilence(t *testing.T) {
	g := NewWithT(t)
	ctx, giveUp := context.WithCancelCause(t.Context())
	dog := newWatchdog(30*time.Second, giveUp)
	hear := func(err error, times int) {
		for range times {
			dog.observe(client.Exchange{Err: err})
		}
	}
	hear(client.ErrTimeout, maxUnanswered-1)
	hear(nil, 1)
	hear(client.ErrTimeout, maxUnanswered-1)
	hear(client.ErrRefused, 1)
	hear(client.ErrTimeout, maxUnanswered-1)
	hear(client.ErrCanceled, 1) // says nothing either way
	g.Expect(ctx.Err()).NotTo(HaveOccurred())
	g.Expect(ended(ctx)).To(BeEmpty())
	hear(client.ErrTimeout, 1)
	g.Expect(context.Cause(ctx)).To(MatchError(outage.ErrStopped))
	g.Expect(ended(ctx)).To(ContainSubstring("within 30s each"))
}

// refusingAll answers 429 to everything after the first requests.
func refusingAll(after int64, retryAfter string, came *atomic.Int64) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		if came.Add(1) <= after {
			return http.DefaultTransport.RoundTrip(r)
		}
		header := http.Header{"Content-Type": {"application/json"}}
		if retryAfter != "" {
			header.Set("Retry-After", retryAfter)
		}
		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: header, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"statusCode":429,"error":"Too Many Requests","message":"Rate limit exceeded"}`))}, nil
	}
}

// A target that answers nothing but 429 is given up after the profile's patience.
func TestTargetAnswersOnly429_long(t *testing.T) {
	for _, tc := range []struct {
		name, retryAfter string
		patience         time.Duration
		after            int64
		says             string // the first reason
		missing          string // what the checks lack; empty for whatever
	}{
		{"from the beginning", "", time.Second, 0, `^the target answered nothing but 429 for [0-9.]+s \([0-9]+ responses\), so the run ended; .*pace\.patience`, "responses other than 429"},
		{"in the middle", "1", time.Second, 400, `^the target answered nothing but 429 for [0-9.]+s \([0-9]+ responses\), so the run ended; .*pace\.patience`, "responses other than 429"},
		{"for an hour", "3600", 20 * time.Minute, 0, `^the target answered every request with 429 \([0-9,]+\); wait until its limit resets`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			profile := *server.Profile
			profile.Pace.Patience = tc.patience
			throttled, err := target.URL(&profile, server.BaseURL)
			g.Expect(err).NotTo(HaveOccurred())
			var came atomic.Int64
			var mu sync.Mutex
			var waits []string
			results := judged(t, t.Context(), Config{Target: throttled, Transport: refusingAll(tc.after, tc.retryAfter, &came),
				Waits: func(what string, _ time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					waits = append(waits, what)
				}})

			g.Expect(results.Verdict).To(Equal(reports.Inconclusive), "%v", of(results, reports.Fail))
			g.Expect(results.Run.Interrupted).To(BeFalse(), "nobody interrupted it")
			g.Expect(results.Reasons[0]).To(MatchRegexp(tc.says))
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			if tc.missing == "" {
				g.Expect(waits).NotTo(ContainElement(ContainSubstring("429")), "it is not worth waiting")
				return
			}
			g.Expect(results.Checks).To(ContainElement(HaveField("Missing", ContainElement(tc.missing))))
		})
	}
}

// A server that ends in the middle is unreachable. Requests that it took with it are no
// sign of short-lived connections.
func TestServerEnds_long(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	behind, err := url.Parse(server.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	forward := httputil.NewSingleHostReverseProxy(behind)
	forward.ErrorLog = log.New(io.Discard, "", 0)
	var came atomic.Int64
	var front *httptest.Server
	end := sync.OnceFunc(func() {
		_ = front.Listener.Close()
		front.CloseClientConnections()
	})
	front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if came.Add(1) > 400 {
			end()
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	subject, err := target.URL(server.Profile, front.URL)
	g.Expect(err).NotTo(HaveOccurred())
	results := judged(t, t.Context(), Config{Target: subject})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.Reasons[0]).To(And(HavePrefix("the target stopped responding: 5 requests in a row had no response: it is unreachable"), Not(ContainSubstring("keep-alive"))))
	g.Expect(results.Reasons).NotTo(ContainElement(ContainSubstring("keep-alive")))
	g.Expect(of(results, reports.Fail)).To(BeEmpty())
}
