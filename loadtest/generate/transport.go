package generate

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxHeader is how many bytes of a response's header are read.
	maxHeader = 256 << 10
	// How those errors of net/http read that have no type.
	longHeader = "server response headers exceeded"
	closedIdle = "server closed idle connection"
	// maxIdle is how long a connection waits for its next request. Many servers
	// close idle connections after 5 s.
	maxIdle = 4 * time.Second
	// leastIdle is how long a connection must have been idle before a server may
	// be thought to close it for that.
	leastIdle = 100 * time.Millisecond
)

var (
	// errDropped is the error of a request that the server has dropped.
	errDropped = errors.New("generate: the server closed the connection without a response")
	// errClosed is the error of writing to a connection that the server has closed.
	errClosed = errors.New("generate: the server had closed the connection")
)

// newTransport returns the transport for the options. It uses HTTP/1.1: HTTP/2
// would send all requests over one connection, whose flow control would shape the
// figures.
func newTransport(o Options, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	config := o.TLSConfig.Clone()
	if config != nil {
		config.NextProtos = nil // the server must not choose HTTP/2
	}
	return &http.Transport{
		Proxy:                  stopRepeats(proxy, leastIdle),
		DialContext:            dial(o.Timeout),
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    o.Timeout,
		Protocols:              &protocols,
		DisableCompression:     true, // bytes are counted as they come over the network
		MaxConnsPerHost:        o.Workers,
		MaxIdleConns:           o.Workers,
		MaxIdleConnsPerHost:    o.Workers,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        maxIdle,
	}
}

// attempts counts how often net/http sends a request.
//
// net/http sends a GET again if the server closes a kept connection without a
// response. That is right if nothing was written yet, or after an idle time: the
// server closed the connection while the request was on its way. On a busy
// connection the server dropped a request, which must count as failed.
type attempts struct {
	count int
	conn  *conn         // of the last attempt; nil if a test has replaced it
	idle  time.Duration // how long it had been idle before
}

type attemptsKey struct{}

// within returns a context for the request whose attempts are to be counted.
func (a *attempts) within(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(context.WithValue(ctx, attemptsKey{}, a), &httptrace.ClientTrace{GotConn: a.begin})
}

func (a *attempts) begin(info httptrace.GotConnInfo) {
	inner := info.Conn
	if encrypted, ok := inner.(*tls.Conn); ok {
		inner = encrypted.NetConn()
	}
	if a.conn, _ = inner.(*conn); a.conn != nil {
		a.conn.written.Store(false)
	}
	a.idle = info.IdleTime
}

// dropped reports whether the server has dropped the last attempt.
func (a *attempts) dropped(leastIdle time.Duration) bool {
	return a.idle < leastIdle && (a.conn == nil || a.conn.written.Load())
}

// stopRepeats returns the proxy function with a check: net/http asks for the proxy
// before it sends a request, and again before it repeats one. An error ends the
// request.
func stopRepeats(proxy func(*http.Request) (*url.URL, error), leastIdle time.Duration) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if a, ok := r.Context().Value(attemptsKey{}).(*attempts); ok {
			if a.count++; a.count > 1 && a.dropped(leastIdle) {
				return nil, errDropped
			}
		}
		return proxy(r)
	}
}

// conn is a connection that writes nothing once the server has closed it. net/http
// finds that out when a goroutine gets to read, which may be too late for the next
// request.
type conn struct {
	net.Conn
	raw     syscall.RawConn
	written atomic.Bool // by the current request
}

// dial returns a function that connects within the timeout.
func dial(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: timeout}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		tcp, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: tcp}
		if s, ok := tcp.(syscall.Conn); ok {
			c.raw, err = s.SyscallConn()
		}
		return c, err
	}
}

func (c *conn) Write(p []byte) (int, error) {
	if c.raw != nil && closedByPeer(c.raw) {
		return 0, errClosed
	}
	c.written.Store(true)
	return c.Conn.Write(p)
}
