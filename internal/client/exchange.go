package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"outreach.example/conformance/internal/redact"
)

// Request is one HTTP request that can be sent, retried and printed.
type Request struct {
	Operation string // operation id, for the record only
	Method    string // empty means GET
	// Path is the path from the server root with its parameters filled in, such
	// as /api/v2/campaigns/<id>/variables. Either all of it is percent-encoded or
	// none of it is; in that case the client encodes it.
	Path   string
	Query  url.Values  // sent sorted by name, percent-encoded
	Header http.Header // additional headers; they override the client's own
	// Body is sent unchanged, with Content-Type application/json unless Header
	// overrides it. Empty means no body.
	Body []byte
	Key  Key // sent as Authorization: Bearer <token>; the zero Key sends no such header
	// Allowed says which responses are right, for those who judge them.
	Allowed Allowed
	// Authorization, if not nil, is the whole value of the Authorization header.
	// It overrides Key, for requests with bad credentials.
	Authorization *string
	// NoRetry returns a 429 at once. The request is also sent while other
	// requests of the key wait out a 429, or have given up. Concurrency and pace
	// still apply.
	NoRetry bool
	// Provoked means that the caller has driven the key to its limit. A 429 then does
	// not count as a sign that the target no longer responds (Options.Patience).
	Provoked bool
	// Settle gives the request a few seconds (settleTime) more than its context, once it
	// is sent. A creation that is cut off would leave a row whose id nobody knows.
	Settle bool
	// Place is which of the requests of its source it is, from 1; 0 for the next one.
	Place int
	// Fresh sends the request on a new connection, which closes after the response.
	Fresh bool
}

// authorization returns the value of the Authorization header and whether it is sent.
func (r Request) authorization() (string, bool) {
	switch {
	case r.Authorization != nil:
		return *r.Authorization, true
	case r.Key.Token != "":
		return "Bearer " + r.Key.Token, true
	}
	return "", false
}

// Exchange is a request and its response.
//
// Status, Header and Body hold what was received even if Err is set: a truncated
// body, or the last 429 of a request that was throttled for too long. Status is 0
// if no status line was received.
type Exchange struct {
	Request   Request
	Status    int
	Header    http.Header
	Body      []byte // decoded if it came compressed
	Truncated bool   // the body exceeds Options.MaxBody; Body holds its beginning
	// Err says why there is no complete response. It is one of ErrTimeout,
	// ErrUnresolved, ErrRefused, ErrTLS, ErrProtocol, ErrEncoding, ErrCanceled,
	// ErrThrottled and ErrRequest (use errors.Is). Its text holds no secret.
	Err error
	// StaleConnection means that a reused connection closed before any byte of the
	// response was received.
	StaleConnection bool
	// Reused means that the connection had carried other requests. It is false if
	// Options.Transport is one that ignores Request.Fresh.
	Reused bool
	// AfterBody names the request that the connection carried last, with the status of
	// its response, if that request had a body and was not accepted; otherwise "". A
	// server that rejects a request early may leave its body unread.
	AfterBody string
	variables map[string]string // by id: see Steps

	// Malformed means that Err is ErrProtocol, and that the target sent something else
	// than HTTP. A response that was cut off is not malformed.
	Malformed bool

	Sent      time.Time     // time of the last attempt; zero if never sent
	Took      time.Duration // from Sent to the last byte of the response
	Throttled int           // 429 responses waited out before this one

	ID     int           // from 1, in the order in which the client's responses came
	Source string        // who sent the request (From)
	Wire   *http.Request // as it was sent, without its context; nil if it could not be built
	Proto  string        // of the response, such as HTTP/1.1

	agent string // User-Agent of the client

	free func() // gives back what the body takes of the long bodies in flight; nil if it is short
}

// String returns a one-line summary without secrets.
func (e Exchange) String() string {
	what := redact.Process.Text(e.Request.method() + " " + e.Request.Path)
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", what, e.Err)
	}
	return fmt.Sprintf("%s: %d, %d bytes in %s", what, e.Status, len(e.Body), e.Took.Round(time.Microsecond))
}

// Format implements fmt.Formatter: every verb prints String, because several
// fields can hold a token.
func (e Exchange) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, e.String()) }

// GomegaString makes Gomega's failure messages print String.
func (e Exchange) GomegaString() string { return e.String() }

// Excerpt returns the beginning of the body without secrets: valid UTF-8 of at most
// most bytes. Control characters are replaced, because JSON writes 6 bytes for each.
func (e Exchange) Excerpt(most int) string {
	text := redact.Process.Text(strings.ToValidUTF8(string(e.Body[:min(len(e.Body), most)]), "�"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) {
			return utf8.RuneError
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

func (r Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// The kinds of Exchange.Err, for errors.Is. All but ErrRequest concern the
// connection to the target, not its conformance.
var (
	ErrTimeout    = errors.New("no complete response in time")
	ErrUnresolved = errors.New("host name not resolved")
	ErrRefused    = errors.New("no connection")
	ErrTLS        = errors.New("TLS handshake failed")
	ErrProtocol   = errors.New("connection lost, or the response is not HTTP")
	ErrEncoding   = errors.New("the body cannot be decoded")
	ErrCanceled   = errors.New("canceled")
	ErrThrottled  = errors.New("throttled for too long")
	ErrRequest    = errors.New("request cannot be sent")
)

// failure is a kind and its cause. Its text is redacted, because causes may quote
// addresses and headers.
type failure struct {
	text        string
	kind, cause error
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }

func (c *Client) fail(req Request, kind, cause error) error {
	text := fmt.Sprintf("%s %s: %v: %v", req.method(), req.Path, kind, cause)
	return &failure{text: redact.Process.Text(text), kind: kind, cause: cause}
}

// tlsAlert is the net.OpError operation if the peer ends a TLS connection. In TLS
// 1.3 a server rejects a missing client certificate only after the handshake.
const tlsAlert = "remote error"

// kindOf classifies the error of a sent request. The deadline of the caller's
// context counts as a timeout too: the target did not respond in the time given.
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
	case errors.Is(err, ErrEncoding):
		return ErrEncoding
	case brokenHandshake, errors.As(err, &dial) && dial.Op == tlsAlert:
		return ErrTLS
	case errors.Is(err, syscall.ECONNREFUSED),
		errors.As(err, &dial) && dial.Op == "dial":
		return ErrRefused
	}
	return ErrProtocol
}

// Traffic holds totals of a client. Requests is the sum of Statuses and NoAnswer.
type Traffic struct {
	Requests      int         // sent, including retries
	Statuses      map[int]int // responses by HTTP status
	NoAnswer      int         // sent without receiving a status line
	BytesReceived int64       // of decoded bodies, without truncated parts
	Throttled     int         // 429 responses that were waited out
	Reconnected   int         // GET requests retried because the connection closed before any response
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

// reconnected also counts the lost request, which was sent and got no response.
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
