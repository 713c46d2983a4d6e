package client

import (
	"fmt"
	"net/http"
	"net/url"
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
