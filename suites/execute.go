package suites

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// execution says how a body is run.
type execution struct {
	reported func(failure) // receives each failure at once; may be nil
	others   func()        // runs the other specs that use the same thing; nil if nothing does
}

// execute runs the body of the spec and returns what it found out, after the
// target was rolled back. A context that ends stops the spec. So does halt, but it
// leaves a request that changes something the time to end; nil for none.
func (s Spec) execute(ctx, halt context.Context, env *Env, with execution) *API {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	limit := time.AfterFunc(env.specTimeout(), func() { end(fmt.Errorf("the spec took longer than %s (see pace.spec_timeout)", env.specTimeout())) })
	defer limit.Stop()
	if halt != nil {
		defer context.AfterFunc(halt, func() { end(context.Cause(halt)) })()
	}
	api := newAPI(ctx, env, s, hash(s.Name()))
	api.reported = with.reported
	if with.others != nil {
		api.others = func() {
			limit.Stop()
			with.others()
			limit.Reset(env.specTimeout())
		}
	}
	began := time.Now()
	api.judgeAll()
	api.chargeTheRest()
	api.restore()
	api.kept.release()
	api.took = time.Since(began)
	return api
}

// newAPI returns what the body of the spec works with.
func newAPI(ctx context.Context, env *Env, s Spec, seed uint64) *API {
	return &API{Env: env, ctx: ctx, spec: s, said: map[spec.Pair]bool{}, judgedStatuses: map[statusOf]bool{}, evidence: judge.NewEvidenceBeside(env.examples),
		kept: &keeper{of: env.memory}, rng: rand.New(rand.NewPCG(env.Seed, seed))}
}

// hash is FNV-1a, so that each spec draws random numbers of its own.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (api *API) judgeAll() {
	defer func() {
		switch stopped := recover().(type) {
		case nil:
			api.settle("")
		case skipSpec:
			if stopped.input != "" {
				api.settle(stopped.input)
			}
			for _, p := range api.spec.Pairs {
				if stopped.lost && !judge.SeenByRules(p.Requirement) {
					api.evidence.Lost(p, stopped.input)
				}
			}
			if api.trial != nil {
				api.trial.Lacked = cmp.Or(stopped.input, "a usable response")
			}
		case types.GinkgoError: // a vendor's own expectation failed, in a node that runs its body itself
			panic(stopped)
		default:
			api.trouble(panicked(stopped))
		}
	}()
	api.spec.body(api)
}

// panicked describes a crash of the harness to a function that recovers from it.
func panicked(crash any) string { return fmt.Sprintf("panic: %v\n%s", crash, debug.Stack()) }

// settle leaves no pair of the spec without a word: what was not judged lacked
// an input, and a spec that forgot a pair is in trouble.
func (api *API) settle(missing string) {
	for _, p := range api.spec.Pairs {
		switch {
		case api.said[p], judge.SeenByRules(p.Requirement) && missing == "":
		case missing != "":
			api.evidence.Missing(p, missing)
		default:
			api.evidence.Troubled(api.spec.Name(), "the spec ended without judging "+p.Requirement, p)
			api.fail(failure{text: p.Requirement + ": the spec ended without judging it"})
		}
	}
}

// letOthersRun lets the other specs that use the same thing run, and waits for their end.
// It does nothing if they ran before, in nodes of their own.
func (api *API) letOthersRun() {
	if api.others != nil {
		api.others()
	}
}
