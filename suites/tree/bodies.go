package tree

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/suites/api"
)

// bodies are the bodies of the specs of a run. They run before their nodes, as many at a time
// as the pace allows: Ginkgo runs one node at a time, and a slow target would be asked one
// question at a time. Each node then enters the result of its body.
type bodies struct {
	env  *api.Env
	plan Plan
	halt context.Context // ends with the run's, and at the failure at which the run ends
	end  context.CancelCauseFunc
	all  errgroup.Group
	// things are held by the one spec that may use them. A channel, since a spec that waits for
	// one ends with the run.
	things map[string]chan struct{}
	around map[string]*sync.WaitGroup // thing that a spec lies around → the others that use it

	mu      sync.Mutex
	results map[string]api.Result // by name of the spec
}

// settleTime is how long bodies may last after an interruption before the results are
// written without them.
const settleTime = time.Second

// start starts the bodies in a random order. Those of specs that use the same thing run one
// after the other.
func start(ctx context.Context, env *api.Env, specs []api.Spec, plan Plan) *bodies {
	b := &bodies{env: env, plan: plan, things: map[string]chan struct{}{}, around: map[string]*sync.WaitGroup{}, results: map[string]api.Result{}}
	b.halt, b.end = context.WithCancelCause(ctx)
	specs = slices.Clone(specs)
	rng := rand.New(rand.NewPCG(env.Seed, 0))
	rng.Shuffle(len(specs), func(i, j int) { specs[i], specs[j] = specs[j], specs[i] })
	slices.SortStableFunc(specs, func(a, b api.Spec) int { return rank(a) - rank(b) })
	for _, s := range specs {
		for _, thing := range s.Alone {
			b.things[thing] = make(chan struct{}, 1)
			if s.Outer {
				b.around[thing] = &sync.WaitGroup{}
			}
		}
	}
	for _, s := range specs {
		for _, thing := range s.Alone {
			if inner := b.around[thing]; inner != nil && !s.Outer {
				inner.Add(1)
			}
		}
	}
	var rest errgroup.Group // a spec that waits for a thing must not keep others from running
	rest.SetLimit(max(1, env.Width()-len(b.things)))
	for _, s := range specs {
		if s.Outer && !b.take(ctx, s) { // before any other spec
			continue
		}
		if len(s.Alone) > 0 {
			b.all.Go(func() error { b.runAlone(ctx, s); return nil })
		}
	}
	b.all.Go(func() error {
		for _, s := range specs {
			if len(s.Alone) == 0 {
				rest.Go(func() error { b.run(ctx, s, nil); return nil })
			}
		}
		return rest.Wait()
	})
	return b
}

// rank puts specs first that others wait for.
func rank(s api.Spec) int {
	switch {
	case s.Outer:
		return 0
	case len(s.Alone) > 0:
		return 1
	}
	return 2
}

// take takes the things of the spec, which are sorted, so that no two specs wait for each
// other. It reports false if the run ends first.
func (b *bodies) take(ctx context.Context, s api.Spec) bool {
	for i, thing := range s.Alone {
		select {
		case b.things[thing] <- struct{}{}:
		case <-ctx.Done():
			s.Alone = s.Alone[:i]
			b.giveBack(s)
			return false
		}
	}
	return true
}

func (b *bodies) giveBack(s api.Spec) {
	for _, thing := range s.Alone {
		<-b.things[thing]
	}
}

// runAlone runs the body while nothing else uses its things. One that lies around the others
// has taken them before, and lets the others run in its middle.
func (b *bodies) runAlone(ctx context.Context, s api.Spec) {
	if s.Outer {
		defer b.giveBack(s)
		b.run(ctx, s, func() {
			b.giveBack(s)
			for _, thing := range s.Alone {
				b.around[thing].Wait()
			}
			b.take(context.WithoutCancel(ctx), s)
		})
		return
	}
	for _, thing := range s.Alone {
		if inner := b.around[thing]; inner != nil {
			defer inner.Done()
		}
	}
	if b.take(ctx, s) {
		defer b.giveBack(s)
		b.run(ctx, s, nil)
	}
}

// run runs a body, and ends the others if it finds a failure at which the run ends. others
// runs those that use the same things; nil if nothing does.
func (b *bodies) run(ctx context.Context, s api.Spec, others func()) {
	if ctx.Err() != nil || b.halt.Err() != nil {
		return
	}
	b.tell(b.plan.Progress.Begin, s, api.Result{})
	r := s.Execute(ctx, b.halt, b.env, api.Execution{Others: others})
	b.mu.Lock()
	b.results[s.Name()] = r
	b.mu.Unlock()
	if b.plan.FailFast != nil && slices.ContainsFunc(r.Evidence.Checks(), b.plan.FailFast) {
		b.end(api.ErrFailFast)
	}
	b.tell(b.plan.Progress.End, s, r)
}

// tell calls a function of the progress, one at a time.
func (b *bodies) tell(event func(api.Spec, int), s api.Spec, r api.Result) {
	if event == nil {
		return
	}
	violations := 0
	if r.Evidence != nil {
		violations = r.Evidence.Violations()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	event(s, violations)
}

// wait waits for the bodies. If the run is interrupted, it waits a little longer for those
// that roll back.
func (b *bodies) wait(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.all.Wait() // no body returns an error
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	late := make(<-chan time.Time)
	if !outage.Ended(ctx) {
		late = time.After(settleTime)
	}
	select {
	case <-ended:
	case <-late:
	}
}

// close waits for all bodies and releases their context.
func (b *bodies) close() {
	_ = b.all.Wait()
	b.end(nil)
}

// result returns what the spec's body came to, if it has run.
func (b *bodies) result(name string) (api.Result, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.results[name]
	return r, ok
}

// ran returns the results by the names of the specs that have run.
func (b *bodies) ran() map[string]api.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.results)
}
