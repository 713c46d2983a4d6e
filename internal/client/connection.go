package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxHeader bounds the header block of a response, in bytes.
const maxHeader = 256 << 10

// maxUnread bounds what HTTP/2 buffers of a body that nobody reads yet, in bytes.
const maxUnread = 1 << 20

// newTransport returns the transport for the options. net/http goes on connecting after
// the request has timed out, and waits for a peer that reads nothing: hence the timeouts.
func newTransport(concurrency int, timeout time.Duration, config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                  Proxy,
		DialContext:            dial(timeout),
		TLSHandshakeTimeout:    timeout,
		HTTP2:                  &http.HTTP2Config{WriteByteTimeout: timeout, MaxReceiveBufferPerStream: maxUnread},
		TLSClientConfig:        config.Clone(), // nil stays nil
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           concurrency,
		MaxIdleConnsPerHost:    concurrency,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        IdleTimeout,
	}
}

// freshTransport returns a transport that opens a connection for each request; nil
// if the given one is not known to be able to.
func freshTransport(kept http.RoundTripper) http.RoundTripper {
	t, ok := kept.(*http.Transport)
	if !ok {
		return nil
	}
	fresh := t.Clone()
	fresh.DisableKeepAlives = true // http.Request.Close alone would still take an idle connection
	return fresh
}

// connection remembers what it carried last. A server that leaves a request body
// unread takes it for the beginning of the next request.
type connection struct {
	net.Conn
	last atomic.Pointer[carried]
}

// carried is a request on a connection. Its name is method, path and status of a
// request with a body that was not accepted; otherwise "".
type carried struct{ name string }

// dial returns a function that opens a connection within the timeout.
func dial(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &connection{Conn: conn}, nil
	}
}

// ourConnection returns the connection below TLS that dial has opened; nil if there is
// none. HTTP/2 never confuses the bodies of requests, so it has none.
func ourConnection(conn net.Conn) *connection {
	if secure, ok := conn.(*tls.Conn); ok {
		if secure.ConnectionState().NegotiatedProtocol == "h2" {
			return nil
		}
		conn = secure.NetConn()
	}
	ours, _ := conn.(*connection)
	return ours
}

// passenger is a request on its way.
type passenger struct {
	mu    sync.Mutex
	on    *connection
	this  *carried
	after string // what the connection carried before
}

// boards notes that the request goes out on the connection.
func (p *passenger) boards(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on, p.this, p.after = ourConnection(conn), &carried{}, ""
	if p.on == nil {
		return
	}
	if last := p.on.last.Swap(p.this); last != nil {
		p.after = last.name
	}
}

// answered notes the response, before the connection is free for another request.
func (p *passenger) answered(req Request, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on != nil && len(req.Body) > 0 && status/100 != 2 {
		p.on.last.CompareAndSwap(p.this, &carried{fmt.Sprintf("%s %s, answered with %d", req.method(), req.Path, status)})
	}
}

// before returns what the connection carried before the request.
func (p *passenger) before() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.after
}

// What net/http says of a response that is not HTTP. Its errors have no exported type.
var (
	badLine    = regexp.MustCompile(`malformed HTTP response "(.*)"`)
	badStatus  = regexp.MustCompile(`malformed HTTP status code "(.*)"`)
	badVersion = regexp.MustCompile(`malformed HTTP version "`)
	// unsolicited ends the error for bytes that came before the request was sent.
	unsolicited = "readLoopPeekFailLocked: %!w(<nil>)"

	partOfCode = regexp.MustCompile(`^[0-9]{0,3}$`)
)

// malformed reports whether the error of a request says that the target sent
// something else than HTTP. A status line that was cut off is not malformed: the
// connection may have been lost.
func malformed(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	if strings.Contains(text, unsolicited) {
		return true
	}
	if line := badLine.FindStringSubmatch(text); line != nil {
		const begins = "HTTP/"
		return !strings.HasPrefix(line[1], begins) && !strings.HasPrefix(begins, line[1])
	}
	if code := badStatus.FindStringSubmatch(text); code != nil {
		return !partOfCode.MatchString(code[1])
	}
	return badVersion.MatchString(text)
}
