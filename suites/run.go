package suites

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

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Plan says what a program has Ginkgo run.
type Plan struct {
	// Selects reports whether a spec runs; nil selects all.
	Selects func(Spec) bool
	// FailFast reports whether a check with this outcome ends the run; nil for a run
	// that goes on.
	FailFast func(reports.Check) bool
	// Progress receives the events of the run.
	Progress Progress
	// Interrupted gets the outcome so far if the run is interrupted, 1 s later or a
	// little more, before Run waits for the rollback. It may be nil.
	Interrupted func(Outcome)
	// Gather runs all bodies before Ginkgo. It is for programs with many
	// environments at once: Ginkgo has one tree a process.
	Gather bool
}

// Judging returns the plan that runs the specs which judge any of the pairs.
func Judging(pairs ...spec.Pair) Plan {
	return Plan{Selects: func(s Spec) bool { return slices.ContainsFunc(pairs, s.declares) }}
}

// Judges returns the names of the specs that judge each pair.
func Judges() map[spec.Pair][]string {
	names := map[spec.Pair][]string{}
	for _, s := range Specs() {
		for _, p := range s.Pairs {
			names[p] = append(names[p], s.Name())
		}
	}
	return names
}

// Locations returns file and line of the specs that judge the requirement. The file of
// the rules comes first if they judge every response.
func Locations(requirement string) []string {
	var all []string
	for _, s := range Specs() {
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

// Progress receives the events of a run. Nil functions are not called. One
// goroutine at a time calls Done. Many call Begin and End, around the body
// of each spec.
type Progress struct {
	Done       func(s Spec, violations int)
	Begin, End func(s Spec)
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

// Run has Ginkgo run the specs that the plan selects, in the random order of the
// env's seed. Bodies start early, as many at a time as the profile allows
// requests in flight. Its error means that nothing was judged. When the context
// ends, the specs that have not begun are not assessed.
func Run(ctx context.Context, env *Env, plan Plan) (Outcome, error) {
	if err := Ready(); err != nil {
		return Outcome{}, err
	}
	env.begin()
	defer env.sandbox().Close(ctx)
	t := plan.tree(env)
	begin := func(specs []Spec) *ahead {
		shares := sharesOf(specs)
		env.shares = func() map[string]sandbox.Share { return shares }
		return start(ctx, env, specs, plan)
	}
	if plan.Gather {
		t.ahead = begin(plan.Specs())
		t.ahead.waitForAll()
		defer t.ahead.close()
	}
	treeLock.Lock()
	defer treeLock.Unlock()
	if !plan.Gather {
		t.ahead = begin(t.preview(plan))
		defer t.ahead.close()
	}
	outcome, err := t.runSpecs(plan)
	if err == nil && plan.Interrupted != nil && ctx.Err() != nil && !stoppedAnswering(ctx) {
		plan.Interrupted(outcome)
	}
	return outcome, err
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

// Specs returns the specs that the plan selects, in any order.
func (p Plan) Specs() []Spec {
	return slices.DeleteFunc(Specs(), func(s Spec) bool { return p.Selects != nil && !p.Selects(s) })
}

// selected is the label of the specs that a plan selects.
const selected = "selected"

// tree returns the tree of the plan. It has the containers of the operations with a spec that
// the plan selects.
func (p Plan) tree(env *Env) *tree {
	t := &tree{env: env, selects: p.Selects}
	if p.Selects != nil {
		t.operations = map[string]bool{}
		for _, s := range p.Specs() {
			t.operations[s.Operation] = true
		}
	}
	return t
}

// Specs returns every spec of the tree. Like Run, it takes the process's only tree:
// it must not be called while another suite is being built.
func Specs() []Spec { return slices.Clone(allSpecs()) }

// allSpecs asks Ginkgo once: specs hold no state.
var allSpecs = sync.OnceValue(func() []Spec {
	treeLock.Lock()
	defer treeLock.Unlock()
	t := &tree{env: &Env{}}
	return t.preview(Plan{})
})

// configuration returns Ginkgo's configuration of the run.
func (t *tree) configuration(plan Plan) (types.SuiteConfig, types.ReporterConfig) {
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed = int64(t.env.Seed)
	suite.RandomizeAllSpecs = true
	suite.LabelFilter = ""
	if plan.Selects != nil {
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

// preview asks Ginkgo which specs it selects, and in which order. The caller
// holds treeLock.
func (t *tree) preview(plan Plan) []Spec {
	defer t.takeGinkgo()()
	suite, reporter := t.configuration(plan)
	var order []Spec
	for _, s := range ginkgo.PreviewSpecs(Description, suite, reporter).SpecReports {
		if s.State.Is(types.SpecStatePassed) { // so a dry run reports what it selects
			selected := t.specs[s.FullText()]
			selected.Location = shortLocation(s.LeafNodeLocation)
			order = append(order, selected)
		}
	}
	return order
}

// runSpecs has Ginkgo run the tree. The caller holds treeLock.
func (t *tree) runSpecs(plan Plan) (Outcome, error) {
	defer t.takeGinkgo()()
	o := Outcome{outside: t.env.outside}
	ginkgo.ReportAfterEach(func(s ginkgo.SpecReport) {
		if _, reported, _ := carriedBy(s); !reported {
			return // Ginkgo skipped the node, and its body may still run
		}
		if done, ran := t.ahead.ran(s.FullText()); ran {
			o.Ran++
			if plan.Progress.Done != nil {
				plan.Progress.Done(done.spec, done.evidence.Violations())
			}
		}
	})
	ginkgo.ReportAfterSuite("the results", func(r ginkgo.Report) { o.Report = r })
	suite, reporter := t.configuration(plan)
	ginkgo.RunSpecs(failing{}, Description, suite, reporter)
	t.ahead.cut(o.Report, t.env.outside)
	return o, nil
}

// takeGinkgo makes ours the only tree of the process and mutes Ginkgo's console.
// The function that it returns leaves Ginkgo without a tree, and configured as it
// was, so that another suite can be built and run.
func (t *tree) takeGinkgo() (giveBack func()) {
	restore := mute()
	globals.Reset()
	unregister := t.register()
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
