package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/reports"
)

// maxUnanswered is after how many requests in a row without an answer a run gives the
// target up. Each timeout may take long, and its check is lost: a few are enough.
const maxUnanswered = 5

// maxClosed is after how many connections in a row that closed without a response a run
// gives the target up. They cost no time, and a restart closes many at once.
const maxClosed = 100

// exhaustion remembers the first resource of this machine that a request found used up.
type exhaustion struct{ first atomic.Pointer[string] }

func (e *exhaustion) observe(ex client.Exchange) {
	if what := client.Exhausted(ex.Err); what != "" {
		e.first.CompareAndSwap(nil, &what)
	}
}

// why names the resource; "" if there was enough of all.
func (e *exhaustion) why() string {
	if what := e.first.Load(); what != nil {
		return "this machine has no more " + *what
	}
	return ""
}

// watchdog ends a run whose target no longer responds. It is safe for concurrent use.
type watchdog struct {
	silent, gone *outage.Detector // requests time out; the target accepts no connection
	closing      *outage.Detector // connections close before a response
	giveUp       context.CancelCauseFunc

	mu        sync.Mutex
	throttled error // once the target answered nothing but 429; nil before
}

// newWatchdog returns a watchdog that ends the run with giveUp. Anything that comes back
// interrupts a series of timeouts, even a refused connection.
func newWatchdog(timeout time.Duration, giveUp context.CancelCauseFunc) *watchdog {
	among := func(kinds ...error) func(error) bool {
		return func(err error) bool {
			is := func(kind error) bool { return errors.Is(err, kind) }
			return slices.ContainsFunc(kinds, is) && client.Exhausted(err) == "" // not the target's fault
		}
	}
	return &watchdog{
		silent: &outage.Detector{Limit: maxUnanswered, Counts: among(client.ErrTimeout), GiveUp: giveUp,
			Detail: fmt.Sprintf(" within %s each, so the run ended; see what keeps the server busy, or raise pace.timeout in the profile (--timeout)", timeout)},
		gone: &outage.Detector{Limit: maxUnanswered, Counts: among(client.ErrRefused, client.ErrUnresolved), GiveUp: giveUp,
			Detail: ": it is unreachable (no connection), so the run ended; see why the server ended"},
		closing: &outage.Detector{Limit: maxClosed, Counts: among(client.ErrProtocol), GiveUp: giveUp,
			Detail: ": it closed each connection, so the run ended; see why the server, or what stands before it, closes them"},
		giveUp: giveUp,
	}
}

func (w *watchdog) observe(ex client.Exchange) {
	w.silent.Observe(ex.Err)
	w.gone.Observe(ex.Err)
	if ex.Malformed {
		w.closing.Observe(nil)
	} else {
		w.closing.Observe(ex.Err)
	}
	var all *client.AllThrottled
	if !errors.As(ex.Err, &all) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.throttled == nil {
		w.throttled = fmt.Errorf("%w, so the run ended; lower the pace, raise the target's limit, or raise pace.patience in the profile (--patience)", all)
		w.giveUp(w.throttled)
	}
}

// Err returns why the watchdog has ended the run; nil if it has not.
func (w *watchdog) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range []error{w.throttled, w.silent.Err(), w.gone.Err(), w.closing.Err()} {
		if err != nil {
			return err
		}
	}
	return nil
}

// neverServed returns what is wrong if no request of the run was served; "" otherwise.
func neverServed(t client.Traffic) string {
	if n := t.Statuses[http.StatusTooManyRequests]; n > 0 && n == t.Requests {
		return fmt.Sprintf("the target answered every request with 429 (%s); wait until its limit resets, raise it, or use an unlimited key", reports.Number(n))
	}
	return ""
}
