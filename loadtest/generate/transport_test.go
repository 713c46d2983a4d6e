package generate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

// few returns a phase of 20 requests in 100 ms, which are all sent however busy the
// machine is.
func few(q Request) Phase {
	return Phase{Name: "few", Schedule: measure.Constant(200, 100*time.Millisecond), LateTolerance: time.Minute,
		Mix: func(uint64) Request { return q }}
}

func TestWhatGoesOverTheWire(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	var seen []*http.Request
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen, bodies = append(seen, r), append(bodies, string(body))
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte("hello"))
	}))
	defer server.Close()
	generator := newGenerator(t, Options{BaseURL: server.URL + "/prefix/"}, fineSleep)
	r := run(t, generator, few(Request{Label: "post", Method: "POST", Path: "/a%2Fb?limit=10&x=%20y", Body: []byte(`{"a":1}`), Key: client.Key{Name: "main", Token: "secret-token"}}))
	g.Expect(seen).To(HaveLen(20))
	for i, q := range seen {
		g.Expect(q.Method).To(Equal("POST"))
		g.Expect(q.RequestURI).To(Equal("/prefix/a%2Fb?limit=10&x=%20y"))
		g.Expect(q.ProtoMajor).To(Equal(1))
		g.Expect(bodies[i]).To(Equal(`{"a":1}`))
		g.Expect(q.Header).To(Equal(http.Header{
			"User-Agent": {client.UserAgent}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
			"Content-Length": {"7"}, "Authorization": {"Bearer secret-token"},
		}))
	}
	g.Expect(r.Statuses).To(Equal(map[int]int64{201: 20}))
	g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(20))
	g.Expect(r.Bytes).To(BeEquivalentTo(20 * len("hello")))
	g.Expect(r.LabelNames()).To(Equal([]string{"post"}))
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 307} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			g := NewWithT(t)
			var followed atomic.Int64
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
			defer other.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL, status)
			}))
			defer server.Close()
			generator := newGenerator(t, Options{BaseURL: server.URL}, fineSleep)
			r := run(t, generator, few(Request{Path: "/", Key: client.Key{Token: "secret-token"}}))
			g.Expect(followed.Load()).To(BeZero())
			g.Expect(r.Statuses).To(Equal(map[int]int64{status: 20}))
			g.Expect(r.Count(measure.Failed)).To(BeEquivalentTo(20))
		})
	}
}

func TestFailures(t *testing.T) {
	const nobody = "http://127.0.0.1:1"
	wait := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-wait
		case "/hang-in-body":
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			<-wait
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 2000))
		case "/header":
			w.Header().Set("X", strings.Repeat("x", maxHeader))
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(wait) })
	for name, tc := range map[string]struct {
		base, path, failure string
		status              int
		bytes               int64
	}{
		"nobody listens":  {nobody, "/", measure.FailureRefused, 0, 0},
		"no answer":       {server.URL, "/hang", measure.FailureTimeout, 0, 0},
		"no whole answer": {server.URL, "/hang-in-body", measure.FailureTimeout, 200, 1},
		"broken off":      {server.URL, "/cut", measure.FailureReset, 200, 1},
		"too long":        {server.URL, "/long", measure.FailureTooLong, 200, 0},
		"long header":     {server.URL, "/header", measure.FailureLongHeader, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			var taken, cut atomic.Int64
			p := few(Request{Method: "POST", Path: tc.path})
			p.Inspect = func(a inspect.Answer) {
				taken.Add(1)
				if a.Cut {
					cut.Add(1)
				}
				a.Body.Release()
			}
			timeout := time.Minute
			if tc.failure == measure.FailureTimeout {
				timeout = 5 * time.Second // a busy machine must not lose the byte that comes
			}
			generator := newGenerator(t, Options{BaseURL: tc.base, Timeout: timeout, MaxBody: 1000}, fineSleep)
			r := run(t, generator, p)
			g.Expect(r.Sent).To(BeEquivalentTo(20))
			g.Expect(r.Failures).To(Equal(map[string]int64{tc.failure: 20}))
			g.Expect(r.Statuses).To(Equal(map[int]int64{tc.status: 20}))
			g.Expect(r.Bytes).To(Equal(20 * tc.bytes))
			g.Expect(r.Count(measure.Failed)).To(BeEquivalentTo(20))
			if tc.status != 0 {
				g.Expect(taken.Load()).To(BeEquivalentTo(20))
			}
			g.Expect(cut.Load()).To(Equal(taken.Load()), "no part of an answer is taken for the whole")
		})
	}
}

