package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

// The headers that Vegeta and Target add to a request. RoundTrip reads them and does
// not send them.
const (
	seqHeader    = "X-Vegeta-Seq"
	attackHeader = "X-Vegeta-Attack"
	placeHeader  = "X-Conformance-Place"
)

// attack is a phase that Vegeta sends: the phase's vegeta.Targeter, the
// http.RoundTripper of Vegeta's client, and the reader of Vegeta's results.
//
// A result carries Vegeta's number of the request. The targeter does not learn that
// number: a worker takes it first and calls the targeter later, so workers may
// overtake each other in between. The targeter therefore counts its own calls and
// writes the place in the schedule into a header. The round trip finds both numbers
// on the same request.
type attack struct {
	Phase
	g        *Generator
	start    time.Time
	fail     context.CancelCauseFunc // ends the phase
	requests context.Context         // of all requests
	recorder *measure.Recorder
	monitor  *client.Monitor
	calls    atomic.Uint64 // of Target
	sent     sync.Map      // the *hit of each request by Vegeta's number, until its result is recorded
	inFlight atomic.Int64
}

// hit is one request, from its sending to Vegeta's result.
type hit struct {
	measure.Sample
	attempts
	header http.Header // of the response; nil if there was none
	lacks  string      // what this machine was out of; the target is not to blame
}

// Target is the phase's vegeta.Targeter: it fills in the next request of the mix.
func (a *attack) Target(t *vegeta.Target) error {
	place := a.Schedule.Seq(a.calls.Add(1) - 1)
	if err := a.Mix(place).fill(t, a.g.opts); err != nil {
		a.fail(err)
		return err
	}
	t.Header[placeHeader] = []string{strconv.FormatUint(place, 10)}
	return nil
}

// RoundTrip passes a request on to the transport and notes when it was sent, what came
// back and when. It reads the body into a pooled buffer for the inspector, so Vegeta
// finds it read and keeps none of it.
func (a *attack) RoundTrip(r *http.Request) (*http.Response, error) {
	seq, wrongSeq := strconv.ParseUint(r.Header.Get(seqHeader), 10, 64)
	place, wrongPlace := strconv.ParseUint(r.Header.Get(placeHeader), 10, 64)
	if err := errors.Join(wrongSeq, wrongPlace); err != nil {
		return nil, fmt.Errorf("generate: Vegeta sent a request without its numbers: %w", err)
	}
	request, h := a.Mix(place), &hit{}
	h.Label = request.Label
	a.sent.Store(seq, h)
	ctx, cancel := context.WithTimeout(a.requests, a.g.opts.Timeout)
	defer cancel()
	r = r.WithContext(h.attempts.within(ctx))
	r.Header = withoutNumbers(r.Header)

	a.inFlight.Add(1)
	defer a.inFlight.Add(-1)
	h.Sent = time.Since(a.start)
	response, err := a.g.opts.Transport.RoundTrip(r)
	if err != nil {
		h.Done, h.Failure, h.lacks = time.Since(a.start), failureOf(err), client.Exhausted(err)
		return nil, err
	}
	body := inspect.NewBuffer()
	err = body.Fill(client.Payload(response), response.ContentLength, a.g.opts.MaxBody)
	h.Done, h.Failure = time.Since(a.start), failureOf(err)
	_ = response.Body.Close()
	h.Status, h.header, h.Bytes = response.StatusCode, response.Header, body.Length()
	if a.Inspect == nil || a.Warmup {
		body.Release()
	} else {
		a.Inspect(inspect.Answer{
			Asked: request.Asked, Method: r.Method, Path: request.Path, Sent: request.Body, Key: request.Key,
			Status: h.Status, Header: h.header, Body: body, Cut: h.Failure != "", Long: h.Failure == measure.FailureTooLong,
		})
	}
	if err != nil {
		return nil, err
	}
	response.Body = http.NoBody
	return response, nil
}

// withoutNumbers returns the header as the target is to see it.
func withoutNumbers(header http.Header) http.Header {
	sent := maps.Clone(header)
	for _, name := range []string{seqHeader, attackHeader, placeHeader} {
		delete(sent, name)
	}
	return sent
}

// record records Vegeta's results until there are no more.
func (a *attack) record(results <-chan *vegeta.Result) {
	show := func() {
		if at := time.Since(a.start); a.Live != nil {
			a.Live(Live{Phase: a.Name, Warmup: a.Warmup, At: at, Duration: a.Schedule.Duration(), InFlight: a.inFlight.Load(), Live: a.recorder.Live(at)})
		}
	}
	show()
	defer show()
	clock := time.NewTicker(LiveEvery)
	defer clock.Stop()
	for {
		select {
		case r, more := <-results:
			if !more {
				return
			}
			a.add(r)
		case <-clock.C:
			show()
		}
	}
}

// add records one result, with the place in the schedule and the due time that belong to
// Vegeta's number. It ends the phase if the request was not sent.
func (a *attack) add(r *vegeta.Result) {
	found, _ := a.sent.LoadAndDelete(r.Seq)
	h, sent := found.(*hit)
	if !sent {
		a.fail(errors.New("generate: a request could not be sent: " + r.Error))
		return
	}
	if h.lacks != "" {
		a.fail(errors.New("this machine is out of " + h.lacks))
		return
	}
	h.Seq, h.Due = a.Schedule.Seq(r.Seq), a.Schedule.Due(r.Seq)
	a.recorder.Add(h.Sample)
	if err := a.monitor.Observe(h.Sent, h.Done, h.Status != 0); err != nil {
		a.fail(err)
	}
	if !a.Warmup {
		a.g.raw.add(r, h, a.start)
	}
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
