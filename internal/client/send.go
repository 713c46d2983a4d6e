package client

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	initialBody   = 4 << 10   // initial buffer for a body of unknown length
	truncatedBody = 64 << 10  // bytes kept of a body that exceeds the bound
	firstBuffer   = 256 << 10 // bytes that are allocated because a response announces them

	// Longer bodies than shortBody wait until those in flight leave room within longBodies.
	shortBody  = 512 << 10
	longBodies = 16 << 20
)

// build returns the net/http form of the request.
func (c *Client) build(ctx context.Context, req Request) (*http.Request, error) {
	address, err := join(c.base, req)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, req.method(), c.base.String(), bytes.NewReader(req.Body))
	if err != nil {
		return nil, err
	}
	r.URL = address
	r.Header.Set("User-Agent", c.opts.UserAgent)
	if len(req.Body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if value, ok := req.authorization(); ok {
		r.Header.Set("Authorization", value)
	}
	for name, values := range req.Header {
		r.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	return r, checkHeader(r.Header)
}

// checkHeader rejects what net/http would not send, before the request takes a
// slot and a turn.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isTokenRune(r) }) {
			return fmt.Errorf("the header name %q is not a token", name)
		}
		for _, value := range values {
			if oneLine(value) != value {
				return fmt.Errorf("the header %s contains a control character", name)
			}
		}
	}
	return nil
}

// isTokenRune reports whether a header name may contain the rune (RFC 9110, section 5.6.2).
func isTokenRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// join appends the request's path and query to the base address.
func join(base *url.URL, req Request) (*url.URL, error) {
	if !strings.HasPrefix(req.Path, "/") {
		return nil, fmt.Errorf("the path %q does not begin with a slash", req.Path)
	}
	path, err := url.PathUnescape(req.Path)
	if err != nil {
		return nil, fmt.Errorf("the path: %w (write a percent sign as %%25)", err)
	}
	address := *base
	address.Path += path
	address.RawPath += req.Path
	if strings.Contains(req.Path, "%") && address.EscapedPath() != address.RawPath {
		return nil, fmt.Errorf("the path %q is partly encoded (use url.PathEscape on each segment)", req.Path)
	}
	address.RawQuery = encodeQuery(req.Query)
	return &address, nil
}

// encodeQuery writes a space as %20. A plus sign means a space only in forms, and
// a server may read it literally.
func encodeQuery(query url.Values) string {
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

// send sends the request and reads the response. It retries a GET once if the
// connection closes before any byte of the response: a server may close an idle
// connection just as the request goes out.
func (c *Client) send(ctx context.Context, req Request) Exchange {
	e, closed := c.attempt(ctx, req)
	if closed && req.method() == http.MethodGet && ctx.Err() == nil {
		c.traffic.reconnected()
		e, _ = c.attempt(ctx, req)
	}
	if !e.Sent.IsZero() {
		c.traffic.sent(e)
	}
	return e
}

// attempt sends the request once. It reports whether an open connection closed
// before any byte of the response.
func (c *Client) attempt(ctx context.Context, req Request) (e Exchange, closed bool) {
	e = Exchange{Request: req}
	var wire wireTrace
	bounded, limit := limited(ctx, c.opts.Timeout)
	defer limit.end()
	r, err := c.build(httptrace.WithClientTrace(bounded, wire.hooks()), req)
	if err != nil {
		e.Err = c.fail(req, ErrRequest, err)
		return e, false
	}
	if err := c.opts.Allow(); err != nil {
		e.Err = c.fail(req, ErrRequest, err)
		return e, false
	}

	e.Sent = c.opts.Now()
	defer func() { e.Took = c.opts.Now().Sub(e.Sent) }()
	answer, err := c.transport(req).RoundTrip(r)
	e.Reused = wire.kept.Load() && c.fresh != nil
	e.AfterBody = wire.request.before()
	if err == nil {
		wire.request.answered(req, answer.StatusCode)
		defer func() { _ = answer.Body.Close() }()
		e.Status, e.Header, e.Proto = answer.StatusCode, answer.Header, answer.Proto
		if e.Body, e.Truncated, e.free, err = c.read(bounded, limit, answer); err == nil || answer.Uncompressed {
			err = cmp.Or(undecoded(answer, err, len(e.Body)), err)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && !answer.Uncompressed { // a compressed body may itself be cut
			err = fmt.Errorf("the connection closed before the end of the body: %w", err)
		}
	}
	if err != nil {
		kind := kindOf(ctx, err, wire.brokenHandshake.Load())
		if limit.over.Load() && ctx.Err() == nil {
			kind, err = ErrTimeout, context.DeadlineExceeded
		}
		e.Err = c.fail(req, kind, err)
		e.Malformed = errors.Is(e.Err, ErrProtocol) && malformed(err)
		e.StaleConnection = errors.Is(e.Err, ErrProtocol) && wire.kept.Load() && !wire.answered.Load()
	}
	return e, wire.closedUnanswered(err)
}

// Undecodable returns the content coding of a body that nobody here can decode; "" if
// there is none. The transport removes the header of the coding that it decodes.
func Undecodable(h http.Header) string {
	coding := strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ", "))
	if strings.EqualFold(coding, "identity") {
		return ""
	}
	return coding
}

