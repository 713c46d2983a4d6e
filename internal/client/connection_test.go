package client

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestConnectionsAreReused(t *testing.T) {
	g := NewWithT(t)
	const concurrency = 8
	var opened, arrived atomic.Int32
	all := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if arrived.Add(1) == concurrency {
			close(all)
		}
		<-all // so that each request of the first round needs a connection
		_, _ = io.WriteString(w, "{}")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	c := newClient(t, Options{BaseURL: server.URL, Concurrency: concurrency})
	for range 4 {
		for _, e := range c.All(t.Context(), slices.Repeat([]Request{get("/")}, concurrency)) {
			g.Expect(e.Err).NotTo(HaveOccurred())
		}
	}
	g.Expect(opened.Load()).To(BeEquivalentTo(concurrency))
}

// A loss on a kept connection differs from a loss on a new one.
func TestKeptConnectionThatCloses(t *testing.T) {
	g := NewWithT(t)
	aborts := false
	c := serve(t, Options{Concurrency: 1}, func(http.ResponseWriter, *http.Request) {
		if aborts {
			panic(http.ErrAbortHandler)
		}
	})
	post := Request{Method: http.MethodPost, Path: "/"}
	g.Expect(c.Do(t.Context(), post).StaleConnection).To(BeFalse())
	aborts = true
	lost := c.Do(t.Context(), post)
	g.Expect(lost.Err).To(MatchError(ErrProtocol))
	g.Expect(lost.StaleConnection).To(BeTrue())
	again := c.Do(t.Context(), post)
	g.Expect(again.Err).To(MatchError(ErrProtocol))
	g.Expect(again.StaleConnection).To(BeFalse(), "on a new connection")
}

func TestPace(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	var sent []time.Time
	c := paced(t, clock, 10, func() { sent = append(sent, clock.Now()) })
	for range 21 {
		g.Expect(c.Do(t.Context(), get("/")).Err).NotTo(HaveOccurred())
	}
	g.Expect(sent[20].Sub(sent[0])).To(BeNumerically("~", 2*time.Second, 10*time.Millisecond))
	for i := range sent[1:] {
		g.Expect(sent[i+1].Sub(sent[i])).To(BeNumerically(">", 99*time.Millisecond))
	}
}

func paced(t *testing.T, clock *fakeClock, requestsPerSecond float64, sent func()) *Client {
	return newClient(t, Options{BaseURL: "http://host", RequestsPerSecond: requestsPerSecond, Now: clock.Now, Sleep: clock.Sleep,
		Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			sent()
			return answer(http.StatusOK, nil), nil
		})})
}

func TestGetIsRepeatedOnceWhenTheConnectionCloses(t *testing.T) {
	for _, tc := range []struct {
		method   string
		closings int32
		kind     error
		hits     int32
	}{
		{http.MethodGet, 1, nil, 2},
		{http.MethodGet, 9, ErrProtocol, 2},
		{http.MethodPost, 1, ErrProtocol, 1},
		{http.MethodDelete, 1, ErrProtocol, 1},
	} {
		t.Run(fmt.Sprint(tc.method, tc.closings), func(t *testing.T) {
			g := NewWithT(t)
			var hits atomic.Int32
			c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				if hits.Add(1) <= tc.closings {
					panic(http.ErrAbortHandler)
				}
			})
			e := c.Do(t.Context(), Request{Method: tc.method, Path: "/"})
			if tc.kind == nil {
				g.Expect(e.Err).NotTo(HaveOccurred())
			} else {
				g.Expect(e.Err).To(MatchError(tc.kind))
			}
			g.Expect(hits.Load()).To(Equal(tc.hits))
			g.Expect(c.Traffic().Requests).To(BeEquivalentTo(tc.hits))
			g.Expect(c.Traffic().Reconnected).To(BeEquivalentTo(tc.hits - 1))
		})
	}
}

func TestInvalidTLSOptions(t *testing.T) {
	g := NewWithT(t)
	_, err := New(Options{BaseURL: "https://127.0.0.1", TLSConfig: &tls.Config{InsecureSkipVerify: true}})
	g.Expect(err).To(MatchError(ContainSubstring("does not verify certificates")))
	_, err = New(Options{BaseURL: "https://127.0.0.1", TLSConfig: &tls.Config{}, Transport: http.DefaultTransport})
	g.Expect(err).To(MatchError(ContainSubstring("both TLSConfig and Transport")))
}

// endless is a body without an end that counts the bytes read.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func (e *endless) Close() error { return nil }

