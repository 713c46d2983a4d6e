package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
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
	Schedule measure.Schedule // when requests are due
	Mix      Mix              // what they ask
	Inspect  inspect.Func     // gets every response; may be nil
	// Start is the instant from which the schedule counts. It is the same for all
	// shards of a plan. The zero time means now.
	Start time.Time
	// Warmup marks a phase that only prepares the target and the connections. It
	// is neither inspected nor in the raw results.
	Warmup bool
	// Live gets the latest figures, every LiveEvery and at the end; may be nil.
	Live func(Live)

	// LateTolerance is how long after the end overdue requests are sent. Zero means
	// DefaultLateTolerance.
	LateTolerance time.Duration
}

// Live is what a live view shows of a running phase.
type Live struct {
	Phase    string
	Warmup   bool
	At       time.Duration // since the start of the phase
	Duration time.Duration // of the schedule
	InFlight int64         // requests that wait for their response
	measure.Live
}

// LiveEvery is how often the figures of a live view change.
const LiveEvery = 100 * time.Millisecond

// Generator sends phases to one target, one at a time. It keeps its connections
// between them.
type Generator struct {
	opts Options
	raw  rawWriter
}

// New returns a generator for the target that the options name. It returns an
// error if the options are wrong. It does not contact the target.
func New(opts Options) (*Generator, error) {
	opts, err := opts.withDefaults()
	return &Generator{opts: opts, raw: newRawWriter(opts)}, err
}

// Close closes the idle connections.
func (g *Generator) Close() { (&http.Client{Transport: g.opts.Transport}).CloseIdleConnections() }

// OutageMonitor returns a monitor of the generator's target, for requests that the
// generator does not send.
func (g *Generator) OutageMonitor() *client.Monitor {
	return client.NewMonitor(leastUnanswered, g.opts.MaxOutage)
}

// Run sends the phase. It returns when every request that was sent has its
// response or has timed out. The recording holds whatever the target does, and
// also what was planned and not sent. The outages are the times in which the target
// answered nothing. The error is a mistake in the phase, a failed write of raw
// results, the context's cause, or an client.Error. The recording then holds what was
// measured before it.
func (g *Generator) Run(ctx context.Context, p Phase) (measure.Recording, client.Outages, error) {
	start, err := p.begin(time.Now())
	if err != nil {
		return measure.Recording{}, client.Outages{}, err
	}
	p.LateTolerance = cmp.Or(p.LateTolerance, DefaultLateTolerance)
	a := &attack{Phase: p, g: g, start: start, recorder: measure.NewRecorder(p.Name, start.Round(0), p.Schedule), monitor: g.OutageMonitor()}
	if err := client.Sleep(ctx, time.Until(start.Add(-startupLead))); err == nil {
		ctx, a.fail = context.WithCancelCause(ctx)
		defer a.fail(nil)
		a.run(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return a.recorder.Recording(), a.monitor.Outages(), fmt.Errorf("generate: phase %q did not run to its end: %w", p.Name, errors.Join(err, g.raw.err))
	}
	return a.recorder.Recording(), a.monitor.Outages(), g.raw.err
}

// begin checks the phase and returns its start with a monotonic clock reading.
func (p Phase) begin(now time.Time) (time.Time, error) {
	if err := p.Schedule.Validate(); err != nil {
		return time.Time{}, fmt.Errorf("generate: phase %q: %w", p.Name, err)
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

// run lets Vegeta send the phase. It returns when all results are recorded.
func (a *attack) run(ctx context.Context) {
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	a.requests = requests
	opts := a.g.opts
	attacker := vegeta.NewAttacker(
		vegeta.Client(&http.Client{Transport: a, CheckRedirect: noRedirect}),
		vegeta.Workers(uint64(min(firstWorkers, opts.Workers))),
		vegeta.MaxWorkers(uint64(opts.Workers)),
		vegeta.MaxBody(0),
	)
	pacer := newPacer(ctx, a.Schedule, a.start, a.LateTolerance, opts.Sleep)
	// Vegeta may wait for a free worker when the phase ends or is interrupted.
	end := time.AfterFunc(time.Until(pacer.end), func() { attacker.Stop() })
	defer end.Stop()
	defer context.AfterFunc(ctx, func() {
		attacker.Stop()
		_ = client.Sleep(requests, drainTimeout)
		abandon()
	})()
	a.record(attacker.Attack(a.Target, pacer, 0, a.attackName()))
}

// noRedirect makes a redirect a response like any other: requests, and the keys
// that they carry, go to no other address.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
