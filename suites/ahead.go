package suites

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/judge"
)

// ahead runs the bodies of specs before their nodes: Ginkgo runs one node at a
// time, and a slow target would be asked one question at a time.
type ahead struct {
	halt    context.Context // ends with the run's, and at the failure at which the run ends
	end     context.CancelCauseFunc
	plan    Plan
	results map[string]*result
	alone   map[string]chan struct{} // full while a spec uses a thing that only one may use
	all     sync.WaitGroup
	// late is closed some time after the run was interrupted: bodies that still roll
	// back, or wait for the end of a change, are then no longer waited for.
	late chan struct{}
	// forget ends the watch for an interruption. Else the caller's context, which may
	// serve thousands of runs, would keep each run in memory.
	forget func() bool
}

// settleTime is how long bodies may last after an interruption before the results are
// written without them.
const settleTime = time.Second

// result is what became of one body. done may be read once ended is closed; it
// is nil if the body did not run.
type result struct {
	spec    Spec
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{}
	done    *API
	endsRun bool // it found the failure at which the run ends
}

// errFailFast is the cause with which a failure ends the bodies (Plan.FailFast).
var errFailFast = errors.New("a check failed")

// start starts the bodies in the order that Ginkgo will report them in, as many
// at a time as the env allows. Specs that must not run beside each other run one
// after the other, beside the rest.
func start(ctx context.Context, env *Env, order []Spec, plan Plan) *ahead {
	a := &ahead{plan: plan, results: make(map[string]*result, len(order)), alone: map[string]chan struct{}{}, late: make(chan struct{})}
	a.halt, a.end = context.WithCancelCause(ctx)
	a.forget = context.AfterFunc(ctx, func() {
		if !stoppedAnswering(ctx) {
			time.AfterFunc(settleTime, func() { close(a.late) })
		}
	})
	surrounded := map[string]bool{} // what the specs use that an outer spec lies around
	for _, s := range order {
		for _, what := range s.alone {
			surrounded[what] = surrounded[what] || s.outer
		}
	}
	chains := map[string][]*result{}
	var singles []*result
	for _, s := range order {
		r := &result{spec: s, ended: make(chan struct{})}
		r.ctx, r.cancel = context.WithCancel(ctx)
		a.results[s.Name()] = r
		for _, what := range s.alone {
			a.alone[what] = make(chan struct{}, 1)
		}
		if len(s.alone) == 0 {
			singles = append(singles, r)
			continue
		}
		what := s.alone[max(0, slices.IndexFunc(s.alone, func(what string) bool { return surrounded[what] }))]
		if s.outer {
			chains[what] = slices.Insert(chains[what], 0, r)
		} else {
			chains[what] = append(chains[what], r)
		}
	}
	for _, chain := range chains {
		a.all.Go(func() { a.runInTurn(chain, env) })
	}
	queue := make(chan *result, len(singles))
	for _, r := range singles {
		queue <- r
	}
	close(queue)
	for range max(1, env.width()-len(chains)) {
		a.all.Go(func() {
			for r := range queue {
				a.run(r, env, nil)
			}
		})
	}
	return a
}

// runInTurn runs the bodies of specs that use the same thing, one after the other. An outer
// one lets the rest of them run in its middle.
func (a *ahead) runInTurn(chain []*result, env *Env) {
	for i, r := range chain {
		if !r.spec.outer {
			a.run(r, env, nil)
			continue
		}
		others := sync.OnceFunc(func() { a.runInTurn(chain[i+1:], env) })
		a.run(r, env, func() {
			a.giveBack(r)
			others()
			a.take(r)
		})
		others() // the body may have ended before it let them run
		return
	}
}

// take takes what only one spec may use for the body. It is sorted, so that no two specs
// wait for each other.
func (a *ahead) take(r *result) {
	for _, what := range r.spec.alone {
		a.alone[what] <- struct{}{}
	}
}

func (a *ahead) giveBack(r *result) {
	for _, what := range r.spec.alone {
		<-a.alone[what]
	}
}

// run runs a body, and ends the others if it finds a failure at which the run ends. others
// runs those that use the same thing; nil if nothing does.
func (a *ahead) run(r *result, env *Env, others func()) {
	defer close(r.ended)
	defer r.cancel()
	a.take(r)
	defer a.giveBack(r)
	if r.ctx.Err() != nil || a.halt.Err() != nil {
		return
	}
	if begin := a.plan.Progress.Begin; begin != nil {
		begin(r.spec)
	}
	r.done = r.spec.execute(r.ctx, a.halt, env, execution{others: others})
	if end := a.plan.Progress.End; end != nil {
		end(r.spec)
	}
	if a.plan.FailFast != nil && slices.ContainsFunc(r.done.evidence.Checks(), a.plan.FailFast) {
		r.endsRun = true
		a.end(errFailFast)
	}
}

// endsRun reports whether the spec's body found a failure at which the run ends. The
// body must have ended. A run whose bodies did not start early goes on.
func (a *ahead) endsRun(s Spec) bool { return a != nil && a.results[s.Name()].endsRun }

// wait returns what became of the spec's body; nil if it did not run, or is late. If
// the node's context ends first, so does the body.
func (a *ahead) wait(node context.Context, s Spec) *API {
	r, ok := a.results[s.Name()]
	if !ok {
		return nil
	}
	select {
	case <-r.ended:
	case <-a.late:
	case <-node.Done():
		r.cancel()
		select {
		case <-r.ended:
		case <-a.late:
		}
	}
	done, _ := a.ran(s.Name())
	return done
}

// waitForAll waits for all bodies but late ones.
func (a *ahead) waitForAll() {
	for _, r := range a.results {
		select {
		case <-r.ended:
		case <-a.late:
			return
		}
	}
}

// close waits for all bodies and releases their context.
func (a *ahead) close() {
	a.all.Wait()
	a.forget()
	a.end(nil)
}

func (a *ahead) whyCut() string { return whyCut(a.halt) }

// ran returns what the spec's body came to, if it ran and has ended.
func (a *ahead) ran(name string) (*API, bool) {
	r, ok := a.results[name]
	if !ok {
		return nil, false
	}
	select {
	case <-r.ended:
		return r.done, r.done != nil
	default:
		return nil, false
	}
}

// cut records that specs whose nodes Ginkgo did not run are not assessed: it was
// interrupted.
func (a *ahead) cut(report types.Report, into *judge.Ledger) {
	reported := map[string]bool{}
	for _, s := range report.SpecReports {
		_, ok, _ := carriedBy(s)
		reported[s.FullText()] = reported[s.FullText()] || ok
	}
	for name, r := range a.results {
		if reported[name] {
			continue
		}
		for _, p := range r.spec.Pairs {
			into.Missing(p, a.whyCut())
		}
	}
}
