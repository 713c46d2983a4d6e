// Package tree has Ginkgo run specs that judge a target.
//
// Ginkgo runs one spec at a time in a process. Run therefore runs the bodies of the specs
// first, as many at a time as the profile's pace allows. Each Ginkgo node then enters what its
// body found out into Ginkgo's report, and fails or skips. Under `go test` and `ginkgo`
// (Register) a node runs its body itself.
//
// The package knows no spec: functions that call Describe and It add them.
package tree

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// Tree is a tree of specs.
type Tree struct {
	adds  []func()
	specs func() []api.Spec
}

// Of returns the tree to which the functions add nodes.
func Of(adds ...func()) *Tree {
	t := &Tree{adds: adds}
	t.specs = sync.OnceValue(func() []api.Spec { // specs hold no state
		treeLock.Lock()
		defer treeLock.Unlock()
		return t.list()
	})
	return t
}

// Specs returns every spec of the tree. Like Run, it takes the process's only tree of Ginkgo:
// it must not be called while another suite is being built.
func (t *Tree) Specs() []api.Spec { return slices.Clone(t.specs()) }

// Judges returns the names of the specs that judge each pair.
func (t *Tree) Judges() map[spec.Pair][]string {
	names := map[spec.Pair][]string{}
	for _, s := range t.Specs() {
		for _, p := range s.Pairs {
			names[p] = append(names[p], s.Name())
		}
	}
	return names
}

// Locations returns file and line of the specs that judge the requirement. The file of
// the rules comes first if they judge every response.
func (t *Tree) Locations(requirement string) []string {
	var all []string
	for _, s := range t.Specs() {
		if slices.ContainsFunc(s.Pairs, func(p spec.Pair) bool { return p.Requirement == requirement }) {
			all = append(all, s.Location)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if judge.SeenByRules(requirement) {
		all = slices.Insert(all, 0, "internal/judge/rules.go, on every response")
	}
	return all
}

// Lacks returns what the profile lacks for each pair that no spec of the plan can judge with
// it, in words.
func (t *Tree) Lacks(plan Plan, p *profile.Profile) map[spec.Pair]string {
	specs := t.Select(plan)
	shares := sharesOf(specs)
	lacks, judged := map[spec.Pair]string{}, map[spec.Pair]bool{}
	for _, s := range specs {
		if s.Looks {
			continue
		}
		lacking := s.Lacks(p, shares[s.Name()])
		for _, pair := range s.Pairs {
			judged[pair] = judged[pair] || lacking[pair] == ""
			lacks[pair] = cmp.Or(lacks[pair], lacking[pair])
		}
	}
	maps.DeleteFunc(lacks, func(pair spec.Pair, _ string) bool { return judged[pair] })
	return lacks
}

// Register adds the specs to the Ginkgo tree that is being built, for a suite
// that Ginkgo runs: `go test`, the ginkgo command, or a vendor's own suite, which
// may add specs with bodies that take an API. Bodies run in their nodes,
// one after the other.
//
// The suite fails if no requirement was put to the test, and if a requirement was broken
// in a process, at a time, or by a request of another spec, so that its own spec could not
// see that.
func (t *Tree) Register(env *api.Env) {
	env.Begin()
	n := &nodes{env: env}
	n.register(t)
	env.Shares = sync.OnceValue(func() map[string]sandbox.Share { // once the tree is built
		return sharesOf(slices.DeleteFunc(slices.Collect(maps.Values(n.specs)), func(s api.Spec) bool {
			return !slices.ContainsFunc(s.Pairs, env.Judges)
		}))
	})
	ReportAfterSuite("a requirement was assessed, and no broken rule is left out", func(report Report) {
		if report.SuiteConfig.DryRun {
			return
		}
		if text := unseen(report, env); text != "" {
			Fail(text)
		}
	})
}

// nodes are the nodes of a tree in Ginkgo's tree, which is a variable of the process.
type nodes struct {
	env    *api.Env
	bodies *bodies // that have run before their nodes; nil for none

	selects    func(api.Spec) bool // nil for all
	operations map[string]bool     // those whose containers are built; nil for all

	operation string // of the container that is being built
	specs     map[string]api.Spec
}

// register adds the nodes, and returns what takes our decorators out of use.
func (n *nodes) register(t *Tree) (unregister func()) {
	n.specs = map[string]api.Spec{}
	unregister = AddTreeConstructionNodeArgsTransformer(n.transform)
	for _, add := range t.adds {
		add()
	}
	return unregister
}

// transform turns our decorators and bodies into Ginkgo's. Ginkgo calls it for
// each node that is built.
func (n *nodes) transform(nodeType types.NodeType, _ Offset, text string, args []any) (string, []any, []error) {
	switch {
	case nodeType.Is(types.NodeTypeContainer):
		for i, arg := range args {
			if build, ok := arg.(func()); ok {
				args[i] = n.inContainer(text, build)
			}
		}
	case nodeType.Is(types.NodeTypeIt):
		s, rest, ours, errs := api.Decorate(n.operation, text, args)
		if !ours || len(errs) > 0 {
			return text, rest, errs
		}
		s.Order = len(n.specs)
		n.specs[s.Name()] = s
		if n.selects != nil && n.selects(s) {
			rest = append(rest, Label(selected))
		}
		return text, append(rest, specBound(n.env), func(ctx SpecContext) { n.run(ctx, s) }), nil
	}
	return text, args, nil
}

func (n *nodes) inContainer(text string, build func()) func() {
	if _, isOperation := spec.FindOperation(text); !isOperation {
		return build
	}
	if n.operations != nil && !n.operations[text] {
		return func() {}
	}
	return func() {
		outer := n.operation
		n.operation = text
		defer func() { n.operation = outer }()
		build()
	}
}

// specBound is when Ginkgo interrupts the node of a spec that its own time limit
// has not ended.
func specBound(e *api.Env) SpecTimeout { return SpecTimeout(e.Longest() + time.Minute) }

// sharesOf deals the expendable subsequences out among the specs that take some: the first ones
// to the spec that shows what deletions answer with, whose checks are the most.
func sharesOf(specs []api.Spec) map[string]sandbox.Share {
	takers := slices.DeleteFunc(slices.Clone(specs), func(s api.Spec) bool { return s.Takes == 0 })
	slices.SortFunc(takers, func(a, b api.Spec) int {
		switch {
		case a.Shape == b.Shape:
			return a.Order - b.Order
		case a.Shape:
			return -1
		default:
			return 1
		}
	})
	of := 0
	for _, s := range takers {
		of += s.Takes
	}
	shares, from := map[string]sandbox.Share{}, 0
	for _, s := range takers {
		shares[s.Name()] = sandbox.Share{From: from, To: from + s.Takes, Of: of}
		from += s.Takes
	}
	return shares
}

// run is the body of a spec's node.
func (n *nodes) run(ctx SpecContext, s api.Spec) {
	var done api.Result
	if n.bodies == nil {
		done = s.Execute(ctx, nil, n.env, api.Execution{Node: ctx, Reported: failHere})
		n.env.Sandbox().Close(context.WithoutCancel(ctx))
	} else {
		var ran bool
		if done, ran = n.bodies.result(s.Name()); !ran {
			why := api.WhyCut(n.bodies.halt)
			report(notReached(s, why), s, 0)
			Skip("the run has ended before: " + why)
		}
		for _, step := range done.Steps {
			By(step)
		}
	}
	n.env.All.Add(done.Evidence)
	report(done.Evidence, s, done.Took)
	n.conclude(s, done)
}

// notReached is the evidence of a spec whose body did not run.
func notReached(s api.Spec, why string) *judge.Ledger {
	cut := judge.NewEvidence()
	for _, p := range s.Pairs {
		cut.Missing(p, why)
	}
	return cut
}

// failHere fails the running node at the line of the expectation, and lets the
// body go on: one body may find several violations.
func failHere(f api.Failure) {
	defer func() { _ = recover() }() // Fail records the failure and panics
	Fail(f.Text, framesToBody())
}

// framesToBody returns how many callers lie between failHere and the body of a spec.
func framesToBody() int {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]) // those of failHere come first
	for skip := 0; ; skip++ {
		frame, more := frames.Next()
		if !more {
			return 0 // of a goroutine that the body has not begun
		}
		if !strings.Contains(frame.Function, "/suites/api.") && !strings.Contains(frame.Function, "/suites/tree.") {
			return skip
		}
	}
}

