package generate

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

// failureOf puts the error of a request that was sent into one of measure's
// words. The error's own text, which may quote addresses and headers, goes no
// further.
func failureOf(err error) string {
	var timeout net.Error
	var wire *net.OpError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, inspect.ErrTooLong):
		return measure.FailureTooLong
	case errors.Is(err, errLongHeader):
		return measure.FailureLongHeader
	case errors.Is(err, context.Canceled): // the run was interrupted
		return measure.FailureOther
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return measure.FailureTimeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &wire) && wire.Op == "dial":
		return measure.FailureRefused
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return measure.FailureReset
	default:
		return measure.FailureOther
	}
}
