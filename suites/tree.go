package suites

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// files are the parts of the tree: one for each resource with rules of its own, then one for
// each rule that cuts across operations.
var files = []func(){
	campaigns, leads, accounts, inboxPlacementTests, inboxPlacementReports, subsequences, workspaceMembers, webhookEvents,

	resources, served, statuses, authentication, scopes, viewsOfKeys, effects, sideEffects, errorResponses, providerOptions, pagination, filters, queries, queryValues, requests, acceptance, isolation,
	rateLimits, observations,
}

// tree is the registration of our specs in Ginkgo's tree, which is a variable of
// the process.
type tree struct {
	env   *Env
	ahead *ahead // bodies that start before their nodes; nil for none

	selects    func(Spec) bool // nil for all
	operations map[string]bool // those whose containers are built; nil for all

	operation string // of the container that is being built
	specs     map[string]Spec
}

// Register adds the specs to the Ginkgo tree that is being built, for a suite
// that Ginkgo runs: `go test`, the ginkgo command, or a vendor's own suite, which
// may add specs with bodies of type func(*suites.API). Bodies run in their nodes,
// one after the other.
//
// The suite fails if no requirement was put to the test, and if a requirement was broken
// in a process, at a time, or by a request of another spec, so that its own spec could not
// see that.
func Register(env *Env) {
	env.begin()
	t := &tree{env: env}
	t.register()
	env.shares = sync.OnceValue(func() map[string]sandbox.Share { // once the tree is built
		return sharesOf(slices.DeleteFunc(slices.Collect(maps.Values(t.specs)), func(s Spec) bool {
			return !slices.ContainsFunc(s.Pairs, env.selected)
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

// register adds the specs, and returns what takes our decorators out of use.
func (t *tree) register() (unregister func()) {
	t.specs = map[string]Spec{}
	unregister = AddTreeConstructionNodeArgsTransformer(t.transform)
	for _, add := range files {
		add()
	}
	return unregister
}

// transform turns our decorators and bodies into Ginkgo's. Ginkgo calls it for
// each node that is built.
func (t *tree) transform(nodeType types.NodeType, _ Offset, text string, args []any) (string, []any, []error) {
	switch {
	case nodeType.Is(types.NodeTypeContainer):
		for i, arg := range args {
			if build, ok := arg.(func()); ok {
				args[i] = t.inContainer(text, build)
			}
		}
	case nodeType.Is(types.NodeTypeIt):
		s, rest, ours, errs := decorate(t.operation, text, args)
		if !ours || len(errs) > 0 {
			return text, rest, errs
		}
		s.order = len(t.specs)
		t.specs[s.Name()] = s
		if t.selects != nil && t.selects(s) {
			rest = append(rest, Label(selected))
		}
		return text, append(rest, t.env.specBound(), func(ctx SpecContext) { t.run(ctx, s) }), nil
	}
	return text, args, nil
}

// sharesOf deals the expendable subsequences out among the specs that take some: the first ones
// to the spec that shows what deletions answer with, whose checks are the most.
func sharesOf(specs []Spec) map[string]sandbox.Share {
	takers := slices.DeleteFunc(slices.Clone(specs), func(s Spec) bool { return s.takes == 0 })
	slices.SortFunc(takers, func(a, b Spec) int {
		switch {
		case a.shape == b.shape:
			return a.order - b.order
		case a.shape:
			return -1
		default:
			return 1
		}
	})
	of := 0
	for _, s := range takers {
		of += s.takes
	}
	shares, from := map[string]sandbox.Share{}, 0
	for _, s := range takers {
		shares[s.Name()] = sandbox.Share{From: from, To: from + s.takes, Of: of}
		from += s.takes
	}
	return shares
}

func (t *tree) inContainer(text string, build func()) func() {
	if _, isOperation := spec.FindOperation(text); !isOperation {
		return build
	}
	if t.operations != nil && !t.operations[text] {
		return func() {}
	}
	return func() {
		outer := t.operation
		t.operation = text
		defer func() { t.operation = outer }()
		build()
	}
}

// run is the body of a spec's node.
func (t *tree) run(ctx SpecContext, s Spec) {
	var done *API
	if t.ahead == nil {
		done = s.execute(ctx, nil, t.env, execution{reported: failHere})
		t.env.sandbox().Close(context.WithoutCancel(ctx))
	} else if done = t.ahead.wait(ctx, s); done == nil {
		cut := judge.NewEvidence()
		for _, p := range s.Pairs {
			cut.Missing(p, t.ahead.whyCut())
		}
		report(cut, s, 0)
		Skip("the run has ended before: " + t.ahead.whyCut())
	}
	t.env.all.Add(done.evidence)
	report(done.evidence, s, done.took)
	if t.ahead != nil && s.rule {
		t.ahead.waitForAll()
	}
	t.conclude(s, done)
}

// failHere fails the running node at the line of the expectation, and lets the
// body go on: one body may find several violations.
func failHere(f failure) {
	defer func() { _ = recover() }() // Fail records the failure and panics
	Fail(f.text, framesToExpectation)
}

// framesToExpectation leads from failHere to the caller of Assertion.To.
const framesToExpectation = 4

// conclude fails or skips the node by what its spec found out.
func (t *tree) conclude(s Spec, done *API) {
	var texts []string
	for _, f := range done.failures {
		if f.location != "" {
			f.text = f.location + ": " + f.text
		}
		texts = append(texts, f.text)
	}
	assessed := len(s.Pairs) == 0 || done.looked
	missing := ""
	for _, p := range s.Pairs {
		if !t.env.selected(p) {
			continue
		}
		evidence := done.evidence
		if ruleBound(p) {
			evidence = t.env.all
		}
		switch c := evidence.Check(p); {
		case c.Outcome == reports.NotAssessed:
			missing = strings.Join(c.Missing, "; ")
			continue
		case c.Outcome == reports.Fail && ruleBound(p):
			texts = append(texts, brokenRule(c))
		}
		assessed = true
	}
	switch {
	case t.ahead.endsRun(s):
		AbortSuite(strings.Join(append(texts, "the run ends at its first failure"), "\n"))
	case len(texts) > 0:
		slices.Sort(texts)
		Fail(strings.Join(slices.Compact(texts), "\n"))
	case !assessed:
		Skip("not assessed: " + missing)
	}
}

// brokenRule describes a failed check in a few lines, whichever spec saw it.
func brokenRule(c reports.Check) string {
	return fmt.Sprintf("%s on %s (%d times): %s", c.Requirement, c.Operation, c.ViolationCount, describeViolation(c.Violations[0]))
}

// unseen says what a suite that Ginkgo ran has found out and no spec has failed
// for; "" for nothing.
func unseen(report Report, env *Env) string {
	var selected []spec.Pair
	for _, p := range spec.Pairs() {
		if env.selected(p) {
			selected = append(selected, p)
		}
	}
	ledger, err := Evidence(report, selected)
	if err != nil {
		return err.Error()
	}
	ledger.Add(env.outside)
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

// specBound is when Ginkgo interrupts the node of a spec that its own time limit
// has not ended.
func (e *Env) specBound() SpecTimeout { return SpecTimeout(e.specTimeout() + time.Minute) }
