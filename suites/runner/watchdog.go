package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/internal/printable"
)

// maxUnanswered is after how many requests in a row without an answer a run gives the
// target up. Each timeout may take long, and its check is lost: a few are enough.
const maxUnanswered = 5

// maxClosed is after how many connections in a row that closed without a response a run
// gives the target up. They cost no time, and a restart closes many at once.
const maxClosed = 100

// watchdog watches the exchanges of a run for what explains its results. It ends a run
// whose target no longer responds. It is safe for concurrent use.
type watchdog struct {
	detectors []*client.Detector
	giveUp    context.CancelCauseFunc
	exhausted atomic.Pointer[string] // the first resource of this machine that was used up
	stale     atomic.Int64           // requests that were lost on a keep-alive connection
}

// newWatchdog returns a watchdog that ends the run with giveUp. Anything that comes back
// interrupts a series of timeouts, even a refused connection.
func newWatchdog(timeout time.Duration, giveUp context.CancelCauseFunc) *watchdog {
	detector := func(limit int, detail string, kinds ...error) *client.Detector {
		return &client.Detector{Limit: limit, Detail: detail, GiveUp: giveUp, Counts: func(err error) bool {
			is := func(kind error) bool { return errors.Is(err, kind) }
			return slices.ContainsFunc(kinds, is) && client.Exhausted(err) == "" // not the target's fault
		}}
	}
	return &watchdog{giveUp: giveUp, detectors: []*client.Detector{
		detector(maxUnanswered, fmt.Sprintf(" within %s each, so the run ended; see what keeps the server busy, or raise pace.timeout in the profile (--timeout)", timeout), client.ErrTimeout),
		detector(maxUnanswered, ": it is unreachable (no connection), so the run ended; see why the server ended",
			client.ErrRefused, client.ErrUnresolved),
		detector(maxClosed, ": it closed each connection, so the run ended; see why the server, or what stands before it, closes them", client.ErrProtocol),
	}}
}

func (w *watchdog) observe(ex client.Exchange) {
	for _, d := range w.detectors {
		if ex.Malformed { // something answered
			d.Observe(nil)
		} else {
			d.Observe(ex.Err)
		}
	}
	if all := (*client.AllThrottled)(nil); errors.As(ex.Err, &all) {
		w.giveUp(fmt.Errorf("%w, so the run ended; lower the pace, raise the target's limit, or raise pace.patience in the profile (--patience)", all))
	}
	if what := client.Exhausted(ex.Err); what != "" {
		w.exhausted.CompareAndSwap(nil, &what)
	}
	if ex.StaleConnection {
		w.stale.Add(1)
	}
}

// ended says why the watchdog has ended the run; "" if it has not.
func ended(run context.Context) string {
	if client.Ended(run) {
		return context.Cause(run).Error()
	}
	return ""
}

// why returns what best explains a run without a verdict, or "". lacks is what the mint
// command failed to make.
func (w *watchdog) why(run context.Context, lacks []string, t client.Traffic) string {
	exhausted, throttled, stale := "", "", ""
	if what := w.exhausted.Load(); what != nil {
		exhausted = "this machine has no more " + *what
	}
	if n := t.Statuses[http.StatusTooManyRequests]; n > 0 && n == t.Requests {
		throttled = fmt.Sprintf("the target answered every request with 429 (%s); wait until its limit resets, raise it, or use an unlimited key", printable.Number(n))
	}
	if n := w.stale.Load(); n > 0 {
		stale = fmt.Sprintf("%s got no response: the target closed a keep-alive connection as the request was sent, and a response to their repetition proves nothing, because they change data (keep idle connections open for longer than %s, or send Connection: close)",
			printable.Counted(int(n), "request"), client.IdleTimeout)
	}
	return cmp.Or(exhausted, cmp.Or(lacks...), ended(run), throttled, stale) // the first explains those after it
}
