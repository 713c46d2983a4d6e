package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"math"
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
)

func TestNewReportsEveryBadOption(t *testing.T) {
	_, err := New(Options{BaseURL: "http://host", Concurrency: -1, RequestsPerSecond: math.NaN(), MaxBody: -1})
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring("Concurrency"), ContainSubstring("RequestsPerSecond"), ContainSubstring("MaxBody"))))
}

func TestAddressOnTheWire(t *testing.T) {
	for _, tc := range []struct {
		name, prefix, path string
		query              url.Values
		want               string
	}{
		{"plain", "", "/api/v2/phone", nil, "/api/v2/phone"},
		{"slash at the end of the base", "/", "/api", nil, "/api"},
		{"prefix", "/mock", "/api", nil, "/mock/api"},
		{"prefix with a slash", "/mock/a/", "/api", nil, "/mock/a/api"},
		{"encoded prefix", "/a%2Fb", "/api", nil, "/a%2Fb/api"},
		{"encoded segment", "", "/api/a%2Fb", nil, "/api/a%2Fb"},
		{"segment that needs encoding", "", "/api/a b?", nil, "/api/a%20b%3F"},
		{"dots stay", "", "/api/../x", nil, "/api/../x"},
		{"query", "", "/api", url.Values{"ids": {"a,b"}, "q": {"a b+c&d"}}, "/api?ids=a%2Cb&q=a%20b%2Bc%26d"},
		{"repeated parameter", "", "/api", url.Values{"id": {"2", "1"}}, "/api?id=2&id=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			var seen string
			c := serve(t, Options{BaseURL: tc.prefix}, func(_ http.ResponseWriter, r *http.Request) { seen = r.RequestURI })
			e := c.Do(t.Context(), Request{Path: tc.path, Query: tc.query})
			g.Expect(e.Err).NotTo(HaveOccurred())
			g.Expect(seen).To(Equal(tc.want))
		})
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	for name, req := range map[string]Request{
		"relative path":        {Path: "api"},
		"broken escape":        {Path: "/%zz"},
		"half encoded":         {Path: "/a%2Fb c"},
		"method":               {Method: "GE T", Path: "/"},
		"header name":          {Path: "/", Header: http.Header{"a b": {"x"}}},
		"line break in header": {Path: "/", Header: http.Header{"X": {"a\r\nb: c"}}},
		"line break in key":    {Path: "/", Key: Key{Name: "main", Token: "abc\ndefghijk"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := newClient(t, Options{BaseURL: "http://host", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("the request was sent")
				return nil, errors.New("sent")
			})})
			e := c.Do(t.Context(), req)
			g.Expect(e.Err).To(MatchError(ErrRequest))
			g.Expect(c.Traffic().Requests).To(BeZero())
			g.Expect(e.Curl()).NotTo(ContainSubstring("\n"))
		})
	}
}

func TestHeaders(t *testing.T) {
	raw := "Token nonsense"
	for _, tc := range []struct {
		name string
		req  Request
		want http.Header
	}{
		{"no key, no body", Request{}, http.Header{"User-Agent": {UserAgent}}},
		{"key", Request{Key: Key{Name: "main", Token: "t0ken"}}, http.Header{"User-Agent": {UserAgent}, "Authorization": {"Bearer t0ken"}}},
		{"raw value instead of the key", Request{Key: Key{Name: "main", Token: "t0ken"}, Authorization: &raw},
			http.Header{"User-Agent": {UserAgent}, "Authorization": {raw}}},
		{"empty value", Request{Authorization: new(string)}, http.Header{"User-Agent": {UserAgent}, "Authorization": {""}}},
		{"body", Request{Method: "POST", Body: []byte("{}")},
			http.Header{"User-Agent": {UserAgent}, "Content-Type": {"application/json"}, "Content-Length": {"2"}}},
		{"own values win", Request{Method: "POST", Body: []byte("x"), Header: http.Header{"content-type": {"text/plain"}, "User-Agent": {"me"}}},
			http.Header{"User-Agent": {"me"}, "Content-Type": {"text/plain"}, "Content-Length": {"1"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var seen http.Header
			c := serve(t, Options{}, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Clone() })
			tc.req.Path = "/"
			c.Do(t.Context(), tc.req)
			seen.Del("Accept-Encoding")
			NewWithT(t).Expect(seen).To(Equal(tc.want))
		})
	}
}

