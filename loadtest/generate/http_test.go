package generate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

// few returns a phase of 20 requests in 100 ms, which are all sent however busy the
// machine is.
func few(q Request) Phase {
	return Phase{Name: "few", Schedule: schedule.Constant(200, 100*time.Millisecond), LateTolerance: time.Minute,
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
	for _, status := range []int{301, 302, 303, 307, 308} {
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

// net/http's client takes a malformed redirect for an error. It is a response.
func TestMalformedRedirects(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://[::1")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, "elsewhere")
	}))
	defer server.Close()
	var raw bytes.Buffer
	r := run(t, newGenerator(t, Options{BaseURL: server.URL, Raw: &raw}, fineSleep), few(Request{Path: "/"}))
	g.Expect(r.Statuses).To(Equal(map[int]int64{302: 20}))
	g.Expect(r.Bytes).To(BeEquivalentTo(20 * len("elsewhere")))
	g.Expect(r.Failures).To(BeEmpty())
	g.Expect(decodeRaw(t, raw.Bytes())).To(HaveEach(And(HaveField("Code", BeEquivalentTo(302)), HaveField("Error", "302 Found"))))
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
		case "/close":
			panic(http.ErrAbortHandler)
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 2000))
		case "/nonsense":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte("nonsense\r\n\r\n"))
				_ = conn.Close()
			}
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
		"closed":          {server.URL, "/close", measure.FailureReset, 0, 0},
		"too long":        {server.URL, "/long", measure.FailureTooLong, 200, 0},
		"not HTTP":        {server.URL, "/nonsense", measure.FailureOther, 0, 0},
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

func TestTheInspectorGetsTheAnswers(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "answer to "+r.URL.RequestURI())
	}))
	defer server.Close()
	var mu sync.Mutex
	var taken []inspect.Answer
	asked := Request{Path: "/a?b=c", Key: client.Key{Name: "main", Token: "secret-token"}, Asked: judge.Request{Operation: spec.MustOperation(spec.ListLeadLists), Allowed: client.Only(http.StatusOK)}}
	p := few(asked)
	p.Inspect = func(a inspect.Answer) {
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, a)
	}
	run(t, newGenerator(t, Options{BaseURL: server.URL}, fineSleep), p)
	g.Expect(taken).To(HaveLen(20))
	for _, a := range taken {
		g.Expect(string(a.Body.Bytes())).To(Equal("answer to /a?b=c"))
		g.Expect(a.Status).To(Equal(429))
		g.Expect(a.Header.Get("Retry-After")).To(Equal("1"))
		g.Expect(a.Asked).To(Equal(asked.Asked))
		g.Expect(a.Key).To(Equal(asked.Key))
		g.Expect(a.Path).To(Equal("/a?b=c"))
		g.Expect(a.Cut).To(BeFalse())
	}
}

func TestTLS(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	r := run(t, newGenerator(t, Options{BaseURL: server.URL, TLSConfig: &tls.Config{RootCAs: roots}}, fineSleep), few(Request{Path: "/"}))
	g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(20))
	_, err := New(Options{BaseURL: server.URL, TLSConfig: &tls.Config{InsecureSkipVerify: true}})
	g.Expect(err).To(MatchError(ContainSubstring("does not verify")))
}

// The server and the recording count the same.
func TestCountsAreTheServers(t *testing.T) {
	g := NewWithT(t)
	statuses := []int{200, 200, 200, 429, 500}
	var next atomic.Int64
	var mu sync.Mutex
	counted := map[int]int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := statuses[next.Add(1)%int64(len(statuses))]
		mu.Lock()
		counted[status]++
		mu.Unlock()
		w.WriteHeader(status)
	}))
	defer server.Close()
	r := run(t, newGenerator(t, Options{BaseURL: server.URL}, fineSleep), Phase{Name: "p", Schedule: schedule.Constant(1000, 300*time.Millisecond), Mix: asking("/")})
	g.Expect(r.Statuses).To(Equal(counted))
	g.Expect(r.Sent).To(Equal(next.Load()))
	g.Expect(r.Count(measure.Accepted)).To(Equal(counted[200]))
	g.Expect(r.Count(measure.Limited)).To(Equal(counted[429]))
	g.Expect(r.Count(measure.Failed)).To(Equal(counted[500]))
}

func TestCalibrate(t *testing.T) {
	g := NewWithT(t)
	var inspected atomic.Int64
	c, err := Calibrate(context.Background(), CalibrationOptions{Body: bytes.Repeat([]byte("x"), 5000), Child: testbed.Again(t, nullFlag),
		Inspect: func(a inspect.Answer) { inspected.Add(1); a.Body.Release() }})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Ceiling).To(BeNumerically(">", 100))
	g.Expect(c.Rate).To(Equal(c.Ceiling / 2))
	g.Expect(c.Lag.Samples).To(BeNumerically(">", 0))
	g.Expect(c.CPU).To(BeNumerically(">", 0))
	g.Expect(c.Shared).To(BeFalse())
	g.Expect(c.Bytes).To(Equal(5000))
	g.Expect(inspected.Load()).To(BeNumerically(">", 50))

	busy := measure.Recording{}
	busy.Plan = schedule.Constant(0.9*c.Ceiling, time.Second)
	g.Expect(c.Near(busy)).To(And(ContainSubstring("this generator"), ContainSubstring("5000 bytes")))
	g.Expect(c.Near(measure.Recording{})).To(BeEmpty())
	busy.Plan.Of = 2 // this process has half of it
	g.Expect(c.Near(busy)).To(BeEmpty())

	_, err = Calibrate(context.Background(), CalibrationOptions{Child: []string{"/does/not/exist"}})
	g.Expect(err).To(MatchError(ContainSubstring("null server")))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Calibrate(ctx, CalibrationOptions{})
	g.Expect(err).To(MatchError(context.Canceled))
}

func TestNullServerInThisProcess(t *testing.T) {
	g := NewWithT(t)
	base, stop, err := startNull(context.Background(), CalibrationOptions{Body: []byte("hello")})
	g.Expect(err).NotTo(HaveOccurred())
	answer, err := http.Get(base)
	g.Expect(err).NotTo(HaveOccurred())
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(body)).To(Equal("hello"))
	stop()
	_, err = http.Get(base)
	g.Expect(err).To(HaveOccurred())
	g.Expect(strings.Contains(base, "127.0.0.1")).To(BeTrue())
}

// A server that switches protocols unasked hands over its connection. Nobody waits for
// what comes over it.
func TestSwitchingProtocols(t *testing.T) {
	g := NewWithT(t)
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		<-over
		_ = conn.Close()
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	generator := newGenerator(t, Options{BaseURL: server.URL, Timeout: time.Minute}, fineSleep)
	r := run(t, generator, few(Request{Method: "GET", Path: "/"}))
	g.Expect(r.Statuses).To(Equal(map[int]int64{http.StatusSwitchingProtocols: 20}))
	g.Expect(r.Count(measure.Failed)).To(BeEquivalentTo(20))
}
