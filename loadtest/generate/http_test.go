package generate

import (
	"bytes"
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
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
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
		case "/close":
			panic(http.ErrAbortHandler)
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 2000))
		case "/header":
			w.Header().Set("X", strings.Repeat("x", maxHeader))
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
		"long header":     {server.URL, "/header", measure.FailureLongHeader, 0, 0},
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
	busy.Plan = schedule.Constant(0.9*c.Ceiling, time.Second)
	g.Expect(c.Near(busy)).To(And(ContainSubstring("this generator"), ContainSubstring("5000 bytes")))
	busy.Plan.Of = 2 // this process has half of it
	g.Expect(c.Near(busy)).To(BeEmpty())

	_, err = Calibrate(t.Context(), CalibrationOptions{Child: []string{"/does/not/exist"}})
	g.Expect(err).To(MatchError(ContainSubstring("null server")))
}
