package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

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
