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
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// scripted is a server whose connections, counted from 1, do as they are told.
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

// answering answers every request with the text.
func answering(text string) func(int64, net.Conn, *bufio.Reader) {
	return func(_ int64, conn net.Conn, requests *bufio.Reader) {
		for {
			r, err := http.ReadRequest(requests)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(conn, text)
		}
	}
}

func testWire(t *testing.T, config *tls.Config) *wire {
	w := newWire(time.Hour, config)
	t.Cleanup(w.CloseIdleConnections)
	return w
}

// ask sends a request and reads the whole answer.
func ask(ctx context.Context, w *wire, method, address, sent string) (*http.Response, string, error) {
	var body io.Reader
	if sent != "" {
		body = strings.NewReader(sent)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, "", err
	}
	answer, err := w.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(answer.Body)
	return answer, string(text), errors.Join(err, answer.Body.Close())
}

func TestConnectionsAreKept(t *testing.T) {
	const length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	for name, tc := range map[string]struct {
		method, answer, body string
		status               int
		opened               int64 // connections for three requests
	}{
		"length":             {"GET", length, "hello", 200, 1},
		"a body is sent":     {"POST", length, "hello", 200, 1},
		"chunks":             {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello", 200, 1},
		"trailers":           {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n5\r\nhello\r\n0\r\nDigest: x\r\n\r\n", "hello", 200, 1},
		"no body":            {"DELETE", "HTTP/1.1 204 No Content\r\n\r\n", "", 204, 1},
		"head":               {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "", 200, 1},
		"announced":          {"GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + length, "hello", 200, 1},
		"to be closed":       {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", "hello", 200, 3},
		"an older protocol":  {"GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200, 3},
		"another protocol":   {"GET", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "", 101, 3},
		"more than asked":    {"GET", length + length, "hello", 200, 3},
		"a body of too much": {"DELETE", "HTTP/1.1 204 No Content\r\n\r\nhello", "", 204, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server, w := newScripted(t, answering(tc.answer)), testWire(t, nil)
			for range 3 {
				sent := ""
				if tc.method == "POST" {
					sent = "{}"
				}
				answer, body, err := ask(context.Background(), w, tc.method, server.URL, sent)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(answer.StatusCode).To(Equal(tc.status))
				g.Expect(body).To(Equal(tc.body))
			}
			g.Expect(server.open.Load()).To(Equal(tc.opened))
		})
	}
}

func TestEncryptedConnectionsAreKept(t *testing.T) {
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
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	w := testWire(t, &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
	for range 3 {
		_, body, err := ask(context.Background(), w, "GET", server.URL, "")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(body).To(Equal("HTTP/1.1"))
	}
	g.Expect(opened.Load()).To(BeEquivalentTo(1))
	_, _, err := ask(context.Background(), testWire(t, nil), "GET", server.URL, "")
	g.Expect(err).To(MatchError(ContainSubstring("certificate")))
}

// Servers close connections that are idle, or all after one answer, and do not
// say so. No request is lost by it, and none is sent twice that must not be.
func TestConnectionsThatServersClose(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	t.Run("before the next request", func(t *testing.T) {
		g := NewWithT(t)
		server, w := newScripted(t, func(_ int64, conn net.Conn, requests *bufio.Reader) {
			_, _ = http.ReadRequest(requests)
			_, _ = io.WriteString(conn, answer)
		}), testWire(t, nil)
		for range 3 {
			_, body, err := ask(context.Background(), w, "POST", server.URL, "")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(body).To(Equal("ok"))
			g.Eventually(func() bool { return w.idle[0].probe.quiet() }).Should(BeFalse())
		}
		g.Expect(server.open.Load()).To(BeEquivalentTo(3))
	})
	idle, busy := -time.Second, time.Hour // since when: a machine that is slow must not make an idle one of a busy one
	for name, tc := range map[string]struct {
		method   string
		since    time.Duration
		repeated bool
	}{
		"upon a GET after a rest":  {"GET", idle, true},
		"upon a GET amid others":   {"GET", busy, false},
		"upon a POST after a rest": {"POST", idle, false},
		"upon a POST amid others":  {"POST", busy, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var came atomic.Int64
			server, w := newScripted(t, func(n int64, conn net.Conn, requests *bufio.Reader) {
				for i := 1; ; i++ {
					if _, err := http.ReadRequest(requests); err != nil {
						return
					}
					came.Add(1)
					if n == 1 && i == 2 {
						return
					}
					_, _ = io.WriteString(conn, answer)
				}
			}), testWire(t, nil)
			_, _, err := ask(context.Background(), w, tc.method, server.URL, "")
			g.Expect(err).NotTo(HaveOccurred())
			w.idle[0].since = time.Now().Add(tc.since)
			_, body, err := ask(context.Background(), w, tc.method, server.URL, "")
			if tc.repeated {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(body).To(Equal("ok"))
				g.Expect(came.Load()).To(BeEquivalentTo(3))
			} else {
				g.Expect(failureOf(err)).To(Equal("reset"))
				g.Expect(came.Load()).To(BeEquivalentTo(2))
			}
		})
	}
	t.Run("upon the first request", func(t *testing.T) {
		g := NewWithT(t)
		server, w := newScripted(t, func(int64, net.Conn, *bufio.Reader) {}), testWire(t, nil)
		_, _, err := ask(context.Background(), w, "GET", server.URL, "")
		g.Expect(failureOf(err)).To(Equal("reset"))
		g.Expect(server.open.Load()).To(BeEquivalentTo(1))
	})
}

func TestConnectionsThatNobodyNeedsAreClosed(t *testing.T) {
	g := NewWithT(t)
	server, w := newScripted(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")), testWire(t, nil)
	get := func() *http.Response {
		r, err := http.NewRequest("GET", server.URL, nil)
		g.Expect(err).NotTo(HaveOccurred())
		answer, err := w.RoundTrip(r)
		g.Expect(err).NotTo(HaveOccurred())
		return answer
	}
	first, second := get(), get()
	for _, answer := range []*http.Response{first, second} {
		_, err := io.Copy(io.Discard, answer.Body)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(w.idle).To(HaveLen(2))
	w.idle[0].since = w.idle[0].since.Add(-2 * maxIdle)
	old := w.idle[0].probe
	_, _, err := ask(context.Background(), w, "GET", server.URL, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.idle).To(HaveLen(1), "the older one has made way")
	g.Expect(old.quiet()).To(BeFalse())
	w.idle[0].since = w.idle[0].since.Add(-2 * maxIdle)
	_, _, err = ask(context.Background(), w, "GET", server.URL, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(server.open.Load()).To(BeEquivalentTo(3), "one that is too old is not used")
}

func TestAnswersThatAreNotReadEndTheirConnection(t *testing.T) {
	g := NewWithT(t)
	server, w := newScripted(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")), testWire(t, nil)
	r, err := http.NewRequest("GET", server.URL, nil)
	g.Expect(err).NotTo(HaveOccurred())
	answer, err := w.RoundTrip(r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.Body.Close()).To(Succeed())
	g.Expect(w.idle).To(BeEmpty())
}
