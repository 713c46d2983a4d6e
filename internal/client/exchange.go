package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// Request is one HTTP request, described so that it can be sent, repeated and
// shown.
type Request struct {
	Operation string // operation id, for the record; the client does not look at it
	Method    string // empty means GET
	// Path is the path from the server's root with its parameters filled in:
	// /api/v2/campaigns/<id>/variables. It is percent-encoded throughout or not
	// at all; in the latter case the client encodes what needs it.
	Path   string
	Query  url.Values  // sent sorted by name, percent-encoded
	Header http.Header // beyond what the client sets; an entry here wins over the client's own
	// Body is sent as it is, with Content-Type application/json unless Header
	// says otherwise. An empty body is no body.
	Body []byte
	Key  Key // sent as Authorization: Bearer <token>; the zero Key sends no such header
	// Authorization, when not nil, is the whole value of the Authorization
	// header and stands in for Key: for requests with bad credentials.
	Authorization *string
	// NoRetry hands a 429 back at once, and sends even while other requests of
	// the key wait for a 429 to pass. Concurrency and pace hold nevertheless.
	NoRetry bool
}

// authorization returns the value of the Authorization header, and whether there is one.
func (r Request) authorization() (string, bool) {
	switch {
	case r.Authorization != nil:
		return *r.Authorization, true
	case r.Key.Token != "":
		return "Bearer " + r.Key.Token, true
	}
	return "", false
}

// Exchange is a request and what became of it.
//
// Status, Header and Body hold what has come of the answer even where Err is
// set: a body that broke off, or the last 429 of a request that was throttled
// to death. Status is 0 when no status line came.
type Exchange struct {
	Request   Request
	Status    int
	Header    http.Header
	Body      []byte // decoded if it came compressed
	Truncated bool   // the body is longer than Options.MaxBody; Body holds its beginning
	// Err tells why there is no whole answer. It is one of the kinds ErrTimeout,
	// ErrUnresolved, ErrRefused, ErrTLS, ErrProtocol, ErrCanceled, ErrThrottled
	// and ErrRequest (errors.Is), and its text holds no secret.
	Err error
	// KeptClosed: there is no answer since the connection, which was kept from an
	// earlier request, closed before any byte of one.
	KeptClosed bool

	Sent      time.Time     // when it was sent, for the last time; zero if it never was
	Took      time.Duration // from Sent to the last byte of the answer
	Throttled int           // 429 answers that were waited out before this one

	redactor *redactor
}

// String sums the exchange up in one line without secrets.
func (e Exchange) String() string {
	what := e.redact(e.Request.method() + " " + e.Request.Path)
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", what, e.Err)
	}
	return fmt.Sprintf("%s: %d, %d bytes in %s", what, e.Status, len(e.Body), e.Took.Round(time.Microsecond))
}

// Format implements fmt.Formatter: every verb prints String, because the fields
// can hold a token in more than one place.
func (e Exchange) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, e.String()) }

// GomegaString makes Gomega's failure messages print String too.
func (e Exchange) GomegaString() string { return e.String() }

func (e Exchange) redact(s string) string { return e.secrets().redact(s) }

// secrets returns the client's redactor, or for an exchange that was put
// together by hand one that knows its own key.
func (e Exchange) secrets() *redactor {
	if e.redactor != nil {
		return e.redactor
	}
	return newRedactor([]Key{e.Request.Key}, nil)
}

func (r Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// The kinds of Exchange.Err, to be told apart with errors.Is. All but
// ErrRequest are about the way to the target, not about its conformance.
var (
	ErrTimeout    = errors.New("no whole answer in time")
	ErrUnresolved = errors.New("host name not resolved")
	ErrRefused    = errors.New("no connection")
	ErrTLS        = errors.New("TLS handshake failed")
	ErrProtocol   = errors.New("connection broke off, or the answer is not HTTP")
	ErrCanceled   = errors.New("canceled")
	ErrThrottled  = errors.New("throttled to death")
	ErrRequest    = errors.New("request cannot be sent")
)

// failure is a kind, its cause, and a text from which secrets are gone: the
// texts of causes can quote addresses and headers.
type failure struct {
	text        string
	kind, cause error
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }

func (c *Client) fail(req Request, kind, cause error) error {
	text := fmt.Sprintf("%s %s: %v: %v", req.method(), req.Path, kind, cause)
	return &failure{text: c.Redact(text), kind: kind, cause: cause}
}

// tlsAlert is the operation of the error with which the peer ends a TLS
// connection. A server that misses a client certificate says so only after the
// handshake, in TLS 1.3.
const tlsAlert = "remote error"

// kindOf finds the kind of an error that a sent request has met. The deadline
// of the caller's context counts like the client's own timeout: in both cases
// the target did not answer in the time it was given.
func kindOf(ctx context.Context, err error, brokenHandshake bool) error {
	var unresolved *net.DNSError
	var timeout net.Error
	var dial *net.OpError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ErrCanceled
	case errors.As(err, &unresolved):
		return ErrUnresolved
	case ctx.Err() != nil,
		errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return ErrTimeout
	case brokenHandshake, errors.As(err, &dial) && dial.Op == tlsAlert:
		return ErrTLS
	case errors.Is(err, syscall.ECONNREFUSED),
		errors.As(err, &dial) && dial.Op == "dial":
		return ErrRefused
	}
	return ErrProtocol
}

// Traffic sums up what went over the wire. Requests is the sum of Statuses and
// NoAnswer.
type Traffic struct {
	Requests      int         // sent, those repeated after a 429 included
	Statuses      map[int]int // answers by HTTP status
	NoAnswer      int         // sent without so much as a status line coming back
	BytesReceived int64       // of bodies, decoded, as far as they were kept
	Throttled     int         // 429 answers that were waited out
	Reconnected   int         // GET requests repeated because the connection closed before any answer
}

type counters struct {
	mu    sync.Mutex
	total Traffic
}

func (c *counters) sent(e Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Requests++
	c.total.BytesReceived += int64(len(e.Body))
	if e.Status == 0 {
		c.total.NoAnswer++
		return
	}
	if c.total.Statuses == nil {
		c.total.Statuses = map[int]int{}
	}
	c.total.Statuses[e.Status]++
}

func (c *counters) waitedOut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Throttled++
}

// reconnected counts the request that was lost as well: it was sent, unanswered.
func (c *counters) reconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Requests++
	c.total.NoAnswer++
	c.total.Reconnected++
}

func (c *counters) snapshot() Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.total
	t.Statuses = maps.Clone(c.total.Statuses)
	if t.Statuses == nil {
		t.Statuses = map[int]int{}
	}
	return t
}