// undecoded returns the error of a body that was not decoded; nil if there is none.
func undecoded(answer *http.Response, err error, size int) error {
	var corrupt flate.CorruptInputError
	coding := Undecodable(answer.Header)
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("%w: Content-Encoding gzip: %w", ErrEncoding, err)
	case err == nil && coding != "" && size > 0:
		return fmt.Errorf("%w: Content-Encoding %q was not offered (turn it off in the server or proxy)", ErrEncoding, shortened(coding))
	}
	return nil
}

// shortened cuts a header that goes into a message.
func shortened(header string) string {
	const most = 40
	if len(header) <= most {
		return header
	}
	return header[:most] + "…"
}

// transport returns what sends the request.
func (c *Client) transport(req Request) http.RoundTripper {
	if req.Fresh && c.fresh != nil {
		return c.fresh
	}
	return c.opts.Transport
}

// Payload returns the body of a response for reading. A 101 has none: net/http hands
// over the connection instead, on which no timeout ends a read. Closing the Body of the
// response closes the connection.
func Payload(answer *http.Response) io.Reader {
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return http.NoBody
	}
	return answer.Body
}

// read reads the body. It keeps only the beginning of a body that exceeds the
// bound, because many exchanges are kept in memory. The caller calls free, if it is not nil, once
// it no longer needs the body.
func (c *Client) read(ctx context.Context, limit *limit, answer *http.Response) (body []byte, truncated bool, free func(), err error) {
	most := int(c.opts.MaxBody) + 1
	if answer.ContentLength > c.opts.MaxBody {
		most = int(c.keptBytes())
	}
	first := initialBody
	if answer.ContentLength > 0 {
		first = min(int(answer.ContentLength)+1, firstBuffer) // to see the end without growing again
	}
	// The buffer doubles only up to the bound; io.ReadAll and bytes.Buffer grow to twice as much.
	payload, body := Payload(answer), make([]byte, 0, min(first, most))
	for err == nil && len(body) < most {
		if len(body) == cap(body) {
			if cap(body) >= shortBody && free == nil {
				if free, err = c.makeRoom(ctx, limit, answer); err != nil {
					break
				}
			}
			body = append(make([]byte, 0, min(2*cap(body), most)), body...)
		}
		var n int
		n, err = payload.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if truncated = answer.ContentLength > c.opts.MaxBody || int64(len(body)) > c.opts.MaxBody; truncated {
		body = bytes.Clone(body[:min(int64(len(body)), c.keptBytes())])
	}
	return body, truncated, free, err
}

// keptBytes returns how many bytes are kept of a body that exceeds the bound.
func (c *Client) keptBytes() int64 { return min(c.opts.MaxBody, truncatedBody) }

// makeRoom waits until the body may be as long as it announces, or as the bound. The target is
// not to blame for that time.
func (c *Client) makeRoom(ctx context.Context, limit *limit, answer *http.Response) (free func(), err error) {
	defer limit.pause()()
	length := c.opts.MaxBody
	if answer.ContentLength > 0 {
		length = answer.ContentLength
	}
	length = min(length, longBodies)
	if err := c.long.Acquire(ctx, length); err != nil {
		return nil, err
	}
	return func() { c.long.Release(length) }, nil
}

// limit is the time that a request may take.
type limit struct {
	timer *time.Timer
	ends  time.Time
	over  atomic.Bool
	end   context.CancelFunc // of its context
}

// limited returns a context that ends when the time is over.
func limited(ctx context.Context, d time.Duration) (context.Context, *limit) {
	ctx, cancel := context.WithCancel(ctx)
	l := &limit{ends: time.Now().Add(d)}
	l.timer = time.AfterFunc(d, func() {
		l.over.Store(true)
		cancel()
	})
	l.end = func() {
		l.timer.Stop()
		cancel()
	}
	return ctx, l
}

// pause stops the time until the function is called that it returns.
func (l *limit) pause() (resume func()) {
	left := time.Until(l.ends)
	if !l.timer.Stop() {
		return func() {}
	}
	return func() {
		l.ends = time.Now().Add(left)
		l.timer.Reset(left)
	}
}

// release says that the body of the exchange is no longer needed.
func (e *Exchange) release() {
	if e.free != nil {
		e.free()
	}
}

// wireTrace records how far a request got. Its hooks run on goroutines of the
// transport.
type wireTrace struct {
	request                                    passenger
	connected, kept, answered, brokenHandshake atomic.Bool
}

func (w *wireTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			w.connected.Store(true)
			w.kept.Store(got.Reused)
			w.request.boards(got.Conn)
		},
		GotFirstResponseByte: func() { w.answered.Store(true) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				w.brokenHandshake.Store(true)
			}
		},
	}
}

func (w *wireTrace) closedUnanswered(err error) bool {
	closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	return closed && w.connected.Load() && !w.answered.Load()
}
