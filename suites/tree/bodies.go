package tree

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/suites/api"
)

// bodies are the bodies of the specs of a run. They run before their nodes, as many at a time
// as the pace allows: Ginkgo runs one node at a time, and a slow target would be asked one
// question at a time. Each node then enters the result of its body.
type bodies struct {
	env     *api.Env
	plan    Plan
	halt    context.Context // ends with the run's, and at the failure at which the run ends
	end     context.CancelCauseFunc
	all     errgroup.Group
	mu      sync.Mutex
	results map[string]api.Result // by name of the spec
}

// settleTime is how long bodies may last after an interruption before the results are
// written without them.
const settleTime = time.Second

// start starts the bodies in a random order, which the seed decides. Those of specs that use
// the same thing run one after the other, in that order.
func start(ctx context.Context, env *api.Env, specs []api.Spec, plan Plan) *bodies {
	b := &bodies{env: env, plan: plan, results: map[string]api.Result{}}
	b.halt, b.end = context.WithCancelCause(ctx)
	specs = slices.Clone(specs)
	rng := rand.New(rand.NewPCG(env.Seed, 0))
	rng.Shuffle(len(specs), func(i, j int) { specs[i], specs[j] = specs[j], specs[i] })
	slices.SortStableFunc(specs, func(a, b api.Spec) int { return rank(a) - rank(b) })
	things := len(b.startAlone(ctx, specs))
	var rest errgroup.Group // a spec that waits for a thing must not keep others from running
	rest.SetLimit(max(1, env.Width()-things))
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

// startAlone starts the bodies of the specs that use things, and returns for each thing what is
// closed when the last of these specs has ended. One that lies around the others lets them run
// in its middle, and then waits for their end.
func (b *bodies) startAlone(ctx context.Context, specs []api.Spec) (last map[string]<-chan struct{}) {
	last = map[string]<-chan struct{}{}
	started := make(chan struct{})
	defer close(started)
	for _, s := range specs {
		if len(s.Alone) == 0 {
			continue
		}
		var before []<-chan struct{}
		over := make(chan struct{})
		for _, thing := range s.Alone {
			if other := last[thing]; other != nil {
				before = append(before, other)
			}
			last[thing] = over
		}
		b.all.Go(func() error {
			<-started
			for _, other := range before {
				<-other
			}
			letGo := sync.OnceFunc(func() { close(over) })
			defer letGo()
			var others func()
			if s.Outer {
				others = func() {
					letGo()
					for _, thing := range s.Alone {
						<-last[thing]
					}
				}
			}
			b.run(ctx, s, others)
			return nil
		})
	}
	return last
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
	if !client.Ended(ctx) {
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