func TestCalibrate(t *testing.T) {
	g := NewWithT(t)
	var inspected atomic.Int64
	c, err := Calibrate(t.Context(), CalibrationOptions{Body: bytes.Repeat([]byte("x"), 5000),
		Inspect: func(a inspect.Answer) { inspected.Add(1); a.Body.Release() }})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Ceiling).To(BeNumerically(">", 100))
	g.Expect(c.Rate).To(Equal(c.Ceiling / 2))
	g.Expect(c.Lag.Samples).To(BeNumerically(">", 0))
	g.Expect(c.Shared).To(BeTrue())
	g.Expect(inspected.Load()).To(BeNumerically(">", 50))

	busy := measure.Recording{}
	busy.Plan = measure.Constant(0.9*c.Ceiling, time.Second)
	g.Expect(c.Near(busy)).To(And(ContainSubstring("this generator"), ContainSubstring("5000 bytes")))
	busy.Plan.Of = 2 // this process has half of it
	g.Expect(c.Near(busy)).To(BeEmpty())

	_, err = Calibrate(t.Context(), CalibrationOptions{Child: []string{"/does/not/exist"}})
	g.Expect(err).To(MatchError(ContainSubstring("null server")))
}

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
func ask(ctx context.Context, tr *http.Transport, method, address string) (string, error) {
	r, err := http.NewRequestWithContext(new(attempts).within(ctx), method, address, nil)
	if err != nil {
		return "", err
	}
	response, err := tr.RoundTrip(r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return string(text), errors.Join(err, response.Body.Close())
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
				body, err := ask(t.Context(), tr, "GET", server.URL)
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
		came      int64 // requests
	}{
		"GET on an idle connection": {"GET", idle, 3},
		"GET on a busy connection":  {"GET", busy, 2},
		"POST on a busy connection": {"POST", busy, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var came atomic.Int64
			server, tr := newScripted(t, func(n int64, conn net.Conn, requests *bufio.Reader) {
				for i := 1; ; i++ {
					if _, err := http.ReadRequest(requests); err != nil {
						return
					}
					if came.Add(1); n == 1 && i == 2 {
						return
					}
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				}
			}), testTransport(t, nil)
			tr.Proxy = stopRepeats(direct, tc.leastIdle)
			_, err := ask(t.Context(), tr, tc.method, server.URL)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = ask(t.Context(), tr, tc.method, server.URL)
			g.Expect(err != nil).To(Equal(tc.came == 2))
			if err != nil {
				g.Expect(failureOf(err)).To(Equal(measure.FailureReset), "%v", err)
			}
			g.Expect(came.Load()).To(Equal(tc.came))
		})
	}
}

func decodeRaw(t *testing.T, raw []byte) vegeta.Results {
	t.Helper()
	decode := vegeta.DecoderFor(bytes.NewReader(raw))
	if decode == nil {
		t.Fatal("Vegeta does not know the encoding")
	}
	var results vegeta.Results
	for {
		var r vegeta.Result
		if err := decode(&r); errors.Is(err, io.EOF) {
			return results
		} else if err != nil {
			t.Fatal(err)
		}
		results.Add(&r)
	}
}

// Vegeta's own reporters read the raw results. Their latencies count from the due time.
func TestVegetaReadsTheRawResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var raw bytes.Buffer
		n := &network{answer: stall(200*time.Millisecond, 700*time.Millisecond)}
		generator := inBubble(t, n, Options{Raw: &raw, Workers: 10})
		first, inspected := constant(100, time.Second), 0
		warm := constant(10, time.Second) // is neither inspected nor raw
		warm.Warmup, warm.Inspect = true, func(inspect.Answer) { inspected++ }
		run(t, generator, warm)
		n.answer = stall(200*time.Millisecond, 700*time.Millisecond)
		r := run(t, generator, first)
		second := first
		second.Name = "second"
		run(t, generator, second)

		results := decodeRaw(t, raw.Bytes())
		g.Expect(results).To(HaveLen(200))
		g.Expect(inspected).To(BeZero())
		var metrics vegeta.Metrics
		seen := map[uint64]bool{}
		for _, result := range results {
			if result.Attack != "test" {
				continue
			}
			metrics.Add(&result)
			g.Expect(result.Seq).To(BeNumerically("<", 100))
			g.Expect(seen).NotTo(HaveKey(result.Seq))
			seen[result.Seq] = true
			g.Expect(result.Timestamp).To(BeTemporally("==", r.Start.Add(first.Schedule.Due(result.Seq))))
			g.Expect(result.URL).To(Equal("http://target.example/a"))
			g.Expect(result.Method).To(Equal("GET"))
			g.Expect(result.Body).To(BeEmpty())
		}
		metrics.Close()
		response, service := r.Response[measure.Accepted].Mean(), r.Service[measure.Accepted].Mean()
		g.Expect(response).To(BeNumerically(">", 2*service), "ten workers are too few: the two differ")
		g.Expect(metrics.Latencies.Mean).To(BeNumerically("~", response, response/100))
		g.Expect(metrics.Requests).To(BeEquivalentTo(100))
		g.Expect(metrics.Success).To(Equal(1.0))
		g.Expect(metrics.BytesIn.Total).To(BeEquivalentTo(200))
		g.Expect(metrics.Latencies.Max).To(BeNumerically("~", 500*time.Millisecond, 10*time.Millisecond))
	})
}

func TestRawResultsHoldNoSecrets(t *testing.T) {
	g := NewWithT(t)
	const token = "secret-token-of-main"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", r.Header.Get("Authorization"))
		w.Header().Set("Retry-After", "3")
		w.Header().Set("RateLimit-Limit", "10")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	defer server.Close()
	var raw bytes.Buffer
	generator := newGenerator(t, Options{BaseURL: server.URL, Raw: &raw}, fineSleep)
	run(t, generator, few(Request{Path: "/", Key: client.Key{Name: "main", Token: token}}))
	g.Expect(raw.String()).NotTo(ContainSubstring(token))
	results := decodeRaw(t, raw.Bytes())
	g.Expect(results).To(HaveLen(20))
	g.Expect(results[0].Code).To(BeEquivalentTo(429))
	g.Expect(results[0].Error).To(Equal("429 Too Many Requests"))
	g.Expect(results[0].Headers).To(HaveKeyWithValue("Retry-After", []string{"3"}))
	g.Expect(results[0].Headers).To(HaveKeyWithValue("Ratelimit-Limit", []string{"10"}))
	g.Expect(results[0].Headers).NotTo(HaveKey("Set-Cookie"))
}
