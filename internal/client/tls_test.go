package client_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"
)

func TestTLS(t *testing.T) {
	own, other := testbed.NewAuthority(t), testbed.NewAuthority(t)
	future, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	mine := own.Issue(t, "client", future)
	for _, tc := range []struct {
		name   string
		server tls.Certificate
		asks   bool // requires a client certificate
		shows  *tls.Config
		want   string // in the error; empty if the request goes through
	}{
		{"own authority", own.Issue(t, "127.0.0.1", future), false, &tls.Config{RootCAs: own.Pool()}, ""},
		{"unknown authority", own.Issue(t, "127.0.0.1", future), false, nil, "unknown authority"},
		{"another authority", own.Issue(t, "127.0.0.1", future), false, &tls.Config{RootCAs: other.Pool()}, "unknown authority"},
		{"another host's certificate", own.Issue(t, "elsewhere.example", future), false, &tls.Config{RootCAs: own.Pool()}, "127.0.0.1"},
		{"expired certificate", own.Issue(t, "127.0.0.1", past), false, &tls.Config{RootCAs: own.Pool()}, "expired"},
		{"client certificate", own.Issue(t, "127.0.0.1", future), true, &tls.Config{RootCAs: own.Pool(), Certificates: []tls.Certificate{mine}}, ""},
		{"no client certificate", own.Issue(t, "127.0.0.1", future), true, &tls.Config{RootCAs: own.Pool()}, "certificate required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{Certificates: []tls.Certificate{tc.server}}
			if tc.asks {
				server.TLS.ClientAuth, server.TLS.ClientCAs = tls.RequireAndVerifyClientCert, own.Pool()
			}
			server.StartTLS()
			defer server.Close()
			c, err := client.New(client.Options{BaseURL: server.URL, TLSConfig: tc.shows})
			g.Expect(err).NotTo(HaveOccurred())
			defer c.Close()
			got := c.Do(t.Context(), client.Request{Path: "/"})
			if tc.want == "" {
				g.Expect(got.Err).NotTo(HaveOccurred())
				g.Expect(got.Status).To(Equal(http.StatusNoContent))
				return
			}
			g.Expect(got.Err).To(MatchError(client.ErrTLS))
			g.Expect(got.Err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