// A body that is too long is neither read further nor kept, because many exchanges are in
// memory at once.
func TestLongBodyIsTruncated(t *testing.T) {
	const most = 1 << 20
	for name, tc := range map[string]struct{ length, read int64 }{
		"of unknown length":    {-1, most + 1},
		"that says its length": {most + 1, truncatedBody},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			body := &endless{}
			c, err := New(Options{BaseURL: "http://host", MaxBody: most, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: tc.length, Request: r}, nil
			})})
			g.Expect(err).NotTo(HaveOccurred())
			e := c.Do(t.Context(), Request{Path: "/"})
			g.Expect(e.Err).NotTo(HaveOccurred())
			g.Expect(e.Truncated).To(BeTrue())
			g.Expect(body.read).To(Equal(tc.read))
			g.Expect(e.Body).To(HaveLen(truncatedBody))
			g.Expect(cap(e.Body)).To(BeNumerically("<", 2*truncatedBody))
		})
	}
}

func TestMalformed(t *testing.T) {
	for sent, want := range map[string]bool{
		"<!DOCTYPE HTML>\r\n\r\n":                true, // two words, as in HTTP/0.9
		"<html>\r\n\r\n":                         true,
		"HTML/1.1 200 OK\r\n\r\n":                true,
		"HTTP/1.1 fine OK\r\n\r\n":               true,
		"HTTP/1.1 200 OK\r\n\r\n":                false,
		"HTTP/1.1 20":                            false, // the connection was lost
		"HTT":                                    false,
		"":                                       false,
		"HTTP/1.1 200 OK\r\nContent-Len":         false,
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r": false,
	} {
		t.Run(sent, func(t *testing.T) {
			c := newClient(t, Options{BaseURL: sendsOnly(t, sent)})
			NewWithT(t).Expect(c.Do(t.Context(), get("/")).Malformed).To(Equal(want))
		})
	}
}

// What may be the beginning of a response is never malformed: the connection may have
// been lost.
func FuzzMalformed(f *testing.F) {
	whole := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	for n := range len(whole) {
		f.Add([]byte(whole[:n]))
	}
	f.Add([]byte("<!DOCTYPE HTML>\r\n"))
	begins := regexp.MustCompile(`^HTTP/1\.[01] [0-9]{3} `)
	f.Fuzz(func(t *testing.T, sent []byte) {
		answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(sent)), nil)
		if err == nil {
			_ = answer.Body.Close()
		}
		partial := strings.HasPrefix("HTTP/1.1 200 ", string(sent)) || begins.Match(sent)
		if malformed(err) && (err == nil || partial) {
			t.Errorf("%q is called malformed: %v", sent, err)
		}
	})
}

// sendsOnly starts a server that sends the bytes after each request, whatever
// they are, and closes the connection.
func sendsOnly(t *testing.T, sent string) (address string) {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, _ = io.WriteString(conn, sent)
	})
}

// A request knows what its connection carried before, and a fresh one carried nothing.
func TestWhatAConnectionCarriedBefore(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"plain": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				status, _ := strconv.Atoi(r.URL.Query().Get("status"))
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "{}")
			}))
			start(server)
			defer server.Close()
			options := Options{BaseURL: server.URL, Concurrency: 1}
			if certificate := server.Certificate(); certificate != nil {
				options.TLSConfig = &tls.Config{RootCAs: x509.NewCertPool()}
				options.TLSConfig.RootCAs.AddCert(certificate)
			}
			c := newClient(t, options)
			send := func(method, status, body string, fresh bool) Exchange {
				e := c.Do(t.Context(), Request{Method: method, Path: "/p", Query: url.Values{"status": {status}}, Body: []byte(body), Fresh: fresh})
				g.Expect(e.Err).NotTo(HaveOccurred())
				return e
			}
			g.Expect(send("POST", "401", "{}", false).Reused).To(BeFalse())
			fresh := send("GET", "200", "", true)
			g.Expect(fresh.Reused).To(BeFalse())
			g.Expect(fresh.AfterBody).To(BeEmpty())
			next := send("GET", "200", "", false)
			g.Expect(next.Reused).To(BeTrue())
			g.Expect(next.AfterBody).To(Equal("POST /p, answered with 401"))
			g.Expect(send("POST", "200", "{}", false).AfterBody).To(BeEmpty(), "after a request without a body")
			g.Expect(send("GET", "401", "", false).AfterBody).To(BeEmpty(), "after a request that was accepted")
		})
	}
}
