package suites

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// check is one spec at work: it sends requests, and records for the spec's
// requirements that they were put to the test, broken, or lacked an input. Its
// methods may be called from several goroutines.
type check struct {
	*Env
	ctx  context.Context
	spec Spec
	rng  *rand.Rand // for what is generated before requests go out; not for goroutines

	mu         sync.Mutex
	judged     map[spec.Pair]bool // assessed, violated or missing by this spec's own word
	complaints []string           // all violations seen, for Ginkgo
	undo       []sandbox.Undo
}

// abandoned is the panic with which a spec stops when it cannot go on.
type abandoned struct {
	missing string // the input that was missing; empty when trouble was recorded, which covers all pairs
}

// run judges the spec and returns what Ginkgo should fail with, or "".
func (s Spec) run(ctx context.Context, env *Env) string {
	ctx, cancel := context.WithTimeoutCause(ctx, env.specTimeout(), fmt.Errorf("the spec took longer than %s", env.specTimeout()))
	defer cancel()
	c := &check{Env: env, ctx: ctx, spec: s, judged: map[spec.Pair]bool{},
		rng: rand.New(rand.NewPCG(env.Seed, hash(s.Name())))}
	c.judgeAll()
	c.restore()
	slices.Sort(c.complaints)
	return strings.Join(slices.Compact(c.complaints), "\n")
}

// hash is FNV-1a, so that each spec draws random numbers of its own.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (c *check) judgeAll() {
	defer func() {
		switch stopped := recover().(type) {
		case nil:
			c.settle("")
		case abandoned:
			if stopped.missing != "" {
				c.settle(stopped.missing)
			}
		default:
			c.trouble(fmt.Sprintf("panic: %v\n%s", stopped, debug.Stack()))
		}
	}()
	c.spec.judge(c)
}

// settle makes sure that no pair of the spec is left without a word: what was
// not judged lacked an input, and a spec that simply forgot is in trouble.
func (c *check) settle(missing string) {
	for _, p := range c.spec.Pairs {
		if c.judged[p] || judgedByRules(p) && missing == "" {
			continue
		}
		switch {
		case missing != "":
			c.Ledger.Missing(p, missing)
		default:
			c.Ledger.Troubled(c.name(), "the spec ended without judging "+p.Requirement, p)
			c.complain(p.Requirement + ": the spec ended without judging it")
		}
	}
}

// judgedByRules: package judge sees these in whatever answers come by.
func judgedByRules(p spec.Pair) bool {
	r, _ := spec.FindRequirement(p.Requirement)
	return r.Group == spec.GroupShape || r.Profile == spec.ProfileShape || r.Group == spec.GroupErrors && strings.HasPrefix(p.Requirement, "ERROR-") ||
		p.Requirement == "META-ELSEWHERE" || p.Requirement == "ISOLATION-OWNER" || p.Requirement == "DATE-OF-TIMESTAMP" ||
		p.Requirement == "EVENT-SUCCESS-FINAL" || p.Requirement == "EVENT-NEXT-RETRY"
}

func (c *check) name() string { return c.spec.Name() }

func (c *check) complain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complaints = append(c.complaints, text)
}

// trouble records that the spec could not judge because of the harness or the way to the target.
func (c *check) trouble(what string) {
	what = c.Client.Redact(what)
	c.Ledger.Troubled(c.name(), what, c.spec.Pairs...)
	c.complain("trouble: " + what)
}

// lack ends the spec for want of an input of the profile or the target's data.
func (c *check) lack(format string, args ...any) {
	panic(abandoned{missing: fmt.Sprintf(format, args...)})
}

// send sends the calls concurrently and lets the rules look at each answer.
// The answers may be of any status; without an answer the spec ends.
func (c *check) send(calls ...call) []answer { return c.exchange(false, calls) }

// one is send for a single call.
func (c *check) one(k call) answer { return c.send(k)[0] }

// valid sends calls that only 200 answers rightly; another status is charged
// to STATUS-200 and is for the caller to cope with.
func (c *check) valid(calls ...call) []answer { return c.exchange(true, calls) }

// must is valid for calls without whose 200 the spec cannot go on.
func (c *check) must(k call) answer {
	a := c.valid(k)[0]
	if !a.ok() {
		c.lack("%s from %s", a.lacks(), k.op.ID)
	}
	return a
}

