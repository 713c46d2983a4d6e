package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Defaults of Options.
const (
	DefaultConcurrency  = 16
	DefaultTimeout      = 30 * time.Second
	DefaultMaxBody      = 8 << 20
	DefaultPatience     = time.Minute
	DefaultMaxThrottle  = 2 * time.Minute // twice the patience, as always
	DefaultMaxThrottled = 30
)

// IdleTimeout is how long an idle connection is kept. Common servers close theirs
// after 5 s. A POST sent on a connection that the server closes would be lost,
// because it must not be retried.
const IdleTimeout = 4 * time.Second

// MaxURLValue is the maximum length in bytes of a value of the target's data that goes
// into an address. A server may refuse a long address with 414 or 431.
const MaxURLValue = 256

// UserAgent is the default User-Agent header.
const UserAgent = "outreach-conformance"

// Unpaced is the RequestsPerSecond of a client that only Concurrency bounds.
const Unpaced = math.MaxFloat64

// Options describe the target and how to treat it. Only BaseURL is required. A
// zero field means the default.
type Options struct {
	// BaseURL is the {base_url} of the specification: http or https, a host, and
	// optionally a port and a path prefix.
	BaseURL string

	Concurrency       int           // maximum requests in flight
	RequestsPerSecond float64       // over all keys; 0 means Unpaced
	Timeout           time.Duration // per request, from the connection to the last byte of the body
	MaxBody           int64         // maximum bytes of a body; longer bodies are truncated

	// Patience is how long the target may answer nothing but 429, to whatever request,
	// before all requests fail with ErrThrottled. MaxThrottle is how long one operation
	// may get only 429 with one key before its requests with that key fail so; the
	// default is twice the Patience. What is given up is not sent again. MaxThrottled
	// is how many 429 responses one request waits out.
	Patience     time.Duration
	MaxThrottle  time.Duration
	MaxThrottled int

	UserAgent string // header of each request; empty for the default

	Keys []Key  // keys to redact, with their variables; keys of requests are added when sent
	Seed uint64 // of the backoff jitter

	// TLSConfig sets the trusted authorities and the client certificate. Nil
	// means the machine's defaults. It must verify the server's certificate.
	TLSConfig *tls.Config
	// Transport replaces the network, including TLSConfig. It must honour the
	// request's context. Request.Fresh needs an *http.Transport.
	Transport http.RoundTripper
	// Allow is called before each attempt. An error blocks the request. Nil
	// allows all.
	Allow func() error
	// Observe is called with every exchange, from many goroutines: with each 429
	// that Do waits out, then with the exchange that Do returns.
	Observe func(Exchange)

	// Replay answers requests in place of the network: with each 429 that was waited out, and
	// the exchange that Do returns. wire is what would be sent. Nil for the network.
	Replay func(ctx context.Context, req Request, wire *http.Request) []Exchange

	// Waits is called when a key must pause for 1 s or longer after a 429, once for each
	// such pause. Doing is called when a request of a key begins (+1) and ends (-1) an activity.
	// Both are called from many goroutines; nil ignores them.
	Waits func(Wait)
	Doing func(a Activity, key string, requests int)

	// Now and Sleep replace the clock. Sleep returns the context's error early if
	// the context ends.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// withDefaults fills in the defaults. It reports every invalid value.
func (o Options) withDefaults() (Options, error) {
	var wrong []error
	for _, bound := range []struct {
		name  string
		value float64
	}{
		{"Concurrency", float64(o.Concurrency)},
		{"RequestsPerSecond", o.RequestsPerSecond},
		{"Timeout", float64(o.Timeout)},
		{"MaxBody", float64(o.MaxBody)},
		{"Patience", float64(o.Patience)},
		{"MaxThrottle", float64(o.MaxThrottle)},
		{"MaxThrottled", float64(o.MaxThrottled)},
	} {
		if !(bound.value >= 0 && bound.value <= math.MaxFloat64) { // NaN and infinity fail too
			wrong = append(wrong, fmt.Errorf("client: %s is %v (give a positive value, or 0 for the default)", bound.name, bound.value))
		}
	}
	if o.TLSConfig != nil && o.Transport != nil {
		wrong = append(wrong, errors.New("client: both TLSConfig and Transport are set (configure TLS in the transport)"))
	}
	if o.TLSConfig != nil && o.TLSConfig.InsecureSkipVerify {
		wrong = append(wrong, errors.New("client: TLSConfig does not verify certificates (trust the target's authority with RootCAs)"))
	}
	setDefault(&o.Concurrency, DefaultConcurrency)
	setDefault(&o.Timeout, DefaultTimeout)
	setDefault(&o.MaxBody, DefaultMaxBody)
	setDefault(&o.UserAgent, UserAgent)
	setDefault(&o.Patience, DefaultPatience)
	setDefault(&o.MaxThrottle, 2*o.Patience)
	setDefault(&o.MaxThrottled, DefaultMaxThrottled)
	if o.Transport == nil {
		o.Transport = newTransport(o.Concurrency, o.Timeout, o.TLSConfig)
	}
	if o.Allow == nil {
		o.Allow = func() error { return nil }
	}
	if o.Observe == nil {
		o.Observe = func(Exchange) {}
	}
	if o.Waits == nil {
		o.Waits = func(Wait) {}
	}
	if o.Doing == nil {
		o.Doing = func(Activity, string, int) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	return o, errors.Join(wrong...)
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// ParseBase parses the address of a server, and removes its trailing slash. Its errors hold no
// password.
func ParseBase(address string) (*url.URL, error) {
	base, err := url.Parse(address)
	if err != nil { // the parser's text quotes the address
		return nil, errors.New("malformed address (write it like https://host/prefix)")
	}
	wrong := ""
	port, err := strconv.Atoi(cmp.Or(base.Port(), "1"))
	switch {
	case base.Scheme != "http" && base.Scheme != "https", base.Hostname() == "":
		wrong = "must begin with http:// or https:// and have a host (write it like https://host/prefix)"
	case err != nil || port < 1 || port > math.MaxUint16:
		wrong = "must have a port from 1 to 65535, or none"
	case base.User != nil, base.RawQuery != "", base.ForceQuery, base.Fragment != "":
		wrong = "must not contain a user, query or fragment (credentials belong under `keys` in the profile)"
	}
	if wrong != "" {
		return nil, fmt.Errorf("address %s %s", shown(base), wrong)
	}
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), prefix
	return base, nil
}

// shown returns the address without password and query. Without a host, the
// parser may not have recognized a user and password before an @.
func shown(u *url.URL) string {
	text := (&url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path}).String()
	if at := strings.LastIndexByte(text, '@'); at >= 0 && u.Host == "" {
		return "…" + text[at:]
	}
	return text
}

// Key is an API key and its name. The zero Key means a request without
// credentials.
//
// A Key prints as its environment variable under every fmt verb, so that printing
// a Request does not show the token.
type Key struct {
	Name  string
	Token string `json:"-" yaml:"-"`
	// Variable is the environment variable from which the user's profile reads the token.
	// It is empty for a key that comes from elsewhere.
	Variable string `json:"-" yaml:"-"`
	// Mint is a shell command that prints a token for printed commands. It is empty
	// for a key that the user has.
	Mint string `json:"-" yaml:"-"`
}

// Env returns the environment variable that holds the token in printed commands:
// Variable, or else OUTREACH_KEY_<NAME>, in capitals, with an underscore for every
// character that a variable name cannot have.
func (k Key) Env() string {
	if k.Variable != "" {
		return k.Variable
	}
	if k.Name == "" {
		return "OUTREACH_KEY"
	}
	return "OUTREACH_KEY_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, k.Name)
}

// String returns the variable of the key, never its token.
func (k Key) String() string {
	if k == (Key{}) {
		return "no key"
	}
	return "$" + k.Env()
}

// Format implements fmt.Formatter: no verb and no flag shows the token.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// GomegaString keeps the token out of Gomega's failure messages, which print
// structs by reflection.
func (k Key) GomegaString() string { return k.String() }
