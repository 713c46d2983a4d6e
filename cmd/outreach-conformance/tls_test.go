package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
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

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/reports"
)

// authority signs certificates, as an organization's own does.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{key: newKey(t)}
	template := certificateFor("test authority", time.Hour)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificateFor(name string, valid time.Duration) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// signs returns a signed certificate and its key.
func (a authority) signs(t *testing.T, template *x509.Certificate) tls.Certificate {
	t.Helper()
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The full profile over TLS, with an authority of one's own and a client
// certificate; and without these, or with a certificate that is not right,
// nothing at all is sent.
func TestRunOverTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	local := func(valid time.Duration) *x509.Certificate {
		template := certificateFor("server", valid)
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		return template
	}
	good := ours.signs(t, local(time.Hour))
	base, _ := servingBuilt(t)
	for _, tc := range []struct {
		name   string
		server tls.Certificate
		tls    *fixtures.TLS
		says   string // empty: the run conforms
	}{
		{"all is right", good, &fixtures.TLS{CAFile: "ca.pem", CertFile: "client.pem", KeyFile: "client-key.pem"}, ""},
		{"without the authority", good, nil, "certificate signed by unknown authority"},
		{"without the client's certificate", good, &fixtures.TLS{CAFile: "ca.pem"}, "certificate required"},
		{"of another authority", theirs.signs(t, local(time.Hour)), &fixtures.TLS{CAFile: "ca.pem"}, "certificate signed by unknown authority"},
		{"expired", ours.signs(t, local(-time.Hour)), &fixtures.TLS{CAFile: "ca.pem"}, "certificate has expired"},
		{"for another host", ours.signs(t, certificateFor("server", time.Hour)), &fixtures.TLS{CAFile: "ca.pem"}, "doesn't contain any IP SANs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			address, requests := secured(t, base, tc.server, ours)
			profile := fixtures.Embedded()
			profile.BaseURL, profile.TLS = address, tc.tls
			text, err := profile.YAML("")
			g.Expect(err).NotTo(HaveOccurred())
			file := written(t, "server.yaml", string(text))
			writePEM(t, filepath.Join(filepath.Dir(file), "ca.pem"), "CERTIFICATE", ours.certificate.Raw)
			client := ours.signs(t, certificateFor("client", time.Hour))
			writePEM(t, filepath.Join(filepath.Dir(file), "client.pem"), "CERTIFICATE", client.Certificate[0])
			key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
			g.Expect(err).NotTo(HaveOccurred())
			writePEM(t, filepath.Join(filepath.Dir(file), "client-key.pem"), "PRIVATE KEY", key)

			args := []string{runCommand, "--target", address, "--target-profile", file}
			if tc.says == "" {
				results := exitsWith(t, 0, nil, args...).results(t)
				g.Expect(results.Verdict).To(Equal(reports.Conforms))
				g.Expect(requests()).To(BeNumerically(">", results.Traffic.Requests-1))
				return
			}
			e := exitsWith(t, exitCannotTell, nil, args...)
			g.Expect(e.stderr).To(And(ContainSubstring("the TLS handshake failed"), ContainSubstring(tc.says), ContainSubstring("tls.ca_file in the profile")))
			g.Expect(requests()).To(BeZero())
		})
	}
}

// secured serves the server at base over TLS, for who has a certificate of the
// authority, and counts the requests.
func secured(t *testing.T, base string, certificate tls.Certificate, clients authority) (address string, requests func() int) {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	var came atomic.Int64
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	trusted := x509.NewCertPool()
	trusted.AddCert(clients.certificate)
	front.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted}
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes are meant to fail
	front.StartTLS()
	t.Cleanup(front.Close)
	return front.URL, func() int { return int(came.Load()) }
}
