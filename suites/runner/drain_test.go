package runner

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
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
			data := dataset.DefaultOptions()
			data.Rows = *rows
			server, err := target.Embedded(t.Context(), data, refserver.Options{Limiters: map[string]limiter.Config{}})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
			limit := server.Profile.RateLimit
			limit.Requests, limit.Per, limit.Budget = tc.requests, tc.per, tc.budget
			var token string
			for _, k := range server.Profile.Keys {
				if k.Name == limit.Key {
					token = k.Token
				}
			}
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
