package runner

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// If a list does not drive the limited key to its limit once, no check of the rate limit
// sends it again in vain. A target that is too slow for its promised limit is not driven
// to it with changes.
func TestOneDrainShowsALimitOutOfReach(t *testing.T) {
	for name, tc := range map[string]struct {
		requests int
		per      time.Duration
		budget   int
		lists    int // requests for the lists that serve for other operations
		missing  string
	}{
		"without a promise":             {0, 0, 48, 48, "a rate limit that 48 requests exceed (rate_limit.budget)"},
		"too slow for what it promises": {1000, time.Microsecond, 8000, 40, "responses quick enough to exceed 1000 requests per 1µs, 8 at a time"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server, err := withRows(*rows, refserver.Options{Limiters: map[string]limiter.Config{}})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
			limit := server.Profile.RateLimit
			limit.Requests, limit.Per, limit.Budget = tc.requests, tc.per, tc.budget
			token := limitedToken(server)
			var mu sync.Mutex
			sent := map[string]int{}
			network := roundTripper(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.Header.Get("Authorization"), token) && r.URL.Query().Get("limit") == "1" {
					mu.Lock()
					sent[r.Method+" "+r.URL.Path]++
					mu.Unlock()
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			results := judged(t, t.Context(), Config{Target: server, Transport: network, Selection: Selection{Requirements: []string{"RATE-429"}}})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(sent).To(HaveKeyWithValue("GET "+spec.MustOperation(spec.ListLeadLists).Path, tc.lists))
			g.Expect(results.Checks).To(ContainElement(And(HaveField("Operation", spec.ListLeadLists), HaveField("Missing", ContainElement(tc.missing)))))
		})
	}
}

// limitedToken is the key of the server that may be driven to its limit.
func limitedToken(server *target.Target) string {
	for _, k := range server.Profile.Keys {
		if k.Name == server.Profile.RateLimit.Key {
			return k.Token
		}
	}
	return ""
}

// The limit's period may pass between the requests that exceed it and the change that it
// must refuse. Then both are sent again, so that no verdict depends on the speed.
func TestThePeriodPassesBeforeTheChange_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	const period = 4 * time.Second
	var passed atomic.Int64 // nanoseconds that passed at once
	clock := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	server := living(t, func() (*target.Target, error) { return limitedBy(clock, period, *rows) })
	token := limitedToken(server)

	var mu sync.Mutex
	inFlight, refused, left := 0, false, 5
	network := roundTripper(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.Header.Get("Authorization"), token) || r.URL.Query().Get("limit") != "1" {
			return http.DefaultTransport.RoundTrip(r)
		}
		mu.Lock()
		// What exceeds the limit comes in batches. The request that checks it comes alone.
		if refused && inFlight == 0 && left > 0 {
			passed.Add(int64(period))
			refused = false
			left--
		}
		inFlight++
		mu.Unlock()
		answer, err := http.DefaultTransport.RoundTrip(r)
		mu.Lock()
		defer mu.Unlock()
		inFlight--
		refused = refused || err == nil && answer.StatusCode == http.StatusTooManyRequests
		return answer, err
	})
	results := judged(t, t.Context(), Config{Target: server, Transport: network, Selection: Selection{Requirements: []string{"RATE-NO-EFFECT"}}})
	g.Expect(unproven(results)).To(BeEmpty())
	g.Expect(left).To(BeZero())
}
