package api

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
)

// Execution says how a body is run.
type Execution struct {
	Node     ginkgo.SpecContext // of the Ginkgo node that runs the body itself; nil for a body before its node
	Reported func(Failure)      // receives each failure at once; may be nil
	Others   func()             // runs the other specs that use the same thing; nil if nothing does
}

// Result is what came of a body.
type Result struct {
	Evidence *judge.Ledger // what the spec found out
	Failures []Failure
	Steps    []string // that the body named (API.By), if it ran before its node
	Looked   bool     // it looked for what other specs put to the test as a whole
	Took     time.Duration
	needs    map[string]bool // API.took
}

// Execute runs the body of the spec and returns what it found out, after the
// target was rolled back. A context that ends stops the spec. So does halt, but it
// leaves a request that changes something the time to end; nil for none.
func (s Spec) Execute(ctx, halt context.Context, env *Env, with Execution) Result {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	limit := time.AfterFunc(env.Longest(), func() { end(fmt.Errorf("the spec took longer than %s (see pace.spec_timeout)", env.Longest())) })
	defer limit.Stop()
	if halt != nil {
		defer context.AfterFunc(halt, func() { end(context.Cause(halt)) })()
	}
	api := newAPI(client.From(ctx, s.Name()), env, s, hash(s.Name()))
	api.node, api.reported = with.Node, with.Reported
	if with.Others != nil {
		api.others = func() {
			limit.Stop()
			with.Others()
			limit.Reset(env.Longest())
		}
	}
	began := time.Now()
	api.judgeAll()
	api.restore()
	api.kept.release()
	return Result{api.Evidence, api.Failures, api.steps, api.Looked, time.Since(began), api.took}
}

// specContext is the context of a body, which Ginkgo's own functions take as that of a node.
// There is no node yet if the body runs before it.
type specContext struct {
	context.Context
	spec Spec
	node ginkgo.SpecContext
}

// SpecReport names the spec.
func (c specContext) SpecReport() types.SpecReport {
	if c.node != nil {
		return c.node.SpecReport()
	}
	return types.SpecReport{ContainerHierarchyTexts: []string{c.spec.Operation}, LeafNodeText: c.spec.Title}
}

// AttachProgressReporter does nothing without a node, whose progress Ginkgo could report.
func (c specContext) AttachProgressReporter(report func() string) (detach func()) {
	if c.node != nil {
		return c.node.AttachProgressReporter(report)
	}
	return func() {}
}

// WrappedContext returns the context itself: there is no other one around it.
func (c specContext) WrappedContext() context.Context { return c.Context }

// By names a step of the spec, and runs the callback as a part of it. Ginkgo shows the step
// in the timeline of the spec.
func (api *API) By(step string, callback ...func()) {
	if api.node != nil {
		ginkgo.By(step)
	} else {
		api.mu.Lock()
		api.steps = append(api.steps, step)
		api.mu.Unlock()
	}
	for _, f := range callback {
		f()
	}
}

// Cleanup registers a function that runs once the body has ended: the last one first, among
// the functions that roll changes back. Its requests count as those of the spec.
func (api *API) Cleanup(f func(ctx context.Context)) {
	api.mu.Lock()
	defer api.mu.Unlock()
	api.undo = append(api.undo, f)
}

// newAPI returns what the body of the spec works with.
func newAPI(ctx context.Context, env *Env, s Spec, seed uint64) *API {
	return &API{Env: env, Ctx: ctx, Spec: s, took: map[string]bool{}, Evidence: judge.NewEvidenceBeside(env.examples),
		kept: &keeper{of: env.memory}, Rng: rand.New(rand.NewPCG(env.Seed, seed))}
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
			for _, p := range api.Spec.Pairs {
				if stopped.lost && !judge.SeenByRules(p.Requirement) {
					api.Evidence.Lost(p, stopped.input)
				}
			}
			if api.trial != nil {
				api.trial.Lacked = cmp.Or(stopped.input, "a usable response")
			}
		case types.GinkgoError: // a vendor's own expectation failed, in a node that runs its body itself
			panic(stopped)
		default:
			Trouble(api, panicked(stopped))
		}
	}()
	api.Spec.Body(specContext{api.Ctx, api.Spec, api.node}, api)
}

// panicked describes a crash of the harness to a function that recovers from it.
func panicked(crash any) string { return fmt.Sprintf("panic: %v\n%s", crash, debug.Stack()) }

// settle leaves no pair of the spec without a word: what was not judged lacked
// an input, and a spec that forgot a pair is in trouble.
func (api *API) settle(missing string) {
	for _, p := range api.Spec.Pairs {
		switch rule := judge.SeenByRules(p.Requirement); {
		case !rule && api.Evidence.Known(p), missing == "" && (rule || api.Looked):
		case missing != "":
			api.Evidence.Missing(p, missing)
		default:
			api.Evidence.Troubled(api.Spec.Name(), "the spec ended without judging "+p.Requirement, p)
			api.fail(Failure{Text: p.Requirement + ": the spec ended without judging it"})
		}
	}
}

// LetOthersRun lets the other specs that use the same thing run, and waits for their end.
// It does nothing if they ran before, in nodes of their own.
func LetOthersRun(api *API) {
	if api.others != nil {
		api.others()
	}
}
