// Package webhook delivers notifications to a subscriber and reports every
// attempt (specification, section Events): a bounded number of deliveries, a
// few workers, retries after growing pauses. Redirects are not followed and
// only a bounded part of an answer is read.
//
// It imports nothing of this module: what an attempt becomes is its caller's.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Config says where and how to deliver. The zero Config delivers nothing.
type Config struct {
	URL     string          // of the subscriber, http or https; empty for none
	Timeout time.Duration   // of one attempt; 0 stands for 5 s
	Retries []time.Duration // pause before each retry; nil stands for 1 s, 5 s and 30 s, an empty list for none
	Workers int             // attempts at the same time; 0 stands for 4
	Queue   int             // deliveries that are under way at the same time, waiting ones included; 0 stands for 1024
}

// maxAnswer bounds what is read of a subscriber's answer, in bytes.
const maxAnswer = 64 << 10

// Attempt is one try to deliver an event.
type Attempt struct {
	Retry           int  // 0 for the first attempt, then 1, 2, …
	Success         bool // the subscriber answered with a 2xx status
	StatusCode      int  // of the answer; 0 when none came
	Error           string
	Elapsed         time.Duration
	WillRetry       bool
	RetryIn         time.Duration // from the moment it is logged; only with WillRetry
	RetrySuccessful bool          // a later attempt succeeded
}

// Log is told of each attempt of one event when it has been made, and again
// when something of it changes: a retry that had been planned is given up, or a
// later attempt succeeded. The calls of one event do not overlap, and the same
// pointer stands for the same attempt.
type Log func(*Attempt)

// Event is one notification.
type Event struct {
	Payload []byte // JSON
	Log     Log
}

// Sender delivers events. Make one with New and end it with Close.
type Sender struct {
	config Config
	client *http.Client
	logger *slog.Logger

	ctx     context.Context // ends when waiting for the subscriber must stop
	stop    context.CancelFunc
	queue   chan *delivery
	workers sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	underway int                       // deliveries that are not finished
	waiting  map[*delivery]*time.Timer // those that wait for a retry
	idle     *sync.Cond                // signalled when underway falls
}

// delivery is an event on its way.
type delivery struct {
	event    Event
	attempts []*Attempt
}

// New starts the workers.
func New(config Config, logger *slog.Logger) (*Sender, error) {
	target, err := url.Parse(config.URL)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return nil, fmt.Errorf("webhook: %q is not an http or https address", config.URL)
	}
	if config.Timeout < 0 || config.Workers < 0 || config.Queue < 0 {
		return nil, errors.New("webhook: timeout, workers and queue must not be negative")
	}
	if config.Timeout == 0 {
		config.Timeout = 5 * time.Second
	}
	if config.Retries == nil {
		config.Retries = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}
	}
	if config.Workers == 0 {
		config.Workers = 4
	}
	if config.Queue == 0 {
		config.Queue = 1024
	}
	s := &Sender{
		config: config,
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: config.Workers, ResponseHeaderTimeout: config.Timeout},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		logger:  logger,
		queue:   make(chan *delivery, config.Queue),
		waiting: map[*delivery]*time.Timer{},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.idle = sync.NewCond(&s.mu)
	for range config.Workers {
		s.workers.Go(s.work)
	}
	return s, nil
}

// URL returns the subscriber's address.
func (s *Sender) URL() string { return s.config.URL }

// Send hands an event to the workers and returns at once. When as many
// deliveries as the queue holds are under way, or after Close, the event is not
// delivered: it is logged as one failed attempt that says so.
func (s *Sender) Send(e Event) {
	s.mu.Lock()
	reason := ""
	switch {
	case s.closed:
		reason = "the service is shutting down"
	case s.underway >= s.config.Queue:
		reason = fmt.Sprintf("the delivery queue is full (%d events)", s.config.Queue)
	default:
		s.underway++
		s.queue <- &delivery{event: e} // has room: no more are queued than are under way
	}
	s.mu.Unlock()
	if reason != "" {
		s.logger.Warn("webhook event not delivered", "reason", reason)
		e.Log(&Attempt{Error: reason})
	}
}

func (s *Sender) work() {
	for d := range s.queue {
		s.try(d)
	}
}

// try makes the next attempt of a delivery, logs it and plans what follows.
func (s *Sender) try(d *delivery) {
	attempt := s.post(d.event.Payload)
	attempt.Retry = len(d.attempts)
	retry := !attempt.Success && attempt.Retry < len(s.config.Retries) && !s.isClosed()
	if retry {
		attempt.WillRetry, attempt.RetryIn = true, s.config.Retries[attempt.Retry]
	}
	d.event.Log(attempt)
	if attempt.Success {
		for _, earlier := range d.attempts {
			earlier.RetrySuccessful = true
			d.event.Log(earlier)
		}
	}
	d.attempts = append(d.attempts, attempt)
	if retry && s.plan(d, attempt.RetryIn) {
		return
	}
	if retry {
		d.giveUp()
	}
	s.done()
}

// plan puts the delivery back into the queue after the pause, unless the sender is closed.
func (s *Sender) plan(d *delivery, pause time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.waiting[d] = time.AfterFunc(pause, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.waiting[d]; ok { // else Close gave it up
			delete(s.waiting, d)
			s.queue <- d
		}
	})
	return true
}

// giveUp takes back the promise of another attempt.
func (d *delivery) giveUp() {
	last := d.attempts[len(d.attempts)-1]
	last.WillRetry, last.RetryIn = false, 0
	d.event.Log(last)
}

func (s *Sender) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underway--
	s.idle.Broadcast()
}

func (s *Sender) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// post sends the payload once.
func (s *Sender) post(payload []byte) *Attempt {
	ctx, cancel := context.WithTimeout(s.ctx, s.config.Timeout)
	defer cancel()
	started := time.Now()
	attempt := &Attempt{}
	defer func() { attempt.Elapsed = time.Since(started) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, bytes.NewReader(payload))
	if err != nil {
		attempt.Error = err.Error()
		return attempt
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		attempt.Error = err.Error()
		return attempt
	}
	defer answer.Body.Close()
	attempt.StatusCode = answer.StatusCode
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)); err != nil {
		attempt.Error = fmt.Sprintf("reading the answer: %v", err)
		return attempt
	}
	attempt.Success = answer.StatusCode >= 200 && answer.StatusCode < 300
	if !attempt.Success {
		attempt.Error = "the subscriber answered " + answer.Status
	}
	return attempt
}

// Close takes no more events, gives up retries that are not yet due, and waits
// until all that was queued has been attempted. When ctx ends first, it aborts
// what is under way, which is logged as failed, and returns ctx's error.
func (s *Sender) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.workers.Wait()
		return nil
	}
	s.closed = true
	abandoned := s.waiting
	s.waiting = map[*delivery]*time.Timer{}
	s.underway -= len(abandoned)
	s.mu.Unlock()
	for d, timer := range abandoned {
		timer.Stop()
		d.giveUp()
	}
	aborted := context.AfterFunc(ctx, s.stop)
	s.mu.Lock()
	for s.underway > 0 {
		s.idle.Wait()
	}
	s.mu.Unlock()
	close(s.queue)
	s.workers.Wait()
	s.client.CloseIdleConnections()
	if !aborted() {
		return ctx.Err()
	}
	s.stop()
	return nil
}
