package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// Config says what to explore, and for how long.
type Config struct {
	Env      *api.Env
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
	// Replay are cases that an exploration found. They are tried once, instead of exploring.
	// It is nil to explore.
	Replay []Found

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
	Untried   []string // cases of Replay that lacked something, in words
}

// explorer tries cases.
type explorer struct {
	Config
	ctx      context.Context
	evidence *judge.Ledger
	wholes   []*whole
	deadline time.Time

	changed, queried, sequenced, trials atomic.Int64

	known sync.Map    // violated requirements that are reported
	full  atomic.Bool // the first violated requirement was enough

	mu     sync.Mutex
	found  []Found
	lacked []string

	// listed is held while a case changes rows that the profile lists.
	listed sync.Mutex
}

// workerSeeds is the distance between the seeds of two workers.
const workerSeeds = 1 << 20

// Run explores until the time is over or ctx ends. What it changed is rolled back.
func Run(ctx context.Context, c Config) (Outcome, error) {
	defer c.Env.EndTrials(ctx)
	if c.now == nil {
		c.now = time.Now
	}
	e := &explorer{Config: c, ctx: ctx, evidence: judge.NewEvidence()}
	e.readLists()
	e.deadline = e.now().Add(c.Duration) // reading the lists is no exploration
	var err error
	if c.Replay == nil {
		err = e.explore()
	}
	var untried []string
	for i, before := range c.Replay {
		if h := (&hunt{explorer: e, seed: before.Seed, last: before}); h.shows(before.Steps) {
			e.report(h.last)
		} else if h.lacked != "" {
			untried = append(untried, fmt.Sprintf("case %d could not be tried: it lacks %s", i+1, h.lacked))
		}
	}
	e.evidence.Add(e.Env.Outside())
	return Outcome{Evidence: e.evidence, Found: e.found, Queries: int(e.queried.Load()), Sequences: int(e.sequenced.Load()),
		Changed: int(e.changed.Load()), Lacked: e.lacked, Untried: untried}, err
}

// explore tries random cases with several workers.
func (e *explorer) explore() error {
	var workers errgroup.Group
	if cases := e.cases(); len(cases) > 0 {
		for i := range max(1, e.Workers) {
			workers.Go(func() error { return e.work(e.Seed+uint64(i)*workerSeeds, rapid.OneOf(cases...)) })
		}
	}
	err := workers.Wait()
	e.spend()
	return err
}

// work tries random cases until the time is over.
func (e *explorer) work(seed uint64, cases *rapid.Generator[[]Step]) error {
	shrink := cmp.Or(e.shrink, shrinkTime)
	for ; !e.over(); seed++ {
		h := &hunt{explorer: e, seed: seed}
		err := round(seed, shrink, func(t *rapid.T) {
			if h.shows(cases.Draw(t, "steps")) {
				t.Fatalf("%v", h.last.pair())
			}
		})
		if err != nil {
			return err
		}
		if h.succeeded() {
			e.report(h.last)
		}
	}
	return nil
}

// spend deletes a subsequence, which nothing can make again. So nothing tries it again.
func (e *explorer) spend() {
	if steps := []Step{{Do: DeleteSubsequence}}; e.permits(DeleteSubsequence) && !e.ended() {
		_, trial := (&hunt{explorer: e}).play(steps, func(*api.API) bool { return false })
		for _, broken := range trial.Broken {
			e.report(foundIn(steps, trial, broken))
		}
	}
}

// over reports whether the exploration has come to its end. However short the time is, it
// tries one case.
func (e *explorer) over() bool {
	return e.ended() || e.queried.Load()+e.sequenced.Load() > 0 && !e.now().Before(e.deadline)
}

// ended reports whether the exploration must end, whatever the time is.
func (e *explorer) ended() bool { return e.full.Load() || e.ctx.Err() != nil }

// report enters what was found, unless another worker has found it before.
func (e *explorer) report(f Found) {
	if _, known := e.known.LoadOrStore(f.pair(), true); known {
		return
	}
	e.full.Store(e.FirstOnly)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found = append(e.found, f)
	if e.Found != nil {
		e.Found(f)
	}
}

// try runs a body and enters what it found out.
func (e *explorer) try(body func(*api.API)) api.Trial {
	trial := api.Try(e.ctx, e.Env, "explore", uint64(e.trials.Add(1)), body)
	e.evidence.Add(trial.Evidence)
	e.mu.Lock()
	defer e.mu.Unlock()
	if trial.Lacked != "" && len(e.lacked) < 10 {
		e.lacked = append(e.lacked, trial.Lacked)
	}
	return trial
}

// play plays the steps until it is enough. It returns those that it has played.
func (h *hunt) play(steps []Step, enough func(*api.API) bool) (played []Step, trial api.Trial) {
	if does(steps, onListed) {
		h.listed.Lock()
		defer h.listed.Unlock()
	}
	if does(steps, changes) {
		h.sequenced.Add(1)
	}
	trial = h.try(func(api *api.API) {
		m := &machine{hunt: h, API: api}
		for i, s := range steps {
			played = steps[:i+1]
			m.play(s)
			if enough(api) {
				return
			}
		}
	})
	return played, trial
}

// does reports whether one of the steps is one of the actions.
func does(steps []Step, actions []string) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(actions, s.Do) })
}

// hunt looks for cases that show a violation: of any requirement that is not reported yet,
// and once it has found one, of that requirement only.
type hunt struct {
	*explorer
	seed uint64
	last Found // the case that showed it last
	// lacked is why the last case ended early; "" if it did not.
	lacked string
	// shrinks is set when a case has shown the violation as long as a change may take. Smaller
	// cases need not wait for that.
	shrinks bool
}

// succeeded reports whether the hunt has found a violation.
func (h *hunt) succeeded() bool { return h.last.Requirement != "" }

// wants reports whether a violation of the requirement is what the hunt looks for.
func (h *hunt) wants(p spec.Pair) bool {
	if h.succeeded() {
		return p == h.last.pair()
	}
	_, known := h.known.Load(p)
	return !known
}

// shows plays the steps and reports whether they show the violation. It keeps those that
// it needs.
func (h *hunt) shows(steps []Step) bool {
	ends := func() bool { return h.ctx.Err() != nil || !h.succeeded() && h.over() }
	if ends() {
		return false
	}
	steps, trial := h.play(steps, func(body *api.API) bool { return api.Broke(body, h.wants) || ends() })
	h.lacked = trial.Lacked
	i := slices.IndexFunc(trial.Broken, func(b api.Broken) bool { return h.wants(b.Pair) })
	if i >= 0 {
		h.last = foundIn(steps, trial, trial.Broken[i])
		h.last.Seed, h.shrinks = h.seed, true
	}
	h.last.Again = i >= 0 // rapid tries the case again
	return i >= 0
}

// foundIn returns the case with the violation that its trial showed.
func foundIn(steps []Step, trial api.Trial, b api.Broken) Found {
	return Found{Requirement: b.Pair.Requirement, Operation: b.Pair.Operation, Steps: steps, Violation: b.Violation, Requests: trial.Shown(b)}
}
