package generate

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
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

// errDropped is the error of a request that got no response because the server
// closed a connection in use.
var errDropped = errors.New("generate: the server closed the connection without a response")

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
	dialer := &net.Dialer{Timeout: o.Timeout}
	return &http.Transport{
		Proxy:                  stopRepeats(proxy, leastIdle),
		DialContext:            dialer.DialContext,
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

// attempts counts how often net/http sends a request. net/http sends a GET again if
// the server closes a kept connection without a response. That is right after an
// idle time: the server closed the connection while the request was on its way. On
// a busy connection the server dropped a request, which must count as failed.
type attempts struct {
	count int
	idle  time.Duration // how long the last connection had been idle before
}

type attemptsKey struct{}

// within returns a context for the request whose attempts are to be counted.
func (a *attempts) within(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(context.WithValue(ctx, attemptsKey{}, a),
		&httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { a.idle = info.IdleTime }})
}

// stopRepeats returns the proxy function with a check: net/http asks for the proxy
// before it sends a request, and again before it repeats one. An error ends the
// request.
func stopRepeats(proxy func(*http.Request) (*url.URL, error), leastIdle time.Duration) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if a, ok := r.Context().Value(attemptsKey{}).(*attempts); ok {
			if a.count++; a.count > 1 && a.idle < leastIdle {
				return nil, errDropped
			}
		}
		return proxy(r)
	}
}
