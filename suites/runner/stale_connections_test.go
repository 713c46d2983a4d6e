package runner

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// If a target closes keep-alive connections as requests are sent, the run reports the
// lost requests and the remedy. Losses on new connections have another cause.
func TestStaleConnectionsAreReported_long(t *testing.T) {
	for name, tc := range map[string]struct {
		keeps  bool
		closes func(nth int64, r *http.Request) bool // whether to close the connection instead of its nth response
		says   types.GomegaMatcher                   // the first reason
	}{
		"keep-alive connections": {true, func(nth int64, _ *http.Request) bool { return nth > 1 },
			MatchRegexp("^[0-9]+ requests? got no response: the target closed a keep-alive connection .* \\(keep idle connections open for longer than 4s")},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			behind := embedded(t)
			subject, err := target.URL(behind.Profile, closing(t, behind.BaseURL, tc.keeps, tc.closes))
			g.Expect(err).NotTo(HaveOccurred())
			results := judged(t, t.Context(), Config{Target: subject, Selection: Selection{Operations: []string{spec.CreatePlacementTest}}})
			g.Expect(results.Verdict).To(Equal(reports.Inconclusive), "%v %v", results.Reasons, results.Troubles)
			g.Expect(results.Reasons[0]).To(tc.says)
		})
	}
}

// closing starts a proxy that closes connections without a response.
func closing(t *testing.T, base string, keeps bool, closes func(nth int64, r *http.Request) bool) (address string) {
	t.Helper()
	behind, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(behind)
	type requests struct{}
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if closes(r.Context().Value(requests{}).(*atomic.Int64).Add(1), r) {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	front.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, requests{}, new(atomic.Int64))
	}
	front.Config.SetKeepAlivesEnabled(keeps)
	front.Start()
	t.Cleanup(front.Close)
	return front.URL
}