// conclude fails or skips the node by what its spec found out.
func (n *nodes) conclude(s api.Spec, done api.Result) {
	var texts []string
	for _, f := range done.Failures {
		if f.Location != "" {
			f.Text = f.Location + ": " + f.Text
		}
		texts = append(texts, f.Text)
	}
	assessed := len(s.Pairs) == 0 || done.Looked
	missing := ""
	for _, p := range s.Pairs {
		if !n.env.Judges(p) {
			continue
		}
		evidence := done.Evidence
		if judge.SeenByRules(p.Requirement) {
			evidence = n.env.All
		}
		switch c := evidence.Check(p); {
		case c.Outcome == reports.NotAssessed:
			missing = strings.Join(c.Missing, "; ")
			continue
		case c.Outcome == reports.Fail && judge.SeenByRules(p.Requirement):
			texts = append(texts, brokenRule(c))
		}
		assessed = true
	}
	switch {
	case len(texts) > 0:
		slices.Sort(texts)
		Fail(strings.Join(slices.Compact(texts), "\n"))
	case !assessed:
		Skip("not assessed: " + missing)
	}
}

// brokenRule describes a failed check in a few lines, whichever spec saw it.
func brokenRule(c reports.Check) string {
	return fmt.Sprintf("%s on %s (%d times): %s", c.Requirement, c.Operation, c.ViolationCount, api.DescribeViolation(c.Violations[0]))
}

// unseen says what a suite that Ginkgo ran has found out and no spec has failed
// for; "" for nothing.
func unseen(report Report, env *api.Env) string {
	var selected []spec.Pair
	for _, p := range spec.Pairs() {
		if env.Judges(p) {
			selected = append(selected, p)
		}
	}
	ledger, err := Evidence(report, selected)
	if err != nil {
		return err.Error()
	}
	ledger.Add(env.Outside())
	failed, broken := map[spec.Pair]bool{}, false
	for _, s := range report.SpecReports {
		if s.Failed() {
			broken = true
			found, _, err := carriedBy(s)
			if err != nil {
				return err.Error()
			}
			for _, p := range found.Pairs {
				failed[p] = true
			}
		}
	}
	checks := ledger.Checks()
	var texts []string
	for _, c := range checks {
		if c.Outcome == reports.Fail && !failed[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] {
			texts = append(texts, brokenRule(c))
		}
	}
	for _, trouble := range ledger.Troubles() {
		if !broken {
			texts = append(texts, trouble.Where+": "+trouble.What)
		}
	}
	if reports.Count(checks).Pass == 0 && len(texts) == 0 && !broken {
		return "not one requirement could be assessed"
	}
	return strings.Join(texts, "\n")
}
