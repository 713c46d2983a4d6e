package generate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

const (
	// maxHeader is how much of an answer may come before its body.
	maxHeader = 256 << 10
	// maxIdle is how long a connection waits for its next request: as the
	// client's, since servers close after 5 s.
	maxIdle = 4 * time.Second
	// leastIdle is the least time after which a server may be thought to close a
	// connection for being idle.
	leastIdle = 100 * time.Millisecond
)

// wire is an http.RoundTripper that speaks HTTP/1.1 over connections that are
// kept: one for each request in flight. With HTTP/2, one connection would carry
// them all, and its windows would shape the figures.
//
// What net/http's transport does with two more goroutines for each connection is
// done here by the one that asks: to wake goroutines is most of what a paced
// request costs, and what is measured is not held up by it. What travels is
// still written and read by net/http. A request times out by the connection's
// deadline, and ends with its context.
type wire struct {
	timeout time.Duration // for one request with its answer
	dialer  net.Dialer
	tls     *tls.Config // nil for the default

	mu   sync.Mutex
	idle []*line // the one used last at the end
}

func newWire(timeout time.Duration, config *tls.Config) *wire {
	return &wire{timeout: timeout, tls: config.Clone()}
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	deadline := time.Now().Add(w.timeout)
	for {
		l, err := w.take(r, deadline)
		if err != nil {
			return nil, err
		}
		answer, err := l.exchange(r)
		if err == nil {
			return answer, nil
		}
		l.close()
		if cause := r.Context().Err(); cause != nil {
			return nil, cause
		}
		if !l.mayRepeat(r, err) {
			return nil, err
		}
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// take returns a connection that the request may use until the deadline.
func (w *wire) take(r *http.Request, deadline time.Time) (*line, error) {
	for {
		l := w.pop()
		if l == nil {
			return w.dial(r.Context(), r.URL, deadline)
		}
		idle := time.Since(l.since)
		l.idled = idle >= leastIdle
		if idle <= maxIdle && l.begin(r.Context(), deadline) && l.probe.quiet() {
			return l, nil
		}
		l.close()
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
	}
}

func (w *wire) pop() *line {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.idle) - 1
	if n < 0 {
		return nil
	}
	l := w.idle[n]
	w.idle[n] = nil
	w.idle = w.idle[:n]
	return l
}

// put keeps the connection for the next request, and lets go of one that nobody
// has needed for long.
func (w *wire) put(l *line) {
	l.used, l.since = true, time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) > 0 && l.since.Sub(w.idle[0].since) > maxIdle {
		w.idle[0].close()
		w.idle = slices.Delete(w.idle, 0, 1)
	}
	w.idle = append(w.idle, l)
}

// CloseIdleConnections closes those that no request uses.
func (w *wire) CloseIdleConnections() {
	for l := w.pop(); l != nil; l = w.pop() {
		l.close()
	}
}

func (w *wire) dial(ctx context.Context, target *url.URL, deadline time.Time) (*line, error) {
	address, err := addressOf(target)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	tcp, err := w.dialer.DialContext(limited, "tcp", address)
	if err != nil {
		return nil, err
	}
	conn := tcp
	if target.Scheme == "https" {
		secured := tls.Client(tcp, w.configFor(address))
		if err := secured.HandshakeContext(limited); err != nil {
			_ = tcp.Close()
			return nil, err
		}
		conn = secured
	}
	l := newLine(w, conn, newProbe(tcp))
	if !l.begin(ctx, deadline) {
		l.close()
		return nil, errors.Join(ctx.Err(), net.ErrClosed)
	}
	return l, nil
}

func (w *wire) configFor(address string) *tls.Config {
	config := w.tls.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	config.NextProtos = []string{"http/1.1"}
	return config
}

func addressOf(target *url.URL) (string, error) {
	host, err := httpguts.PunycodeHostPort(target.Host)
	if err != nil {
		return "", fmt.Errorf("generate: the host %q: %w", target.Host, err)
	}
	if target.Port() != "" {
		return host, nil
	}
	return net.JoinHostPort((&url.URL{Host: host}).Hostname(), map[string]string{"http": "80", "https": "443"}[target.Scheme]), nil
}

// body is what is left to read of an answer. It gives the connection back when
// all has been read.
type body struct {
	io.ReadCloser
	line *line // nil: it was given back
	ctx  context.Context
	keep bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil || b.line == nil {
		return n, err
	}
	if !errors.Is(err, io.EOF) {
		b.keep = false
		if cause := b.ctx.Err(); cause != nil {
			err = cause
		}
	}
	b.giveBack()
	return n, err
}

// Close ends the connection if there is more to read: nobody wants it.
func (b *body) Close() error {
	if b.line != nil {
		b.keep = false
		b.giveBack()
	}
	return nil
}

func (b *body) giveBack() {
	if b.keep && b.line.in.Buffered() == 0 {
		b.line.wire.put(b.line)
	} else {
		b.line.close()
	}
	b.line = nil
}