func TestResponseIsComplete(t *testing.T) {
	g := NewWithT(t)
	var observed []Exchange
	c := serve(t, Options{Observe: func(e Exchange) { observed = append(observed, e) }}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Answer", "42")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"a":1}`)
	})
	e := c.Do(t.Context(), Request{Operation: "op", Path: "/x"})
	g.Expect(e.Err).NotTo(HaveOccurred())
	g.Expect(e.Status).To(Equal(http.StatusTeapot))
	g.Expect(e.Header.Get("X-Answer")).To(Equal("42"))
	g.Expect(string(e.Body)).To(Equal(`{"a":1}`))
	g.Expect(e.Sent.IsZero()).To(BeFalse())
	g.Expect(e.Took).To(BeNumerically(">", 0))
	g.Expect(observed).To(HaveLen(1))
	g.Expect(observed[0].Request.Operation).To(Equal("op"))
	g.Expect(c.Traffic()).To(Equal(Traffic{Requests: 1, Statuses: map[int]int{418: 1}, BytesReceived: 7}))
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, location := range []string{"/elsewhere", "http://[broken"} {
		g := NewWithT(t)
		var hits atomic.Int32
		c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			hits.Add(1)
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		})
		e := c.Do(t.Context(), get("/"))
		g.Expect(e.Err).NotTo(HaveOccurred())
		g.Expect(e.Status).To(Equal(http.StatusFound))
		g.Expect(hits.Load()).To(BeEquivalentTo(1))
	}
}

func TestBodyIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name      string
		size      int
		zip       bool
		length    int
		truncated bool
	}{
		{"below", 99, false, 99, false},
		{"at the bound", 100, false, 100, false},
		{"one beyond", 101, false, 100, true},
		{"far beyond", 1 << 20, false, 100, true},
		{"compressed, within", 100, true, 100, false},
		{"compressed to little", 1 << 20, true, 100, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := serve(t, Options{MaxBody: 100}, func(w http.ResponseWriter, _ *http.Request) {
				var out io.Writer = w
				if tc.zip {
					w.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(w)
					defer func() { _ = z.Close() }()
					out = z
				}
				_, _ = out.Write(bytes.Repeat([]byte("x"), tc.size))
			})
			e := c.Do(t.Context(), get("/"))
			g.Expect(e.Err).NotTo(HaveOccurred())
			g.Expect(e.Body).To(HaveLen(tc.length))
			g.Expect(e.Truncated).To(Equal(tc.truncated))
		})
	}
}

// A body in an encoding that the client did not offer, or that is not what it says, is
// an error that names the encoding.
func TestUndecodableBodies(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("{}"))
	_ = z.Close()
	for _, tc := range []struct{ coding, body, says string }{
		{"", "{}", ""},
		{"identity", "{}", ""},
		{"gzip", zipped.String(), ""},
		{"br", "", ""},
		{"br", "{}", `Content-Encoding "br" was not offered`},
		{"zstd, gzip", "{}", `Content-Encoding "zstd, gzip" was not offered`},
		{strings.Repeat("x", 100), "{}", `Content-Encoding "` + strings.Repeat("x", 40) + `…" was not`},
		{"gzip", `{"items":[]} as it is`, "Content-Encoding gzip: "},
		{"gzip", zipped.String()[:10] + "\xff\xff\xff", "Content-Encoding gzip: "},
	} {
		t.Run(tc.coding, func(t *testing.T) {
			g := NewWithT(t)
			e := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", tc.coding)
				_, _ = io.WriteString(w, tc.body)
			}).Do(t.Context(), get("/"))
			g.Expect(e.Status).To(Equal(200))
			if tc.says == "" {
				g.Expect(e.Err).NotTo(HaveOccurred())
				return
			}
			g.Expect(e.Err).To(MatchError(ErrEncoding))
			g.Expect(e.Err.Error()).To(ContainSubstring(tc.says))
		})
	}
}

