package generate

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/measure"
)

// scripted is a server that runs a script for each connection, counted from 1.
type scripted struct {
	URL  string
	open atomic.Int64
}

func newScripted(t *testing.T, serve func(n int64, conn net.Conn, requests *bufio.Reader)) *scripted {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{URL: "http://" + listener.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			n := s.open.Add(1)
			go func() {
				defer func() { _ = conn.Close() }()
				serve(n, conn, bufio.NewReader(conn))
			}()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return s
}

// direct is a proxy function without a proxy.
func direct(*http.Request) (*url.URL, error) { return nil, nil }

func testTransport(t *testing.T, config *tls.Config) *http.Transport {
	tr := newTransport(Options{Timeout: time.Hour, TLSConfig: config}, direct)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// ask sends a request and reads the whole response.
func ask(ctx context.Context, tr *http.Transport, method, address, sent string) (*http.Response, string, error) {
	var body io.Reader
	if sent != "" {
		body = strings.NewReader(sent)
	}
	r, err := http.NewRequestWithContext(new(attempts).within(ctx), method, address, body)
	if err != nil {
		return nil, "", err
	}
	response, err := tr.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response, string(text), errors.Join(err, response.Body.Close())
}

// Encrypted connections are kept too, and use HTTP/1.1 although the server offers
// HTTP/2.
func TestConnectionsAreKept(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"plain": (*httptest.Server).Start, "encrypted": (*httptest.Server).StartTLS} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var opened atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, r.Proto)
			}))
			server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					opened.Add(1)
				}
			}
			server.EnableHTTP2 = true
			start(server)
			defer server.Close()
			roots := x509.NewCertPool()
			if server.Certificate() != nil {
				roots.AddCert(server.Certificate())
			}
			tr := testTransport(t, &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
			for range 3 {
				_, body, err := ask(context.Background(), tr, "GET", server.URL, "")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(body).To(Equal("HTTP/1.1"))
			}
			g.Expect(opened.Load()).To(BeEquivalentTo(1))
		})
	}
}

// A server that closes a busy connection has dropped a request. It counts as failed
// and is not sent again. One that closes an idle connection has dropped nothing: a
// GET is sent again.
func TestDroppedRequests(t *testing.T) {
	const idle, busy = 0, time.Hour // the least idle time: no connection rests an hour
	for name, tc := range map[string]struct {
		method    string
		leastIdle time.Duration
		repeated  bool
	}{
		"GET on an idle connection": {"GET", idle, true},
		"GET on a busy connection":  {"GET", busy, false},
		"POST on a busy connection": {"POST", busy, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var came atomic.Int64
			server, tr := newScripted(t, func(n int64, conn net.Conn, requests *bufio.Reader) {
				for i := 1; ; i++ {
					if _, err := http.ReadRequest(requests); err != nil {
						return
					}
					came.Add(1)
					if n == 1 && i == 2 {
						return
					}
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				}
			}), testTransport(t, nil)
			tr.Proxy = stopRepeats(direct, tc.leastIdle)
			_, _, err := ask(context.Background(), tr, tc.method, server.URL, "")
			g.Expect(err).NotTo(HaveOccurred())
			_, body, err := ask(context.Background(), tr, tc.method, server.URL, "")
			if tc.repeated {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(body).To(Equal("ok"))
				g.Expect(came.Load()).To(BeEquivalentTo(3))
			} else {
				g.Expect(failureOf(err)).To(Equal(measure.FailureReset), "%v", err)
				g.Expect(came.Load()).To(BeEquivalentTo(2))
			}
		})
	}
	t.Run("no request on a connection that was closed before", func(t *testing.T) {
		g := NewWithT(t)
		closed := make(chan struct{}, 1)
		server, tr := newScripted(t, func(_ int64, conn net.Conn, requests *bufio.Reader) {
			_, _ = http.ReadRequest(requests)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			_ = conn.Close()
			closed <- struct{}{}
		}), testTransport(t, nil)
		tr.Proxy = stopRepeats(direct, busy)
		for range 20 {
			_, body, err := ask(context.Background(), tr, "GET", server.URL, "")
			g.Expect(body, err).To(Equal("ok"))
			<-closed
		}
	})
}
