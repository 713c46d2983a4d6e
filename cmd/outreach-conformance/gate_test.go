package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// gate is a proxy that records every request, and can stop answering unsafe requests.
type gate struct {
	*httptest.Server
	to string // the address of the server

	mu       sync.Mutex
	requests []seen
	stop     stop
	matched  int           // requests so far that match the stop
	stopped  chan struct{} // closed when the gate has stopped answering
	under    int           // requests in progress
	none     *sync.Cond    // signalled when no request is in progress
}

// seen is a recorded request.
type seen struct {
	method, path, key, body string
	status                  int // of the server's response; 0 before it arrived
}

func (s seen) unsafe() bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, s.method)
}

// stop says with which matching request the gate stops answering unsafe requests. That
// request may still reach the server, although the client gets no response.
type stop struct {
	nth     int // 0: never
	matches func(seen) bool
	reaches bool
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	g := &gate{to: to}
	g.none = sync.NewCond(&g.mu)
	g.Server = httptest.NewServer(http.HandlerFunc(g.pass))
	t.Cleanup(g.Close)
	return g
}

// arm sets when the gate stops answering.
func (g *gate) arm(s stop) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop, g.matched, g.stopped = s, 0, make(chan struct{})
}

// hasStopped is closed when the gate has stopped answering.
func (g *gate) hasStopped() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopped
}

// open waits until no request is in progress, and then forwards all requests again.
func (g *gate) open() {
	g.CloseClientConnections()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.under > 0 {
		g.none.Wait()
	}
	g.stop = stop{}
}

// begin counts a request as in progress until the returned function is called.
func (g *gate) begin() (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.under--; g.under == 0 {
			g.none.Broadcast()
		}
	}
}

// saw returns the requests so far.
func (g *gate) saw() []seen {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]seen(nil), g.requests...)
}

func (g *gate) pass(w http.ResponseWriter, r *http.Request) {
	defer g.begin()()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	index, reaches, answers, last := g.enter(seen{method: r.Method, path: r.URL.Path,
		key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), body: string(body)})
	if reaches {
		// Not cancelled with the client: the server completes what it received.
		answer := g.forward(r, body)
		defer func() { _ = answer.Body.Close() }()
		g.mu.Lock()
		g.requests[index].status = answer.StatusCode
		g.mu.Unlock()
		if answers {
			for name, values := range answer.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(answer.StatusCode)
			_, _ = io.Copy(w, answer.Body)
			return
		}
	}
	if last {
		g.mu.Lock()
		close(g.stopped)
		g.mu.Unlock()
	}
	<-r.Context().Done()
}

// enter records a request and decides what to do with it. Last means that the gate stops
// with it.
func (g *gate) enter(s seen) (index int, reaches, answers, last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests = append(g.requests, s)
	index = len(g.requests) - 1
	if g.stop.nth == 0 || !s.unsafe() {
		return index, true, true, false
	}
	over := g.matched >= g.stop.nth
	if !over && (g.stop.matches == nil || g.stop.matches(s)) {
		g.matched++
		last = g.matched == g.stop.nth
	}
	return index, !over && (!last || g.stop.reaches), !over && !last, last
}

func (g *gate) forward(r *http.Request, body []byte) *http.Response {
	forwarded := r.Clone(context.WithoutCancel(r.Context()))
	forwarded.URL.Scheme, forwarded.URL.Host = "http", strings.TrimPrefix(g.to, "http://")
	forwarded.Body = io.NopCloser(bytes.NewReader(body))
	answer, err := http.DefaultTransport.RoundTrip(forwarded)
	if err != nil {
		panic(http.ErrAbortHandler) // the server is gone; so is the connection
	}
	return answer
}
