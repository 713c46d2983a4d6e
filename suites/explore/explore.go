package explore

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/explore/sequence"
)

// Config says what to explore, and for how long.
type Config struct {
	Env      *suites.Env
	Duration time.Duration
	Seed     uint64
	// Selects reports whether the operation may be used.
	Selects func(operation string) bool
	// Workers is how many cases are tried at the same time.
	Workers int
	// Found receives each violated requirement when its case is as short as it gets.
	// It may be nil. Several goroutines call it, one at a time.
	Found func(Found)
	// FirstOnly ends the exploration at the first violated requirement.
	FirstOnly bool

	now    func() time.Time // nil for the clock
	shrink time.Duration    // how long one case may be shrunk; 0 for shrinkTime
}

// Outcome is what came of an exploration.
type Outcome struct {
	Evidence  *judge.Ledger
	Found     []Found
	Queries   int // that were sent to lists
	Sequences int // of changes
	Changed   int // rows that changed on the target meanwhile, by somebody else
	Lacked    []string
}

// explorer tries cases.
type explorer struct {
	Config
	ctx      context.Context
	evidence *judge.Ledger
	wholes   []*whole
	deadline time.Time

	changed, tried, sequenced, trials atomic.Int64

	mu     sync.Mutex
	known  map[spec.Pair]bool // violated requirements that are reported
	found  []Found
	lacked []string
	full   bool // the first violated requirement was enough

	opening []Case // that are still to be tried

	// listed is held while a sequence changes rows that the profile lists. It guards spent:
	// what came of the sequence that deletes what nothing can make again.
	listed sync.Mutex
	spent  *suites.Trial
}

// Run explores until the time is over or ctx ends. What it changed is rolled back.
func Run(ctx context.Context, c Config) (Outcome, error) {
	e := newExplorer(ctx, c)
	defer c.Env.EndTrials(ctx)
	e.wholes = e.lists()
	e.deadline = e.now().Add(c.Duration) // reading the lists is no exploration
	generators := e.generators()
	if len(generators) == 0 {
		return e.outcome(), nil
	}
	e.opening = e.telling()
	var workers sync.WaitGroup
	failed := make([]error, max(1, c.Workers))
	for i := range failed {
		workers.Go(func() { failed[i] = e.work(c.Seed+uint64(i)*workerSeeds, generators) })
	}
	workers.Wait()
	for _, err := range failed {
		if err != nil {
			return Outcome{}, err
		}
	}
	return e.outcome(), nil
}

// workerSeeds is the distance between the seeds of two workers.
const workerSeeds = 1 << 20

func newExplorer(ctx context.Context, c Config) *explorer {
	e := &explorer{Config: c, ctx: ctx, evidence: judge.NewEvidence(), known: map[spec.Pair]bool{}}
	if e.now == nil {
		e.now = time.Now
	}
	return e
}

// Replay tries cases that an exploration found, each once.
func Replay(ctx context.Context, c Config, cases []Found) (Outcome, error) {
	e := newExplorer(ctx, c)
	defer c.Env.EndTrials(ctx)
	e.wholes = e.lists()
	for _, before := range cases {
		h := &hunt{explorer: e, target: before.Pair()}
		if !h.shows(before.Case) {
			continue
		}
		h.last.Seed, h.last.Again = before.Seed, true
		e.report(h.last)
	}
	return e.outcome(), nil
}

func (e *explorer) outcome() Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.evidence.Add(e.Env.Outside())
	return Outcome{Evidence: e.evidence, Found: e.found, Queries: int(e.tried.Load()), Sequences: int(e.sequenced.Load()),
		Changed: int(e.changed.Load()), Lacked: e.lacked}
}

// generators returns what generates cases: queries of the lists that could be read, gets of
// their rows, and sequences if the profile allows changes.
func (e *explorer) generators() []*rapid.Generator[Case] {
	var all []*rapid.Generator[Case]
	if len(e.wholes) > 0 {
		queries := e.queries(e.wholes)
		for range queriesForEach {
			all = append(all, queries)
		}
	}
	if gets := e.gets(); gets != nil {
		all = append(all, gets)
	}
	for _, steps := range e.scope().Generators() {
		all = append(all, rapid.Map(steps, func(steps []sequence.Step) Case { return Case{Steps: steps} }))
	}
	return all
}

// queriesForEach is how many queries are tried for each sequence.
const queriesForEach = 4

// scope returns what sequences may do.
func (e *explorer) scope() sequence.Scope {
	return sequence.Scope{Profile: e.Env.Profile, Selects: e.Selects}
}

// work tries cases until the time is over: telling ones first, then random ones.
func (e *explorer) work(seed uint64, generators []*rapid.Generator[Case]) error {
	for {
		c, ok := e.nextOpening()
		if !ok || e.over() {
			break
		}
		for { // a case may show several violations
			h := &hunt{explorer: e}
			if !h.shows(c) || e.over() {
				break
			}
			h.settle(e.Seed)
		}
	}
	for ; !e.over(); seed++ {
		h := &hunt{explorer: e}
		failed, err := round(seed, cmp.Or(e.shrink, shrinkTime), func(t *rapid.T) {
			if h.target == (spec.Pair{}) && e.over() {
				return
			}
			if h.shows(rapid.OneOf(generators...).Draw(t, "case")) {
				t.Fatalf("%s", violated(h.target.Requirement, h.target.Operation))
			}
		})
		if err != nil {
			return err
		}
		if failed && h.target != (spec.Pair{}) {
			h.settle(seed)
		}
	}
	return nil
}

// over reports whether the exploration has come to its end. However short the time is, it
// tries one case.
func (e *explorer) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	tried := e.tried.Load()+e.sequenced.Load() > 0
	return e.full || e.ctx.Err() != nil || tried && !e.now().Before(e.deadline)
}

// report enters what was found, unless another worker has found it before.
func (e *explorer) report(f Found) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known[f.Pair()] {
		return
	}
	e.known[f.Pair()] = true
	e.found = append(e.found, f)
	e.full = e.FirstOnly
	if e.Config.Found != nil {
		e.Config.Found(f)
	}
}

// isKnown reports whether the violated requirement is reported.
func (e *explorer) isKnown(p spec.Pair) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[p]
}

// try runs a body and enters what it found out.
func (e *explorer) try(name string, seed uint64, body func(*suites.API)) suites.Trial {
	trial := suites.Try(e.ctx, e.Env, name, seed, body)
	e.evidence.Add(trial.Evidence)
	if trial.Lacked != "" {
		e.mu.Lock()
		if len(e.lacked) < 10 {
			e.lacked = append(e.lacked, fmt.Sprintf("%s: %s", name, trial.Lacked))
		}
		e.mu.Unlock()
	}
	return trial
}