func TestKindsOfFailure(t *testing.T) {
	withoutNameServer(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	breaking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
	}))
	defer breaking.Close()
	stalling := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer stalling.Close()
	notHTTP := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "SSH-2.0-server\r\n")
	})

	for _, tc := range []struct {
		name, base string
		kind       error
		status     int
		body       string
	}{
		{"nobody listens", closedAddress(t), ErrRefused, 0, ""},
		{"name does not resolve", "http://no-such-host.invalid", ErrUnresolved, 0, ""},
		{"plain HTTP where TLS is expected", strings.Replace(plain.URL, "http:", "https:", 1), ErrTLS, 0, ""},
		{"certificate of an unknown authority", secure.URL, ErrTLS, 0, ""},
		{"not HTTP", notHTTP, ErrProtocol, 0, ""},
		{"body breaks off", breaking.URL, ErrProtocol, 200, "half"},
		{"body never ends", stalling.URL, ErrTimeout, 200, "begun"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			timeout := DefaultTimeout
			if tc.kind == ErrTimeout {
				timeout = 2 * time.Second // in which the beginning comes on the slowest machine
			}
			c := newClient(t, Options{BaseURL: tc.base, Timeout: timeout})
			e := c.Do(t.Context(), get("/"))
			g.Expect(e.Err).To(MatchError(tc.kind))
			for _, other := range []error{ErrTimeout, ErrUnresolved, ErrRefused, ErrTLS, ErrProtocol, ErrCanceled, ErrThrottled, ErrRequest} {
				if other != tc.kind {
					g.Expect(e.Err).NotTo(MatchError(other))
				}
			}
			g.Expect(strings.Contains(e.Err.Error(), "before the end of the body")).To(Equal(tc.body == "half"))
			g.Expect(e.Status).To(Equal(tc.status))
			g.Expect(string(e.Body)).To(Equal(tc.body))
			g.Expect(c.Traffic().Requests).To(Equal(1))
		})
	}
}

// withoutNameServer makes every name lookup fail without a network.
func withoutNameServer(t *testing.T) {
	t.Helper()
	usual := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = usual })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
}

// listen handles every connection with a function and returns the address.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
			_ = conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

// Allow is called for every request on the wire. A request that it blocks is not sent.
func TestAllowIsCalledForEachAttempt(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	target := newThrottling(clock)
	target.refuse(mainKey.Token, time.Second)
	left, spent := 3, errors.New("spent")
	c := target.client(t, Options{Allow: func() error {
		if left == 0 {
			return spent
		}
		left--
		return nil
	}})
	g.Expect(c.Do(t.Context(), keyed(mainKey)).Status).To(Equal(http.StatusOK), "at the second attempt")
	g.Expect(c.Do(t.Context(), keyed(mainKey)).Status).To(Equal(http.StatusOK))
	e := c.Do(t.Context(), keyed(mainKey))
	g.Expect(e.Err).To(MatchError(spent))
	g.Expect(e.Err).To(MatchError(ErrRequest))
	g.Expect(e.Sent.IsZero()).To(BeTrue())
	g.Expect(target.hits["Bearer "+mainKey.Token]).To(Equal(3))
	g.Expect(c.Traffic().Requests).To(Equal(3))
}

// A request that settles outlasts its context once it is sent. One that still waits to
// be sent does not.
func TestARequestSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived, answer := make(chan struct{}), make(chan struct{})
		transport := roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			close(arrived)
			select {
			case <-answer:
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			case <-r.Context().Done():
				return nil, context.Cause(r.Context())
			}
		})
		c, err := New(Options{BaseURL: "http://subject.invalid", Transport: transport, Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var first, second Exchange
		var wait sync.WaitGroup
		wait.Go(func() { first = c.Do(ctx, Request{Method: http.MethodPost, Path: "/a", Settle: true}) })
		<-arrived
		wait.Go(func() { second = c.Do(ctx, Request{Method: http.MethodPost, Path: "/b", Settle: true}) })
		synctest.Wait()
		cancel()
		time.Sleep(settleTime / 2)
		close(answer)
		wait.Wait()
		if first.Err != nil || first.Status != http.StatusOK {
			t.Errorf("the request that was sent: %d %v", first.Status, first.Err)
		}
		if !errors.Is(second.Err, ErrCanceled) || !second.Sent.IsZero() {
			t.Errorf("the request that waited: %v", second.Err)
		}
	})
}

// roundTripperFunc stands in for the network.
type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
