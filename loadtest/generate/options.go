package generate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	// MaxOutage is how long a target may answer nothing, while requests are due,
	// before the phase ends with an OutageError. The default is 5 × Timeout, and at
	// least 10 s.
	MaxOutage time.Duration

	// Raw receives the results in Vegeta's own encoding, which `vegeta report`
	// and `vegeta plot` read; nil for none. There, too, the timestamp is when a
	// request was due and the latency counts from then. Bodies are left out, and
	// of the headers of the answers all but a few.
	Raw io.Writer
	// Tick is called about ten times a second while a phase runs, and once at its
	// end, from one goroutine. When it is slow, figures are left out.
	Tick func(Live)
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
	if o.MaxOutage < 0 {
		wrong = append(wrong, fmt.Errorf("generate: the longest outage is %s: want more than 0, or 0 for the default", o.MaxOutage))
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
	if o.MaxOutage == 0 {
		o.MaxOutage = max(leastMaxOutage, outageTimeouts*o.Timeout)
	}
	if o.Transport == nil {
		o.Transport = newTransport(o, http.ProxyFromEnvironment)
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return o, errors.Join(wrong...)
}
