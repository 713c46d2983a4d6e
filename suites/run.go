package suites

import (
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/spec"
)

// Register adds the specs to the Ginkgo tree that is being built, for a suite
// that Ginkgo itself runs, one spec after the other. A spec fails when it saw any
// violation, whichever requirement that is charged to; the outcome of each
// requirement is in the ledger.
func Register(ctx context.Context, env *Env, specs []Spec) {
	nodes(specs, func(s Spec, specCtx context.Context) (complaints string, ran bool) {
		if ctx.Err() != nil {
			return "", false
		}
		both, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(specCtx, cancel)()
		return s.Judge(both, env), true
	})
}

// nodes adds a Ginkgo node for each spec.
func nodes(specs []Spec, body func(Spec, context.Context) (complaints string, ran bool)) {
	for _, s := range specs {
		ginkgo.Describe(s.Operation, func() {
			ginkgo.It(s.Title, labels(s), func(ctx ginkgo.SpecContext) {
				switch complaints, ran := body(s, ctx); {
				case !ran:
					ginkgo.Skip("the run was interrupted")
				case complaints != "":
					ginkgo.Fail(complaints)
				}
			})
		})
	}
}

// labels are the requirements that the spec judges, so that Ginkgo's own
// filters find it by them.
func labels(s Spec) ginkgo.Labels {
	var l ginkgo.Labels
	for _, p := range s.Pairs {
		l = append(l, p.Requirement)
	}
	return l
}

// Progress is told as a run goes on; nil functions are not called. The functions
// are called from one goroutine at a time.
type Progress struct {
	Start func(specs int)
	Done  func(s Spec, violations int)
}

// Run runs the specs in random order, as the env's seed has it, and returns how
// many ran. As many run at the same time as the profile allows requests in
// flight: a spec copes with what others change, and those that cannot run one
// after the other. Ginkgo's nodes report them. Findings go to the env's ledger.
// When the context ends, what has not run is recorded as not assessed, with the
// context's cause if that is ErrStoppedAnswering. Several Runs may be under way
// at once.
func Run(ctx context.Context, env *Env, specs []Spec, progress Progress) int {
	if progress.Start != nil {
		progress.Start(len(specs))
	}
	results := runAhead(ctx, env, specs, progress.Done)
	ran := len(specs) - skipped(ctx, results, env, specs) // which waits for all
	env.sandbox().Close(ctx)
	if !ginkgoRefuses() {
		report(env, specs, results)
	}
	return ran
}

// ginkgoRefuses reports whether Ginkgo would end the process without a word:
// so it does in a test to which `go test` was given -parallel or a -count. The
// specs do not need it to run.
func ginkgoRefuses() bool {
	refused := false
	flag.Visit(func(f *flag.Flag) {
		refused = refused || f.Name == "test.parallel" || f.Name == "test.count" && f.Value.String() != "1"
	})
	return refused
}

// tree guards Ginkgo's tree, which it keeps in package variables.
var tree sync.Mutex

// report has Ginkgo report the specs.
func report(env *Env, specs []Spec, results ahead) {
	tree.Lock()
	defer tree.Unlock()
	defer signal.Reset(os.Interrupt, syscall.SIGTERM) // Ginkgo's handlers outlive its run
	defer silence()()
	globals.Reset()
	nodes(specs, func(s Spec, _ context.Context) (string, bool) { return results.wait(s) })
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed = int64(env.Seed)
	suite.RandomizeAllSpecs = true
	suite.OutputInterceptorMode = "none"
	suite.Timeout = suiteTimeout
	reporter.NoColor = true
	ginkgo.RunSpecs(&outcome{}, "Outreach Campaign Service API v2", suite, reporter)
}

// suiteTimeout only keeps Ginkgo's own default of an hour away: each spec is
// bounded by Env.SpecTimeout.
const suiteTimeout = 7 * 24 * time.Hour

// skipped records the specs that did not run, and counts them.
func skipped(ctx context.Context, results ahead, env *Env, specs []Spec) int {
	n := 0
	for _, s := range specs {
		if _, ran := results.wait(s); ran {
			continue
		}
		n++
		for _, p := range s.Pairs {
			env.Ledger.Missing(p, whyCut(ctx))
		}
	}
	return n
}

// ErrStoppedAnswering is the cause with which whoever runs specs ends their
// context once the target leaves every request unanswered.
var ErrStoppedAnswering = outage.ErrStopped

// interrupted is the input that is missing when a run is interrupted.
const interrupted = "the rest of the run, which was interrupted"

// whyCut is the input that is missing when the context has ended a run early.
func whyCut(ctx context.Context) string {
	if stoppedAnswering(ctx) {
		return "answers: " + ErrStoppedAnswering.Error()
	}
	return interrupted
}

func stoppedAnswering(ctx context.Context) bool {
	return outage.Ended(ctx)
}

// outcome takes Ginkgo's word that something failed; the ledger knows what.
type outcome struct{}

func (*outcome) Fail() {}

// silence keeps Ginkgo's own console off ours.
func silence() (restore func()) {
	out, err := formatter.ColorableStdOut, formatter.ColorableStdErr
	formatter.ColorableStdOut, formatter.ColorableStdErr = io.Discard, io.Discard
	return func() { formatter.ColorableStdOut, formatter.ColorableStdErr = out, err }
}

// Pairs returns every pair that some spec judges.
func Pairs() map[spec.Pair][]string {
	judged := map[spec.Pair][]string{}
	for _, s := range All() {
		for _, p := range s.Pairs {
			judged[p] = append(judged[p], s.Name())
		}
	}
	return judged
}
