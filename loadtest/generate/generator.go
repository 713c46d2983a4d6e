package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

const (
	// maxOverdueStart is how long ago an absolute start may lie. After that, the
	// first requests would all be overdue.
	maxOverdueStart = time.Second
	// startupLead is how long before its start a phase gets ready.
	startupLead = 5 * time.Millisecond
	// drainTimeout is how long an interrupted phase waits for responses.
	drainTimeout = time.Second

	firstWorkers = 16
)

// Phase is a stretch of load that is measured as one.
type Phase struct {
	Name     string
	Schedule schedule.Schedule // when requests are due
	Mix      Mix               // what they ask
	Inspect  inspect.Func      // gets every response; may be nil
	// Start is the instant from which the schedule counts. It is the same for all
	// shards of a plan. The zero time means now.
	Start time.Time
	// Warmup marks a phase that only prepares the target and the connections. It
	// is neither inspected nor in the raw results.
	Warmup bool
	// Outages is called at the end of the phase with the times in which the target
	// answered nothing; may be nil.
	Outages func(outage.Outages)

	// LateTolerance is how long after the end overdue requests are sent. Zero means
	// DefaultLateTolerance.
	LateTolerance time.Duration
}

// Generator sends phases to one target, one at a time. It keeps its connections
// between them.
type Generator struct {
	opts Options
	raw  *rawWriter // nil for none
	mu   sync.Mutex // held while a phase runs
	live atomic.Pointer[Live]
}

// New returns a generator for the target that the options name. It returns an
// error if the options are wrong. It does not contact the target.
func New(opts Options) (*Generator, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Generator{opts: opts, raw: newRawWriter(opts.Raw, opts.RawLines)}, nil
}

// Close closes the idle connections.
func (g *Generator) Close() {
	if t, ok := g.opts.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// OutageMonitor returns a monitor of the generator's target, for requests that the
// generator does not send.
func (g *Generator) OutageMonitor() *outage.Monitor {
	return outage.NewMonitor(leastUnanswered, g.opts.MaxOutage)
}

// Run sends the phase. It returns when every request that was sent has its
// response or has timed out. The recording holds whatever the target does, and
// also what was planned and not sent. The error is a mistake in the phase, a failed
// write of raw results, the context's cause, or an outage.Error. The recording
// then holds what was measured before it.
func (g *Generator) Run(ctx context.Context, p Phase) (measure.Recording, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	start, err := p.begin(time.Now())
	if err != nil {
		return measure.Recording{}, err
	}
	p.LateTolerance = cmp.Or(p.LateTolerance, DefaultLateTolerance)
	recorder := measure.NewRecorder(p.Name, start.Round(0), p.Schedule)
	if client.Sleep(ctx, time.Until(start.Add(-startupLead))) != nil {
		return recorder.Recording(), fmt.Errorf("generate: phase %q was interrupted before its start: %w", p.Name, context.Cause(ctx))
	}

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	g.attack(ctx, stop, p, start, recorder)
	err = context.Cause(ctx)
	if err != nil {
		err = fmt.Errorf("generate: phase %q did not run to its end: %w", p.Name, err)
	}
	if g.raw != nil {
		err = errors.Join(err, g.raw.err)
	}
	return recorder.Recording(), err
}

// begin checks the phase and returns its start with a monotonic clock reading.
func (p Phase) begin(now time.Time) (time.Time, error) {
	if err := p.Schedule.Validate(); err != nil {
		return time.Time{}, fmt.Errorf("generate: phase %q: %w", p.Name, err)
	}
	if p.Mix == nil {
		return time.Time{}, fmt.Errorf("generate: phase %q has no mix of requests", p.Name)
	}
	if p.Start.IsZero() {
		return now.Add(startupLead), nil
	}
	ahead := p.Start.Sub(now)
	if ahead < -maxOverdueStart {
		return time.Time{}, fmt.Errorf("generate: phase %q should have started %s ago (choose a later start, at least 2s ahead for several machines)",
			p.Name, -ahead.Round(time.Millisecond))
	}
	return now.Add(ahead), nil
}

// attack lets Vegeta send the phase. It returns when all results are recorded.
func (g *Generator) attack(ctx context.Context, stop context.CancelCauseFunc, p Phase, start time.Time, recorder *measure.Recorder) {
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	a := &attack{Phase: p, hits: newHits(p, g.opts.BaseURL, stop), start: start, stop: stop, recorder: recorder,
		monitor: g.OutageMonitor(), raw: g.raw}
	a.observer = &observer{transport: g.opts.Transport, timeout: g.opts.Timeout, maxBody: g.opts.MaxBody,
		inspect: p.Inspect, hits: a.hits, start: start, ctx: requests}
	if p.Warmup {
		a.raw, a.observer.inspect = nil, nil
	}
	attacker := vegeta.NewAttacker(
		vegeta.Client(&http.Client{Transport: a.observer, CheckRedirect: noRedirect}),
		vegeta.Workers(uint64(min(firstWorkers, g.opts.Workers))),
		vegeta.MaxWorkers(uint64(g.opts.Workers)),
		vegeta.MaxBody(0),
	)
	pacer := newPacer(ctx, p.Schedule, start, p.LateTolerance, g.opts.Sleep)
	// Vegeta may wait for a free worker when the phase ends or is interrupted.
	end := time.AfterFunc(time.Until(pacer.end), func() { attacker.Stop() })
	defer end.Stop()
	defer context.AfterFunc(ctx, func() {
		attacker.Stop()
		_ = client.Sleep(requests, drainTimeout)
		abandon()
	})()
	a.record(attacker.Attack(a.hits.Target, pacer, 0, attackName(p)), &g.live)
}

// noRedirect makes a redirect a response like any other: requests, and the keys
// that they carry, go to no other address.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// attack is a phase that Vegeta sends.
type attack struct {
	Phase
	hits     *hits
	observer *observer
	start    time.Time
	stop     context.CancelCauseFunc
	recorder *measure.Recorder
	monitor  *outage.Monitor
	raw      *rawWriter // nil for none
}

// record records Vegeta's results until there are no more.
func (a *attack) record(results <-chan *vegeta.Result, live *atomic.Pointer[Live]) {
	if a.Outages != nil {
		defer func() { a.Outages(a.monitor.Outages()) }()
	}
	show := func() {
		at := time.Since(a.start)
		live.Store(&Live{Phase: a.Name, Warmup: a.Warmup, At: at, Duration: a.Schedule.Duration(),
			InFlight: a.observer.inFlight.Load(), Live: a.recorder.Live(at)})
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

// add records one result.
func (a *attack) add(r *vegeta.Result) {
	h := a.hits.record(r)
	if h == nil {
		return
	}
	a.recorder.Add(h.Sample)
	if err := a.monitor.Observe(h.Sent, h.Done, h.Status != 0); err != nil {
		a.stop(err)
	}
	a.raw.add(r, h, a.start)
}
