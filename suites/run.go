package suites

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"

	"outreach.example/conformance/spec"
)

// Register adds the specs to the Ginkgo tree that is being built, for a suite
// that Ginkgo itself runs. A spec fails when it saw any violation, whichever
// requirement that is charged to; the outcome of each requirement is in the
// ledger. ran, unless nil, is called with each spec that has ended.
func Register(ctx context.Context, env *Env, specs []Spec, ran func(Spec)) {
	for _, s := range specs {
		ginkgo.Describe(s.Operation, func() {
			ginkgo.It(s.Title, labels(s), func(specCtx ginkgo.SpecContext) {
				if ctx.Err() != nil {
					ginkgo.Skip("the run was interrupted")
				}
				both, cancel := context.WithCancel(ctx)
				defer cancel()
				defer context.AfterFunc(specCtx, cancel)()
				complaints := s.run(both, env)
				if ran != nil {
					ran(s)
				}
				if complaints != "" {
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
// many ran. Findings go to the env's ledger. When the context ends, or a SIGINT
// or SIGTERM comes, what has not run is recorded as not assessed.
//
// Ginkgo keeps its tree in package variables: only one Run at a time.
func Run(ctx context.Context, env *Env, specs []Spec, progress Progress) int {
	defer signal.Reset(os.Interrupt, syscall.SIGTERM) // Ginkgo's handlers outlive its run
	restoreOutput := silence()
	defer restoreOutput()

	ran := map[string]bool{}
	violations := 0
	globals.Reset()
	Register(ctx, env, specs, func(s Spec) {
		ran[s.Name()] = true
		now := env.Ledger.Violations()
		if progress.Done != nil {
			progress.Done(s, now-violations)
		}
		violations = now
	})
	if progress.Start != nil {
		progress.Start(len(specs))
	}
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed = int64(env.Seed)
	suite.RandomizeAllSpecs = true
	suite.OutputInterceptorMode = "none"
	reporter.NoColor = true
	ginkgo.RunSpecs(&outcome{}, "Outreach Campaign Service API v2", suite, reporter)

	for _, s := range specs {
		if !ran[s.Name()] {
			env.skip(s)
		}
	}
	return len(ran)
}

// skip records a spec that did not run.
func (e *Env) skip(s Spec) {
	for _, p := range s.Pairs {
		e.Ledger.Missing(p, "the rest of the run, which was interrupted")
	}
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
