package tree

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"

	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// Plan says what a program has Ginkgo run.
type Plan struct {
	// Selects reports whether a spec runs; nil selects all.
	Selects func(api.Spec) bool
	// FailFast reports whether a check with this outcome ends the run; nil for a run
	// that goes on.
	FailFast func(reports.Check) bool
	// Progress receives the events of the run.
	Progress Progress
	// Interrupted gets the outcome so far if the run is interrupted, 1 s later or a
	// little more, before Run waits for the rollback. It may be nil.
	Interrupted func(Outcome)
}

// Judging returns the plan that runs the specs which judge any of the pairs.
func Judging(pairs ...spec.Pair) Plan {
	return Plan{Selects: func(s api.Spec) bool { return slices.ContainsFunc(pairs, s.Declares) }}
}

// Progress receives the beginning and the end of the body of each spec, and how many
// violations it found so far; one event at a time. A nil function is not called.
type Progress struct {
	Begin, End func(s api.Spec, violations int)
}

// Outcome is what a run came to.
type Outcome struct {
	Report types.Report // Ginkgo's
	Ran    int          // specs that ran

	outside *judge.Ledger
}

// Ledger returns the evidence on the selected pairs, from Ginkgo's report.
func (o Outcome) Ledger(selected []spec.Pair) (*judge.Ledger, error) {
	ledger, err := Evidence(o.Report, selected)
	if err == nil {
		ledger.Add(o.outside)
	}
	return ledger, err
}

// Description is the name of the suite.
const Description = "Outreach Campaign Service API v2"

// treeLock guards Ginkgo's tree, of which a process has one.
var treeLock sync.Mutex

// Run runs the bodies of the specs that the plan selects, in the random order of the env's
// seed, as many at a time as the profile allows requests in flight. Ginkgo then reports
// them. Its error means that nothing was judged. When the context ends, the specs that have
// not begun are not assessed.
func (t *Tree) Run(ctx context.Context, env *api.Env, plan Plan) (Outcome, error) {
	if err := Ready(); err != nil {
		return Outcome{}, err
	}
	env.Begin()
	defer func() { env.Sandbox().Close(client.From(ctx, "the end of the run")) }()
	specs := t.Select(plan)
	shares := sharesOf(specs)
	env.Shares = func() map[string]sandbox.Share { return shares }
	n := &nodes{env: env, selects: plan.Selects, bodies: start(ctx, env, specs, plan)}
	defer n.bodies.close()
	if plan.Selects != nil {
		n.operations = map[string]bool{}
		for _, s := range specs {
			n.operations[s.Operation] = true
		}
	}
	n.bodies.wait(ctx)

	treeLock.Lock()
	defer treeLock.Unlock()
	outcome := t.report(n)
	if plan.Interrupted != nil && ctx.Err() != nil && !client.Ended(ctx) {
		plan.Interrupted(outcome)
	}
	return outcome, nil
}

// Ready reports what about this process would make Ginkgo end it without a verdict, even
// when it only lists specs. Check it before you call Specs.
func Ready() error {
	if _, err := os.Getwd(); err != nil {
		return fmt.Errorf("no working directory: %w (start in a directory that exists)", err)
	}
	var refused error
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "test.parallel" || f.Name == "test.count" && f.Value.String() != "1" {
			refused = errors.New("a test under go test -count or -parallel: Ginkgo refuses to run there (leave the flags out)")
		}
	})
	return refused
}

// Select returns the specs that the plan selects, in any order.
func (t *Tree) Select(plan Plan) []api.Spec {
	return slices.DeleteFunc(t.Specs(), func(s api.Spec) bool { return plan.Selects != nil && !plan.Selects(s) })
}

// selected is the label of the specs that a plan selects.
const selected = "selected"

// configuration returns Ginkgo's configuration of the run.
func (n *nodes) configuration() (types.SuiteConfig, types.ReporterConfig) {
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed = int64(n.env.Seed)
	suite.RandomizeAllSpecs = true
	suite.LabelFilter = ""
	if n.selects != nil {
		suite.LabelFilter = selected
	}
	suite.FocusStrings, suite.SkipStrings, suite.FocusFiles, suite.SkipFiles = nil, nil, nil, nil
	suite.DryRun, suite.FailFast = false, false
	suite.ParallelTotal, suite.ParallelProcess = 1, 1
	suite.OutputInterceptorMode = "none"
	suite.Timeout, suite.GracePeriod = forever, forever // each spec is bounded by itself, and rolls back what it changed
	reporter.NoColor, reporter.JUnitReport, reporter.JSONReport = true, "", ""
	return suite, reporter
}

// forever is longer than any run.
const forever = 7 * 24 * time.Hour

// list asks Ginkgo which specs the tree has. The caller holds treeLock.
func (t *Tree) list() []api.Spec {
	n := &nodes{env: &api.Env{}}
	defer n.takeGinkgo(t)()
	suite, reporter := n.configuration()
	var all []api.Spec
	for _, s := range ginkgo.PreviewSpecs(Description, suite, reporter).SpecReports {
		listed := n.specs[s.FullText()]
		listed.Location = api.ShortLocation(s.LeafNodeLocation)
		all = append(all, listed)
	}
	return all
}

// report has Ginkgo run the nodes, whose bodies have run. The caller holds treeLock.
func (t *Tree) report(n *nodes) Outcome {
	defer n.takeGinkgo(t)()
	o := Outcome{outside: n.env.Outside(), Ran: len(n.bodies.ran())}
	ginkgo.ReportAfterSuite("the results", func(r ginkgo.Report) { o.Report = r })
	suite, reporter := n.configuration()
	ginkgo.RunSpecs(failing{}, Description, suite, reporter)
	n.cut(o.Report)
	return o
}

// cut records that specs whose nodes Ginkgo did not run are not assessed: it was
// interrupted.
func (n *nodes) cut(report types.Report) {
	reported := map[string]bool{}
	for _, s := range report.SpecReports {
		_, reported[s.FullText()], _ = carriedBy(s)
	}
	for name, s := range n.specs {
		if !reported[name] && (n.selects == nil || n.selects(s)) {
			n.env.Outside().Add(notReached(s, reports.NotReachedInterrupted))
		}
	}
}

// takeGinkgo makes ours the only tree of the process and mutes Ginkgo's console.
// The function that it returns leaves Ginkgo without a tree, and configured as it
// was, so that another suite can be built and run.
func (n *nodes) takeGinkgo(t *Tree) (giveBack func()) {
	restore := mute()
	globals.Reset()
	unregister := n.register(t)
	suite, reporter := ginkgo.GinkgoConfiguration()
	return func() {
		unregister()
		globals.Reset()
		ginkgo.PreviewSpecs("", suite, reporter) // Ginkgo has no other way to configure it
		globals.Reset()
		restore()
	}
}

// failing takes Ginkgo's word that a spec failed: its report says more.
type failing struct{}

// Fail does nothing.
func (failing) Fail() {}

// mute keeps Ginkgo's console off ours.
func mute() (restore func()) {
	out, err := formatter.ColorableStdOut, formatter.ColorableStdErr
	formatter.ColorableStdOut, formatter.ColorableStdErr = io.Discard, io.Discard
	return func() { formatter.ColorableStdOut, formatter.ColorableStdErr = out, err }
}
