package generate

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

// seqHeader is where Vegeta tells the number of a hit.
const seqHeader = "X-Vegeta-Seq"

// outcome is one request that was sent, and what became of it.
type outcome struct {
	measure.Sample
	hit    uint64 // its number among the requests of this process
	asked  Request
	header http.Header // of the answer; nil if none came
}

// sender is the http.RoundTripper of one phase. Vegeta hands it blank requests;
// it sends what the source says for their number, reads the answer to the end,
// and tells what it measured. Vegeta gets a blank answer at once: nothing that
// it does with one is left to do, such as following redirects.
type sender struct {
	opts     Options
	phase    Phase
	start    time.Time
	ctx      context.Context         // of the requests
	end      context.CancelCauseFunc // ends the phase: a request cannot be sent, or the target has died
	inFlight atomic.Int64

	mu       sync.Mutex
	outcomes []outcome // that nobody has fetched yet
}

// fetch returns what was measured since the last time, in the room of used.
func (s *sender) fetch(used []outcome) []outcome {
	clear(used)
	s.mu.Lock()
	defer s.mu.Unlock()
	fetched := s.outcomes
	s.outcomes = used[:0]
	return fetched
}

// RoundTrip implements http.RoundTripper.
func (s *sender) RoundTrip(blank *http.Request) (*http.Response, error) {
	hit, err := strconv.ParseUint(blank.Header.Get(seqHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("generate: Vegeta has not numbered a hit: %w", err)
	}
	o, err := s.send(hit)
	if err != nil {
		s.end(err)
		return nil, err
	}
	s.mu.Lock()
	s.outcomes = append(s.outcomes, o)
	s.mu.Unlock()
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: blank}, nil
}

// send sends one request and reads the answer. Its error is a mistake in the
// request, which is then not sent; what goes wrong later is in the outcome.
func (s *sender) send(hit uint64) (outcome, error) {
	o := outcome{hit: hit}
	o.Seq, o.Due = s.phase.Schedule.Seq(hit), s.phase.Schedule.Due(hit)
	o.asked = s.phase.Source(o.Seq)
	o.Label = o.asked.Label
	ctx := s.ctx
	if !s.opts.timed {
		limited, cancel := context.WithTimeout(ctx, s.opts.Timeout)
		defer cancel()
		ctx = limited
	}
	r, err := o.asked.build(ctx, s.opts.BaseURL)
	if err != nil {
		return outcome{}, err
	}

	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	o.Sent = time.Since(s.start)
	answer, err := s.opts.Transport.RoundTrip(r)
	var body *inspect.Buffer
	if err == nil {
		body = inspect.NewBuffer()
		err = body.Fill(answer.Body, answer.ContentLength, s.opts.MaxBody)
	}
	o.Done = time.Since(s.start)
	o.Failure = failureOf(err)
	if answer == nil {
		return o, nil
	}
	_ = answer.Body.Close() // after what is measured
	o.Status, o.header, o.Bytes = answer.StatusCode, answer.Header, int64(len(body.Bytes()))
	s.handOver(o, body)
	return o, nil
}

func (s *sender) handOver(o outcome, body *inspect.Buffer) {
	if s.phase.Inspect == nil || s.phase.Warmup {
		body.Release()
		return
	}
	s.phase.Inspect(inspect.Answer{
		Asked: o.asked.Asked, Method: o.asked.Method, Path: o.asked.Path, Sent: o.asked.Body, Key: o.asked.Key,
		Status: o.Status, Header: o.header, Body: body, Cut: o.Failure != "", Long: o.Failure == measure.FailureTooLong,
	})
}
