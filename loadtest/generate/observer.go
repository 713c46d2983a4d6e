package generate

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

// observer is the http.RoundTripper of Vegeta's client. It passes each request on
// to the transport and notes when it was sent, what came back and when. It reads
// the body into a pooled buffer for the inspector, so Vegeta finds it read and
// keeps none of it.
type observer struct {
	transport http.RoundTripper
	timeout   time.Duration
	maxBody   int64
	inspect   inspect.Func // may be nil
	hits      *hits
	start     time.Time
	ctx       context.Context // of all requests of the phase
	inFlight  atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (o *observer) RoundTrip(r *http.Request) (*http.Response, error) {
	h, err := o.hits.send(r.Header)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(o.ctx, o.timeout)
	defer cancel()
	r = r.WithContext(h.attempts.within(ctx))
	r.Header = withoutNumbers(r.Header)

	o.inFlight.Add(1)
	defer o.inFlight.Add(-1)
	h.Sent = time.Since(o.start)
	response, err := o.transport.RoundTrip(r)
	if err != nil {
		h.Done, h.Failure = time.Since(o.start), failureOf(err)
		return nil, err
	}
	body := inspect.NewBuffer()
	err = body.Fill(client.Payload(response), response.ContentLength, o.maxBody)
	h.Done, h.Failure = time.Since(o.start), failureOf(err)
	_ = response.Body.Close()
	h.Status, h.header, h.Bytes = response.StatusCode, response.Header, body.Length()
	o.handOver(h, body)
	if err != nil {
		return nil, err
	}
	response.Body = http.NoBody
	return response, nil
}

// withoutNumbers returns the header as the target is to see it.
func withoutNumbers(header http.Header) http.Header {
	sent := make(http.Header, len(header))
	for name, values := range header {
		if name != seqHeader && name != attackHeader && name != placeHeader {
			sent[name] = values
		}
	}
	return sent
}

// handOver gives the body to the inspector.
func (o *observer) handOver(h *hit, body *inspect.Buffer) {
	if o.inspect == nil {
		body.Release()
		return
	}
	o.inspect(inspect.Answer{
		Asked: h.request.Asked, Method: h.request.method(), Path: h.request.Path, Sent: h.request.Body, Key: h.request.Key,
		Status: h.Status, Header: h.header, Body: body, Cut: h.Failure != "", Long: h.Failure == measure.FailureTooLong,
	})
}

// failureOf returns measure's word for the error of a request. The error's own
// text may quote addresses and headers, so it is not kept.
func failureOf(err error) string {
	var timeout net.Error
	var network *net.OpError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, inspect.ErrTooLong):
		return measure.FailureTooLong
	case strings.Contains(err.Error(), longHeader):
		return measure.FailureLongHeader
	case errors.Is(err, context.Canceled): // the run was interrupted
		return measure.FailureOther
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return measure.FailureTimeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &network) && network.Op == "dial":
		return measure.FailureRefused
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errDropped), errors.Is(err, errClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), strings.Contains(err.Error(), closedIdle):
		return measure.FailureReset
	default:
		return measure.FailureOther
	}
}
