package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// reachTimeout bounds Reachable where the context does not.
const reachTimeout = 10 * time.Second

// probePath is what Reachable asks for: a list that takes no parameters and
// that, without a key, costs a server no more than a refusal.
const probePath = "/api/v2/crm-actions/phone-numbers"

// A step is a part of the way to an answer, in order.
type step int32

const (
	resolving step = iota
	connecting
	handshaking
	asking
)

// steps says how each step is called and what to do when the way ends there.
var steps = [...]struct{ name, advice string }{
	resolving:   {"resolving its host name", "check the host in base_url, and the name server"},
	connecting:  {"connecting", "start the server, or check host and port in base_url, and the firewall between"},
	handshaking: {"the TLS handshake", "check that the server speaks TLS there, and that this machine trusts its certificate, or name its authority with tls.ca_file in the profile (and a client certificate with tls.cert_file, where it asks for one); a server without TLS has an address with http://"},
	asking:      {"asking over HTTP", "check that an HTTP server listens there and is not stuck; a server with TLS has an address with https://"},
}

// Reachable sends one request without a key. Any answer of the server's own
// will do, whatever its status: only a run judges. The error says how far the
// way went and what to do.
func (t *Target) Reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var reached atomic.Int32 // hooks run on the transport's goroutines
	at := func(s step) { reached.Store(int32(s)) }
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { at(resolving) },
		ConnectStart:      func(_, _ string) { at(connecting) },
		TLSHandshakeStart: func() { at(handshaking) },
		GotConn:           func(httptrace.GotConnInfo) { at(asking) },
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.BaseURL+probePath, nil)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	request.Header.Set("User-Agent", userAgent)
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t.TLS, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	began := time.Now()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		var alert *net.OpError
		if errors.As(err, &alert) && alert.Op == "remote error" { // in TLS 1.3 a missing client certificate shows after the handshake
			at(handshaking)
		}
		s := steps[reached.Load()]
		return &unreachable{fmt.Sprintf("target: %s cannot be reached: %s failed: %s; %s", t.BaseURL, s.name, plainly(err, time.Since(began)), s.advice), err}
	}
	_ = answer.Body.Close()
	if advice := t.elsewhere(request.URL, answer); advice != "" {
		return fmt.Errorf("target: GET %s answers %d: %s", request.URL, answer.StatusCode, advice)
	}
	return nil
}

// unreachable says in plain words what its cause says in those of the network.
type unreachable struct {
	text  string
	cause error
}

func (u *unreachable) Error() string { return u.text }
func (u *unreachable) Unwrap() error { return u.cause }

// plainly says what went wrong; what the network says itself is kept where it is plain.
func plainly(err error, after time.Duration) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("nothing came within %s", after.Round(time.Millisecond))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the server closed the connection without an answer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there (connection refused)"
	default:
		return err.Error()
	}
}

// elsewhere returns advice if the answer shows that the service itself is not
// at the address.
func (t *Target) elsewhere(asked *url.URL, answer *http.Response) string {
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "something stands in front of the service, which is not up; start it, or wait until it is"
	case http.StatusNotFound:
		if strings.HasSuffix(t.BaseURL, "/api/v2") {
			return "leave /api/v2 off the address: it is a part of every path"
		}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		// The same path on another host: the whole site has moved. Anything
		// else, such as a login page, is the server's own answer.
		to, err := answer.Location()
		if err == nil && to.Path == asked.Path && (to.Scheme != asked.Scheme || to.Host != asked.Host) {
			return fmt.Sprintf("it sends everybody to %s://%s; use that address", to.Scheme, to.Host)
		}
	}
	return ""
}
