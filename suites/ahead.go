package suites

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// result is what became of one spec; its fields may be read once done is closed.
type result struct {
	done       chan struct{}
	ran        bool
	complaints string
}

// ahead runs specs at the same time, ahead of whoever asks for their results.
type ahead map[string]*result

// runAhead starts to run the specs in an order drawn from the env's seed. done,
// unless nil, is told of each spec that has ended and the number of violations
// that were found since it was told last; it is called from one goroutine at a time.
func runAhead(ctx context.Context, env *Env, specs []Spec, done func(Spec, int)) ahead {
	results := make(ahead, len(specs))
	for _, s := range specs {
		results[s.Name()] = &result{done: make(chan struct{})}
	}
	var mu sync.Mutex
	told := 0
	finish := func(s Spec) {
		mu.Lock()
		defer mu.Unlock()
		if found := env.Ledger.Violations(); done != nil {
			done(s, found-told)
			told = found
		}
	}
	jobs := make(chan []Spec)
	for range env.width() {
		go func() {
			for job := range jobs {
				for _, s := range job {
					r := results[s.Name()]
					if ctx.Err() == nil {
						r.complaints, r.ran = s.run(ctx, env), true
						finish(s)
					}
					close(r.done)
				}
			}
		}()
	}
	go func() {
		defer close(jobs)
		for _, job := range shuffled(specs, env.Seed) {
			jobs <- job
		}
	}()
	return results
}

// wait returns the spec's complaints, and whether it ran.
func (a ahead) wait(s Spec) (complaints string, ran bool) {
	r := a[s.Name()]
	<-r.done
	return r.complaints, r.ran
}

// shuffled draws an order of jobs. A job is one spec, or all specs that must not
// run beside each other, in turn. Those come first: nothing shortens them.
func shuffled(specs []Spec, seed uint64) [][]Spec {
	var singles [][]Spec
	chains := map[string][]Spec{}
	for _, i := range rand.New(rand.NewPCG(seed, 1)).Perm(len(specs)) {
		if name := specs[i].alone(); name != "" {
			chains[name] = append(chains[name], specs[i])
		} else {
			singles = append(singles, []Spec{specs[i]})
		}
	}
	return append(slices.Collect(maps.Values(chains)), singles...)
}
