package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestConnectionsAreKeptForAllThatRunAtOnce(t *testing.T) {
	g := NewWithT(t)
	const concurrency = 8
	var opened, arrived atomic.Int32
	all := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if arrived.Add(1) == concurrency {
			close(all)
		}
		<-all // so that the first round needs a connection each
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

func TestWhatCountsAsClosedUnanswered(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, tc := range []struct {
		name                string
		connected, answered bool
		err                 error
		want                bool
	}{
		{"closed", true, false, fmt.Errorf("transport: %w", io.EOF), true},
		{"reset", true, false, reset, true},
		{"reset within the answer", true, true, reset, false},
		{"reset before there was a connection", false, false, reset, false},
		{"something else", true, false, errors.New("malformed"), false},
		{"no error", true, true, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var wire wireTrace
			hooks := wire.hooks()
			if tc.connected {
				hooks.GotConn(httptrace.GotConnInfo{})
			}
			if tc.answered {
				hooks.GotFirstResponseByte()
			}
			NewWithT(t).Expect(wire.closedUnanswered(tc.err)).To(Equal(tc.want))
		})
	}
}

// What was lost on a kept connection is told apart from what a new one lost.
func TestKeptConnectionThatCloses(t *testing.T) {
	g := NewWithT(t)
	aborts := false
	c := serve(t, Options{Concurrency: 1}, func(http.ResponseWriter, *http.Request) {
		if aborts {
			panic(http.ErrAbortHandler)
		}
	})
	post := Request{Method: http.MethodPost, Path: "/"}
	g.Expect(c.Do(t.Context(), post).KeptClosed).To(BeFalse())
	aborts = true
	lost := c.Do(t.Context(), post)
	g.Expect(lost.Err).To(MatchError(ErrProtocol))
	g.Expect(lost.KeptClosed).To(BeTrue())
	again := c.Do(t.Context(), post)
	g.Expect(again.Err).To(MatchError(ErrProtocol))
	g.Expect(again.KeptClosed).To(BeFalse(), "on a new connection")
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

func TestTurnOfACanceledRequestIsHandedOn(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	c := paced(t, clock, 1, func() {})
	c.Do(t.Context(), get("/"))
	ctx, cancel := context.WithCancel(t.Context())
	c.opts.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	g.Expect(c.Do(ctx, get("/")).Err).To(MatchError(ErrCanceled))
	c.opts.Sleep = clock.Sleep
	c.Do(t.Context(), get("/"))
	g.Expect(clock.total()).To(BeNumerically("~", time.Second, 10*time.Millisecond))
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
