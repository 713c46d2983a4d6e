package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of Options.
const (
	DefaultConcurrency  = 16
	DefaultTimeout      = 30 * time.Second
	DefaultMaxBody      = 8 << 20
	DefaultMaxThrottle  = 2 * time.Minute
	DefaultMaxThrottled = 30
)

// IdleTimeout is how long a connection without requests is kept. It is below the
// 5 s after which common servers close one: a POST that meets the closing cannot
// be repeated and would be lost.
const IdleTimeout = 4 * time.Second

// UserAgent is the User-Agent header of every request that sets no other.
const UserAgent = "outreach-conformance"

// Options say where the target is and how it is to be treated. Only BaseURL is
// required; zero means the default.
type Options struct {
	// BaseURL is the target's address as the specification writes {base_url}:
	// http or https, a host, optionally a port and a path prefix.
	BaseURL string

	Concurrency       int           // most requests under way at once
	RequestsPerSecond float64       // pace over all keys; 0 is unpaced
	Timeout           time.Duration // for one request, from the connection to the last byte of the body
	MaxBody           int64         // bytes of a body that are read; one that is longer is cut to its beginning

	// MaxThrottle is how long a key may be answered with nothing but 429 before
	// its requests fail with ErrThrottled, and MaxThrottled how many 429
	// answers one request waits out.
	MaxThrottle  time.Duration
	MaxThrottled int

	Keys    []Key    // keys whose tokens Redact replaces by their variable; keys of requests are learnt as they come
	Secrets []string // other strings that nobody must read
	Seed    uint64   // of the jitter in back-off waits

	// TLSConfig says how to speak TLS: which authorities to trust in place of the
	// machine's, and which certificate to show; nil is the machine's defaults.
	// It must not switch the verification of the server's certificate off.
	TLSConfig *tls.Config
	// Transport replaces the network, TLSConfig included. It must honour the
	// request's context.
	Transport http.RoundTripper
	// Allow is asked before each request that goes out, a repeated one too; its
	// error keeps the request back. nil allows all.
	Allow func() error
	// Observe is called with every exchange, from many goroutines: once with
	// what Do returns, and before that with each 429 that Do waits out.
	Observe func(Exchange)

	// Now and Sleep replace the clock that paces and waits. Sleep returns early
	// with the context's error when the context ends.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// withDefaults fills in the defaults; it reports every value that cannot be meant.
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
		{"MaxThrottle", float64(o.MaxThrottle)},
		{"MaxThrottled", float64(o.MaxThrottled)},
	} {
		if !(bound.value >= 0 && bound.value <= math.MaxFloat64) { // NaN and infinity fail too
			wrong = append(wrong, fmt.Errorf("client: %s is %v: give a positive value, or 0 for the default", bound.name, bound.value))
		}
	}
	if o.TLSConfig != nil && o.Transport != nil {
		wrong = append(wrong, errors.New("client: TLSConfig and Transport are both given: give the transport its own TLS configuration"))
	}
	if o.TLSConfig != nil && o.TLSConfig.InsecureSkipVerify {
		wrong = append(wrong, errors.New("client: TLSConfig skips the verification of certificates: trust the target's authority instead (RootCAs)"))
	}
	setDefault(&o.Concurrency, DefaultConcurrency)
	setDefault(&o.Timeout, DefaultTimeout)
	setDefault(&o.MaxBody, DefaultMaxBody)
	setDefault(&o.MaxThrottle, DefaultMaxThrottle)
	setDefault(&o.MaxThrottled, DefaultMaxThrottled)
	if o.Transport == nil {
		o.Transport = newTransport(o.Concurrency, o.TLSConfig)
	}
	if o.Allow == nil {
		o.Allow = func() error { return nil }
	}
	if o.Observe == nil {
		o.Observe = func(Exchange) {}
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

func newTransport(concurrency int, config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSClientConfig:        config.Clone(), // nil stays nil
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           concurrency,
		MaxIdleConnsPerHost:    concurrency,
		MaxResponseHeaderBytes: 256 << 10,
		IdleConnTimeout:        IdleTimeout,
	}
}

// parseBase reads a base address and drops the slash at its end.
func parseBase(address string) (*url.URL, error) {
	base, err := url.Parse(address)
	if err != nil {
		// The parser's text quotes the address, which may hold a password.
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("client: base address: %w", err)
	}
	var wrong string
	switch {
	case base.Scheme != "http" && base.Scheme != "https":
		wrong = "must begin with http:// or https://"
	case base.Hostname() == "":
		wrong = "names no host"
	case base.User != nil:
		wrong = "must not carry a user or password: credentials belong in keys"
	case base.RawQuery != "" || base.ForceQuery:
		wrong = "must not carry a query"
	case base.Fragment != "":
		wrong = "must not carry a fragment"
	}
	if wrong != "" {
		return nil, fmt.Errorf("client: base address %q %s; write it like https://host/prefix", shown(base), wrong)
	}
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), prefix
	return base, nil
}

// shown is the address without password and query. Where it has no host, a user
// and password in front of an @ have not been recognised as such.
func shown(u *url.URL) string {
	text := (&url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path}).String()
	if at := strings.LastIndexByte(text, '@'); at >= 0 && u.Host == "" {
		return "…" + text[at:]
	}
	return text
}

// Sleep waits, and returns the context's error: early if the context ends, and
// even where there is nothing to wait for.
func Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// Key is an API key and the name by which people know it. The zero Key stands
// for a request without credentials.
//
// A Key prints as its environment variable under every fmt verb, so that a
// failure message that dumps a Request does not show the token.
type Key struct {
	Name  string
	Token string `json:"-" yaml:"-"`
}

// Env returns the environment variable that holds the token when a printed
// command is repeated: OUTREACH_KEY_<NAME>, in capitals, with an underscore for
// whatever a variable's name cannot hold.
func (k Key) Env() string {
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

// String names the key without showing it.
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