func (c *check) exchange(valid bool, calls []call) []answer {
	requests := make([]client.Request, len(calls))
	entries := make([]int, len(calls))
	for i, k := range calls {
		entries[i] = c.before(k)
		requests[i] = k.request()
	}
	answers := make([]answer, len(calls))
	var broken *answer
	for i, ex := range c.exchanges(requests) {
		asked := judge.Asked{Operation: calls[i].op, Valid: valid, Owner: calls[i].owner, Open: calls[i].openRefusal}
		answers[i] = answer{ex, c.Rules.Look(asked, ex), calls[i]}
		c.record(answers[i])
		if valid && ex.Err == nil {
			c.Ledger.Answered(calls[i].op.ID, ex.Status)
		}
		c.noteChange(answers[i], entries[i])
		if broken == nil && (ex.Err != nil || ex.Truncated || answers[i].Sighting.Err != nil) {
			broken = &answers[i]
		}
	}
	if broken != nil {
		c.stop(*broken)
	}
	return answers
}

// exchanges sends the requests concurrently. A panic on the way to the target
// ends the spec, not the process.
func (c *check) exchanges(requests []client.Request) []client.Exchange {
	came := make([]client.Exchange, len(requests))
	work := make([]func(), len(requests))
	for i, r := range requests {
		work[i] = func() { came[i] = c.Client.Do(c.ctx, r) }
	}
	c.together(work...)
	return came
}

// stop ends the spec because an answer did not come, or not whole.
func (c *check) stop(a answer) {
	if errors.Is(a.Exchange.Err, client.ErrCanceled) && !errors.Is(context.Cause(c.ctx), context.DeadlineExceeded) {
		if cause := context.Cause(c.ctx); cause != nil && !errors.Is(cause, context.Canceled) && !stoppedAnswering(c.ctx) {
			c.trouble(cause.Error())
			panic(abandoned{})
		}
		c.lack("%s", whyCut(c.ctx))
	}
	what := fmt.Sprintf("the body is larger than %d bytes, the most that the harness reads", client.DefaultMaxBody)
	switch {
	case a.Exchange.Err != nil:
		what = a.Exchange.Err.Error()
	case a.Sighting.Err != nil:
		what = fmt.Sprintf("the answer could not be judged: %v", a.Sighting.Err)
	}
	c.trouble(what)
	panic(abandoned{})
}

// record enters what the rules saw into the ledger.
func (c *check) record(a answer) {
	seen := map[spec.Pair]int{}
	for _, p := range a.Seen {
		seen[p]++
	}
	for p, n := range seen {
		c.Ledger.Assessed(p, n)
	}
	for _, f := range a.Findings {
		c.report(f.Pair, a, f.Pointer, f.Expected, f.Actual)
	}
	for _, o := range a.Observed {
		c.observe(o.Silence, a.call.op.ID, "%s", o.Value)
	}
}

// report enters a violation into the ledger and Ginkgo's report.
func (c *check) report(p spec.Pair, a answer, pointer, expected, actual string) {
	pointer = c.Client.Redact(pointer) // the target chooses the names of some members
	v := reports.Violation{Spec: c.name(), Pointer: pointer, Expected: c.Client.Redact(expected), Actual: c.Client.Redact(actual)}
	if a.Exchange.Request.Path != "" {
		v.Curl = judge.Replay(p.Requirement, a.Exchange)
	}
	c.Ledger.Violated(p, v)
	if c.Ledger.Selected(p) {
		c.complain(fmt.Sprintf("%s on %s at %q: expected %s, got %s\n  %s", p.Requirement, p.Operation, pointer, v.Expected, v.Actual, v.Curl))
	}
}

// observe records what the operation does where the specification is silent.
func (c *check) observe(silence, operation, format string, args ...any) {
	c.Ledger.Observe(silence, operation, c.Client.Redact(fmt.Sprintf(format, args...)))
}

// together runs the functions concurrently; if one ends the spec, the others
// are waited for first.
func (c *check) together(work ...func()) {
	stopped := make([]any, len(work))
	var wait sync.WaitGroup
	for i, f := range work {
		wait.Go(func() {
			defer func() { stopped[i] = recover() }()
			f()
		})
	}
	wait.Wait()
	for _, s := range stopped {
		if s != nil {
			panic(s)
		}
	}
}

// afterwards registers what puts the target back as it was; last in, first out.
func (c *check) afterwards(undo sandbox.Undo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undo = append(c.undo, undo)
}

func (c *check) restore() {
	ctx, cancel := sandbox.ForRollback(c.ctx)
	defer cancel()
	for _, undo := range slices.Backward(c.undo) {
		undo(ctx)
	}
}
