package generate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

const (
	// tooLate is how long ago an absolute start may lie: beyond it the first
	// requests would all be overdue.
	tooLate = time.Second
	// lead is how long before its start a phase gets ready.
	lead = 5 * time.Millisecond
	// patience is how long an interrupted phase waits for answers.
	patience = time.Second

	firstWorkers = 16
)

// Phase is a stretch of load that is measured as one.
type Phase struct {
	Name     string
	Schedule schedule.Schedule
	Source   Source
	Inspect  inspect.Func // gets every answer that came; nil for nobody
	// Start is the instant from which the schedule counts, the same for all
	// shards of a plan. The zero time is now.
	Start time.Time
	// Warmup marks a phase that only prepares the target and the connections: it
	// is neither inspected nor in the raw results, and Phases leaves it out.
	Warmup bool
	// Silences is told, once the phase is over, when the target answered nothing;
	// nil for nobody.
	Silences func(Silences)

	grace time.Duration // how long after the end overdue requests are sent
}

// Generator sends phases to one target, one at a time, over connections that it
// keeps between them.
type Generator struct {
	opts Options
	raw  *rawWriter // nil for none
	fine func(time.Duration)
	mu   sync.Mutex // a phase runs
}

// New returns a generator for the target that the options name. Its errors are
// mistakes in the options; the target is not contacted.
func New(opts Options) (*Generator, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Generator{opts: opts, fine: fineSleep}
	if opts.Raw != nil {
		g.raw = &rawWriter{encode: vegeta.NewEncoder(opts.Raw)}
	}
	return g, nil
}

// Close closes the connections that are idle.
func (g *Generator) Close() {
	if t, ok := g.opts.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Phases runs one phase after the other and returns what was measured in those
// that are no warm-up. It ends with the first error.
func (g *Generator) Phases(ctx context.Context, phases ...Phase) ([]measure.Recording, error) {
	var recordings []measure.Recording
	for _, p := range phases {
		recording, err := g.Run(ctx, p)
		if !p.Warmup {
			recordings = append(recordings, recording)
		}
		if err != nil {
			return recordings, err
		}
	}
	return recordings, nil
}

// Run sends the phase and returns when every request that was sent has its
// answer or has timed out. Whatever the target does is in the recording, and so
// is what was planned and not sent. An error is a mistake in the phase, trouble
// with the raw results, the context's, or a SilentError where the target has
// died: the recording then holds what was measured until it came.
func (g *Generator) Run(ctx context.Context, p Phase) (measure.Recording, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	start, err := p.begin(time.Now())
	if err != nil {
		return measure.Recording{}, err
	}
	if p.grace == 0 {
		p.grace = grace
	}
	recorder := measure.NewRecorder(p.plan(start))
	if client.Sleep(ctx, time.Until(start.Add(-lead))) != nil {
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

// begin checks the phase and returns its start, on the clock that does not jump.
func (p Phase) begin(now time.Time) (time.Time, error) {
	if err := p.Schedule.Validate(); err != nil {
		return time.Time{}, fmt.Errorf("generate: phase %q: %w", p.Name, err)
	}
	if p.Source == nil {
		return time.Time{}, fmt.Errorf("generate: phase %q has no source of requests", p.Name)
	}
	if p.Start.IsZero() {
		return now.Add(lead), nil
	}
	ahead := p.Start.Sub(now)
	if ahead < -tooLate {
		return time.Time{}, fmt.Errorf("generate: phase %q was to start %s ago: give a start that lies ahead, by 2s or more when several machines are to be ready",
			p.Name, -ahead.Round(time.Millisecond))
	}
	return now.Add(ahead), nil
}

func (p Phase) plan(start time.Time) measure.Plan {
	plan := measure.Plan{
		Name: p.Name, Planned: p.Schedule.Planned(), Duration: p.Schedule.Duration(), Start: start.Round(0),
		Asked: p.Schedule.PerSecond(), Shard: measure.Shard{Index: p.Schedule.Index, Of: p.Schedule.Of},
	}
	if len(p.Schedule.Segments) == 1 {
		plan.Rate = p.Schedule.Segments[0].Rate
	}
	return plan
}

// attack lets Vegeta send the phase and returns when all is answered.
func (g *Generator) attack(ctx context.Context, stop context.CancelCauseFunc, p Phase, start time.Time, recorder *measure.Recorder) {
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	s := &sender{opts: g.opts, phase: p, start: start, ctx: requests, end: stop}
	attacker := vegeta.NewAttacker(
		vegeta.Client(&http.Client{Transport: s}),
		vegeta.Workers(uint64(min(firstWorkers, g.opts.Workers))),
		vegeta.MaxWorkers(uint64(g.opts.Workers)),
		vegeta.MaxBody(0),
	)
	pace := newPacer(ctx, p.Schedule, start, p.grace, g.fine)
	// The engine may be waiting for a worker when the phase ends or is interrupted.
	end := time.AfterFunc(time.Until(pace.end), func() { attacker.Stop() })
	defer end.Stop()
	defer context.AfterFunc(ctx, func() {
		attacker.Stop()
		_ = client.Sleep(requests, patience)
		abandon()
	})()

	blank := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: g.opts.BaseURL})
	g.record(s, attacker.Attack(blank, pace, 0, p.Name), recorder)
}

// record takes down what the sender measures, until there are no more results.
// Vegeta's results say nothing that the sender does not know better, but each
// wakes this goroutine: one that had to be woken by a channel of its own would
// cost as much again.
func (g *Generator) record(s *sender, results <-chan *vegeta.Result, recorder *measure.Recorder) {
	raw := g.raw
	if s.phase.Warmup {
		raw = nil
	}
	attack, vigil := attackName(s.phase), g.Vigil()
	if tell := s.phase.Silences; tell != nil {
		defer func() { tell(vigil.Silences()) }()
	}
	var fetched []outcome
	take := func() {
		fetched = s.fetch(fetched)
		for _, o := range fetched {
			recorder.Add(o.Sample)
			if err := vigil.Saw(o.Sent, o.Done, o.Status != 0); err != nil {
				s.end(err)
			}
			if raw != nil {
				raw.add(attack, g.opts.BaseURL, s.start, o)
			}
		}
	}
	var ticks <-chan time.Time
	var view *ticker
	if g.opts.Tick != nil {
		clock := time.NewTicker(tickEvery)
		defer clock.Stop()
		ticks, view = clock.C, newTicker(g.opts.Tick)
		defer func() { view.end(s.live(recorder)) }()
	}
	for {
		select {
		case _, more := <-results:
			take()
			if !more {
				return
			}
		case <-ticks:
			view.show(s.live(recorder))
		}
	}
}
