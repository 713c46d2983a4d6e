package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
)

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A run works over TLS with a private authority and a client certificate. Without these,
// or with a wrong certificate, it sends no request.
func TestRunOverTLS_long(t *testing.T) {
	t.Parallel()
	ours, theirs := testbed.NewAuthority(t), testbed.NewAuthority(t)
	future, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	good := ours.Issue(t, "127.0.0.1", future)
	base, _ := servingBuilt(t)
	for _, tc := range []struct {
		name   string
		server tls.Certificate
		tls    *profile.TLS
		says   string // empty if the run passes
	}{
		{"all is right", good, &profile.TLS{CAFile: "ca.pem", CertFile: "client.pem", KeyFile: "client-key.pem"}, ""},
		{"without the authority", good, nil, "certificate signed by unknown authority"},
		{"without the client's certificate", good, &profile.TLS{CAFile: "ca.pem"}, "certificate required"},
		{"of another authority", theirs.Issue(t, "127.0.0.1", future), &profile.TLS{CAFile: "ca.pem"}, "certificate signed by unknown authority"},
		{"expired", ours.Issue(t, "127.0.0.1", past), &profile.TLS{CAFile: "ca.pem"}, "certificate has expired"},
		{"for another host", ours.Issue(t, "elsewhere.example", future), &profile.TLS{CAFile: "ca.pem"}, "doesn't contain any IP SANs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			address, requests := secured(t, base, tc.server, ours)
			profile := profile.Embedded()
			profile.BaseURL, profile.TLS = address, tc.tls
			text, err := profile.YAML("")
			g.Expect(err).NotTo(HaveOccurred())
			file := written(t, "server.yaml", string(text))
			writePEM(t, filepath.Join(filepath.Dir(file), "ca.pem"), "CERTIFICATE", ours.Certificate.Raw)
			client := ours.Issue(t, "client", future)
			writePEM(t, filepath.Join(filepath.Dir(file), "client.pem"), "CERTIFICATE", client.Certificate[0])
			key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
			g.Expect(err).NotTo(HaveOccurred())
			writePEM(t, filepath.Join(filepath.Dir(file), "client-key.pem"), "PRIVATE KEY", key)

			args := []string{runCommand, "--target", address, "--target-profile", file}
			if tc.says == "" {
				results := exitsWith(t, 0, nil, args...).results(t)
				g.Expect(results.Verdict).To(Equal(reports.Passed))
				g.Expect(requests()).To(BeNumerically(">", results.Traffic.Requests-1))
				return
			}
			e := exitsWith(t, exitCannotTell, nil, args...)
			g.Expect(e.stderr).To(And(ContainSubstring("the TLS handshake failed"), ContainSubstring(tc.says), ContainSubstring("tls.ca_file in the profile")))
			g.Expect(requests()).To(BeZero())
		})
	}
}

// secured serves the server at base over TLS for clients with a certificate of the
// authority, and counts the requests.
func secured(t *testing.T, base string, certificate tls.Certificate, clients testbed.Authority) (address string, requests func() int) {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	transport := &http.Transport{MaxIdleConnsPerHost: 64} // with two of them, thousands of connections would take up ports
	proxy.Transport = transport
	t.Cleanup(transport.CloseIdleConnections)
	var came atomic.Int64
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	front.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients.Pool()}
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are expected
	front.StartTLS()
	t.Cleanup(front.Close)
	return front.URL, func() int { return int(came.Load()) }
}
