package runner

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outreach.example/conformance/loadtest/generate"
)

// inMemory is the address of servers that piped starts.
const inMemory = "http://target.example"

// leastLatency is what every request to a piped server takes. Without it, a loop
// that asks as fast as the server answers would never let fake time go on.
const leastLatency = time.Millisecond

// piped serves the handler over connections in memory and returns a transport
// that leads there. Unlike sockets, they let the fake time of a bubble go on.
func piped(t *testing.T, handler http.Handler) http.RoundTripper {
	t.Helper()
	listener := &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(leastLatency)
		handler.ServeHTTP(w, r)
	})}
	serving := make(chan struct{})
	go func() {
		defer close(serving)
		_ = server.Serve(listener)
	}()
	transport := &http.Transport{DialContext: listener.dial, DisableCompression: true, MaxIdleConnsPerHost: generate.DefaultWorkers}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-serving
	})
	return transport
}

// pipes is a net.Listener whose connections are pairs of net.Pipe.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.dialled <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// inFakeTime returns a parallel test that runs in a bubble of package synctest.
func inFakeTime(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	}
}
