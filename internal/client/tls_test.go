package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
)

func TestTLS(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	future, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	mine := own.issue(t, "client", future)
	for _, tc := range []struct {
		name   string
		server tls.Certificate
		asks   bool // requires a client certificate
		shows  *tls.Config
		want   string // in the error; empty if the request goes through
	}{
		{"own authority", own.issue(t, "127.0.0.1", future), false, &tls.Config{RootCAs: own.pool()}, ""},
		{"unknown authority", own.issue(t, "127.0.0.1", future), false, nil, "unknown authority"},
		{"another authority", own.issue(t, "127.0.0.1", future), false, &tls.Config{RootCAs: other.pool()}, "unknown authority"},
		{"another host's certificate", own.issue(t, "elsewhere.example", future), false, &tls.Config{RootCAs: own.pool()}, "127.0.0.1"},
		{"expired certificate", own.issue(t, "127.0.0.1", past), false, &tls.Config{RootCAs: own.pool()}, "expired"},
		{"client certificate", own.issue(t, "127.0.0.1", future), true, &tls.Config{RootCAs: own.pool(), Certificates: []tls.Certificate{mine}}, ""},
		{"no client certificate", own.issue(t, "127.0.0.1", future), true, &tls.Config{RootCAs: own.pool()}, "certificate required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{Certificates: []tls.Certificate{tc.server}}
			if tc.asks {
				server.TLS.ClientAuth, server.TLS.ClientCAs = tls.RequireAndVerifyClientCert, own.pool()
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

// authority is a certificate authority for one test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority makes an authority that nobody else trusts.
func newAuthority(t testing.TB) authority {
	t.Helper()
	certificate, key := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotAfter: time.Now().Add(time.Hour),
	}, nil)
	return authority{certificate, key}
}

// sign makes a certificate; without an authority it signs itself.
func sign(t testing.TB, template *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	if by == nil {
		by = &authority{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// issue returns a certificate of the authority for a host, or a client, that is
// valid until then.
func (a authority) issue(t testing.TB, host string, until time.Time) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "leaf of a test"}, NotBefore: time.Unix(0, 0), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	certificate, key := sign(t, template, &a)
	return tls.Certificate{Certificate: [][]byte{certificate.Raw}, PrivateKey: key, Leaf: certificate}
}

// pool holds the authority alone.
func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}
