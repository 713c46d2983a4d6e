package generate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"outreach.example/conformance/internal/client"
)

// Defaults of Options.
const (
	DefaultWorkers = 2048
	DefaultTimeout = 30 * time.Second
	DefaultMaxBody = client.DefaultMaxBody
)

// MaxWorkers bounds Options.Workers: each takes a connection.
const MaxWorkers = 65_536

// Options say where the target is and how it is loaded. Only BaseURL is
// required; zero means the default.
type Options struct {
	// BaseURL is the target's address, as client.Options has it. Requests, and
	// the keys that they carry, go nowhere else: no redirect is followed.
	BaseURL string
	// TLSConfig is as in client.Options.
	TLSConfig *tls.Config
	// Transport replaces the network, TLSConfig included. It must honour the
	// request's context.
	Transport http.RoundTripper

	// Workers is the most requests in flight, and so the most connections. When
	// all wait for answers, requests go out late, or not at all if the phase ends
	// meanwhile; both are counted.
	Workers int
	Timeout time.Duration // for one request, from its sending to the last byte of the answer
	MaxBody int64         // bytes of a body that are read; an answer that is longer has failed
	// Silence is how long a target may answer nothing at all, while requests are
	// due, until it counts as dead and the phase ends with a SilentError. The
	// default is 5 × Timeout, and 10 s at least.
	Silence time.Duration

	// Raw receives the results in Vegeta's own encoding, which `vegeta report`
	// and `vegeta plot` read; nil for none. There, too, the timestamp is when a
	// request was due and the latency counts from then. Bodies are left out, and
	// of the headers of the answers all but a few.
	Raw io.Writer
	// Tick is called about ten times a second while a phase runs, and once at its
	// end, from one goroutine. When it is slow, figures are left out.
	Tick func(Live)

	timed bool // the transport keeps the timeout by itself
}

func (o Options) withDefaults() (Options, error) {
	// The client knows what a base address and a TLS configuration must be.
	_, err := client.New(client.Options{BaseURL: o.BaseURL, TLSConfig: o.TLSConfig, Transport: o.Transport})
	wrong := []error{err}
	if o.Workers < 0 || o.Workers > MaxWorkers {
		wrong = append(wrong, fmt.Errorf("generate: %d workers: want 1 to %d, or 0 for the default of %d", o.Workers, MaxWorkers, DefaultWorkers))
	}
	if o.Timeout < 0 {
		wrong = append(wrong, fmt.Errorf("generate: the timeout is %s: want more than 0, or 0 for the default of %s", o.Timeout, DefaultTimeout))
	}
	if o.MaxBody < 0 {
		wrong = append(wrong, fmt.Errorf("generate: at most %d bytes of a body: want more than 0, or 0 for the default of %d", o.MaxBody, DefaultMaxBody))
	}
	if o.Silence < 0 {
		wrong = append(wrong, fmt.Errorf("generate: a silence of %s: want more than 0, or 0 for the default", o.Silence))
	}
	if o.Workers == 0 {
		o.Workers = DefaultWorkers
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Silence == 0 {
		o.Silence = max(leastSilence, silentTimeouts*o.Timeout)
	}
	if o.Transport == nil {
		o.Transport, o.timed = newTransport(o, http.ProxyFromEnvironment)
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return o, errors.Join(wrong...)
}

// newTransport returns what carries the requests: net/http's own transport where
// a proxy stands between, and a wire where none does.
func newTransport(o Options, proxy func(*http.Request) (*url.URL, error)) (t http.RoundTripper, timed bool) {
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, false // the client has said so
	}
	if through, err := proxy(&http.Request{URL: base}); through == nil && err == nil {
		return newWire(o.Timeout, o.TLSConfig), true
	}
	return netHTTP(o, proxy), false
}

// netHTTP is net/http's transport, set up for load.
func netHTTP(o Options, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	dialer := &net.Dialer{Timeout: o.Timeout}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.TLSConfig.Clone(), // nil stays nil
		TLSHandshakeTimeout:    o.Timeout,
		Protocols:              &protocols,
		DisableCompression:     true, // bytes are counted as they come over the wire
		MaxConnsPerHost:        o.Workers,
		MaxIdleConns:           o.Workers,
		MaxIdleConnsPerHost:    o.Workers,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        maxIdle,
	}
}
