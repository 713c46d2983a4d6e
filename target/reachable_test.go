package target

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
)

func reach(t *testing.T, ctx context.Context, base string) error {
	t.Helper()
	target, err := URL(&fixtures.Profile{Name: "x"}, base)
	if err != nil {
		t.Fatal(err)
	}
	return target.Reachable(ctx)
}

// answering returns the address of a server that answers everything alike.
func answering(t *testing.T, status int, header http.Header) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		if r.Header.Get("Authorization") != "" {
			t.Error("the probe carries a key")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAnyAnswerOfTheServersOwnIsReachable(t *testing.T) {
	for _, status := range []int{200, 204, 400, 401, 402, 403, 404, 405, 418, 429, 500, 501} {
		NewWithT(t).Expect(reach(t, t.Context(), answering(t, status, nil))).To(Succeed(), "%d", status)
	}
	login := answering(t, http.StatusFound, http.Header{"Location": {"https://login.example.com/"}})
	NewWithT(t).Expect(reach(t, t.Context(), login)).To(Succeed(), "a redirect of its own is the server's answer")
}

func TestAnswersThatAreNotTheServers(t *testing.T) {
	for _, tc := range []struct {
		name, prefix string
		status       int
		header       http.Header
		want         string
	}{
		{"gateway without a service", "", 502, nil, "not up"},
		{"service unavailable", "", 503, nil, "not up"},
		{"gateway that waits in vain", "", 504, nil, "not up"},
		{"version given twice", "/api/v2", 404, nil, "leave /api/v2 off"},
		{"site moved to TLS", "", 301, http.Header{"Location": {"https://secure.example.com" + probePath}}, "use that address"},
		{"site moved for good", "", 308, http.Header{"Location": {"http://www.example.com" + probePath}}, "http://www.example.com;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := reach(t, t.Context(), answering(t, tc.status, tc.header)+tc.prefix)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestUnreachableSaysHowFarTheWayWent(t *testing.T) {
	withoutNameServer(t)
	plain := answering(t, 200, nil)
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	go func() {
		for conn, err := silent.Accept(); err == nil; conn, err = silent.Accept() {
			_, _ = conn.Read(make([]byte, 4096))
			_ = conn.Close()
		}
	}()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()

	for _, tc := range []struct{ name, base, step string }{
		{"unknown host", "http://no-such-host.invalid", "resolving its host name failed"},
		{"nobody listens", "http://" + closed.Addr().String(), "connecting failed: nothing listens there"},
		{"no TLS there", strings.Replace(plain, "http:", "https:", 1), "the TLS handshake failed"},
		{"certificate not trusted", untrusted.URL, "the TLS handshake failed"},
		{"no answer", "http://" + silent.Addr().String(), "asking over HTTP failed: the server closed the connection without an answer; check that"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := reach(t, t.Context(), tc.base)
			g := NewWithT(t)
			g.Expect(err).To(MatchError(And(ContainSubstring(tc.step), ContainSubstring(tc.base), ContainSubstring("; "))))
			g.Expect(err).NotTo(MatchError(ContainSubstring("EOF")))
		})
	}
}

func TestStuckServerIsNotReachable(t *testing.T) {
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer stuck.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := reach(t, ctx, stuck.URL)
	g := NewWithT(t)
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(err).To(MatchError(MatchRegexp("asking over HTTP failed: nothing came within [0-9.]+m?s; check that an HTTP server listens there and is not stuck")))
	g.Expect(err).NotTo(MatchError(ContainSubstring("deadline exceeded")))
}

// withoutNameServer keeps name lookups off the network: every one fails.
func withoutNameServer(t *testing.T) {
	t.Helper()
	usual := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = usual })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
}

func TestReachableHeedsTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	NewWithT(t).Expect(reach(t, ctx, server.URL)).To(MatchError(context.Canceled))
}
