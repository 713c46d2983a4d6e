package generate

import (
	"cmp"
	"crypto/tls"
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

// MaxWorkers is the most that Options.Workers may be. Each worker needs a connection.
const MaxWorkers = 65_536

// A target counts as stopped if it answers nothing for Options.MaxOutage and leaves
// leastUnanswered requests in a row without a response. The number matters on a slow
// schedule: two restarts that hit single requests are no stop.
const (
	leastMaxOutage  = 10 * time.Second
	outageTimeouts  = 5
	leastUnanswered = 10
)

// Options name the target and bound the load. Only BaseURL is required. Zero means
// the default.
type Options struct {
	// BaseURL is the target's address, as in client.Options. Requests, and the keys
	// that they carry, go to no other address: redirects are not followed.
	BaseURL string
	// TLSConfig is as in client.Options.
	TLSConfig *tls.Config
	// UserAgent is as in client.Options.
	UserAgent string
	// Transport replaces the network and TLSConfig. It must honour the request's
	// context.
	Transport http.RoundTripper
	// Sleep waits for a short time, or less, until a request is due. The default
	// is more precise than time.Sleep, which tests in fake time need.
	Sleep func(time.Duration)

	// Workers is the maximum number of requests in flight, and so of connections.
	// If all workers wait for responses, requests are sent late, or not at all if
	// the phase ends before. Both are counted.
	Workers int
	Timeout time.Duration // of one request, from sending to the last byte of the response
	MaxBody int64         // bytes of a body that are read; a response with a longer body has failed
	// MaxOutage is how long a target may answer nothing, while requests are due,
	// before the phase ends with an client.Error. The default is 5 × Timeout, and at
	// least 10 s.
	MaxOutage time.Duration

	// Raw receives Vegeta's results in Vegeta's own encoding, for `vegeta report` and
	// `vegeta plot`; nil for none. Timestamp and latency count from the due time.
	// Bodies and most response headers are left out.
	Raw io.Writer
	// RawLines receives the same results as JSON lines, which Vegeta reads too; nil for
	// none.
	RawLines io.Writer
}

func (o Options) withDefaults() (Options, error) {
	// The client checks the base address and the TLS configuration.
	_, err := client.New(client.Options{BaseURL: o.BaseURL, TLSConfig: o.TLSConfig, Transport: o.Transport})
	o.UserAgent = cmp.Or(o.UserAgent, client.UserAgent)
	o.Workers, o.Timeout, o.MaxBody = cmp.Or(o.Workers, DefaultWorkers), cmp.Or(o.Timeout, DefaultTimeout), cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxOutage = cmp.Or(o.MaxOutage, max(leastMaxOutage, outageTimeouts*o.Timeout))
	if o.Sleep == nil {
		o.Sleep = fineSleep
	}
	if o.Transport == nil {
		o.Transport = newTransport(o, client.Proxy)
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return o, err
}
