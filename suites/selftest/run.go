package selftest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

// Options say how much of the self-test to do.
type Options struct {
	Source Source
	// Short is a source whose subjects have shorter lists and take less time. Defects are
	// tried on them first, and on one of Source unless that shows them. Three of four groups of
	// quirks are tried on them. Nil means that there is none.
	Short   Source
	Workers int    `flag:"parallel" usage:"cases at the same time (default: 3 per processor; always 1 with your own target)"` // cases at the same time; 0 means several for each processor, since cases wait
	Seed    uint64 `flag:"seed" usage:"random seed: {seed}"`                                                                  // draws the sample and the groups of quirks
	// Sample is how many defects are drawn, with a share of the quirks; 0 tries all.
	Sample int `flag:"sample" usage:"number of defects to draw; 0 tries all"`
	// Causes has all specs judge each defect, and no quirk be tried. So the matrix counts the
	// probable causes that a report shows of each defect.
	Causes bool `flag:"causes" usage:"judge each defect by all specs, without quirks, and count the probable causes of what fails"`
	// Together is how many quirks a target has at the same time, at most; 0 means one.
	Together int `flag:"quirks-together" usage:"quirks that a target has at the same time; 1 tries each by itself"`
	// Faults are patterns as in path.Match; only defects and quirks whose id or
	// requirement matches one are tried. None means all.
	Faults []string `flag:"fault" usage:"defects and quirks to try, by id or requirement, e.g. 'PAGE-*' (default: all)"`
	// Selection narrows the operations: only their defects are tried, and quirks must
	// be accepted on them. Its other parts must be empty.
	Selection runner.Selection

	// Start receives the number of cases. Done receives the name of each case that has
	// ended and the number of its problems. Both may be nil. Many goroutines call Done.
	Start func(cases int)
	Done  func(name string, problems int)
}

// errNothingTried: the patterns match no defect and no quirk.
var errNothingTried = errors.New("no defect and no quirk matches")

// Run tries defects and quirks. Its error means that the self-test itself broke
// down; what is wrong with the suites stands in the matrix.
func Run(ctx context.Context, o Options) (Matrix, error) {
	rules, err := judge.NewRules()
	if err != nil {
		return Matrix{}, err
	}
	defects, legal, err := o.cases()
	if err != nil {
		return Matrix{}, err
	}
	m := Matrix{Version: matrixVersion, Started: time.Now().UTC().Truncate(time.Millisecond), Seed: o.Seed,
		Whole: o.Sample == 0 && len(o.Faults) == 0 && !o.Causes, Defects: make([]DefectFate, len(defects))}
	results := make([][]LegalResult, len(legal))
	if o.Start != nil {
		o.Start(len(defects) + len(legal))
	}
	defer collectLess()()

	work := newPool(ctx, o.Workers)
	tolerateOne := func(i int) {
		work.do(func(ctx context.Context) error {
			var err error
			results[i], err = tolerate(ctx, o.sourceOf(i), rules, o.Seed, o.Selection, legal[i])
			problems := 0
			for _, r := range results[i] {
				problems += len(r.Failed) + len(r.Troubled)
			}
			o.done(legal[i].ID, problems)
			return err
		})
	}
	tryOne := func(i int) {
		work.do(func(ctx context.Context) error {
			kill, err := o.try(ctx, rules, defects[i])
			m.Defects[i] = kill.fate()
			o.done(defects[i].ID, problems(m.Defects[i]))
			return err
		})
	}
	for i, d := range defects {
		if d.Long {
			tryOne(i)
		}
	}
	// The legal cases take much time and memory, so they are spread among the defects.
	// The next defects follow each of them: no worker ends on a long case alone.
	for i := range legal {
		tolerateOne(i)
		for j := i * len(defects) / len(legal); j < (i+1)*len(defects)/len(legal); j++ {
			if !defects[j].Long {
				tryOne(j)
			}
		}
	}
	err = work.wait()
	m.Legal = slices.Concat(results...)
	m.prove(o.Selection)
	m.Seconds = time.Since(m.Started).Seconds()
	return m, err
}

// sourceOf returns the source of the legal case at the index. Lists of both lengths must
// raise no alarm.
func (o Options) sourceOf(i int) Source {
	if o.Short != nil && i%4 != 0 {
		return o.Short
	}
	return o.Source
}

// Garbage collection during a self-test: cases allocate much and keep little.
const (
	heapGrowth = 400        // percent of the live heap
	memory     = 1200 << 20 // bytes from which the heap grows less
)

// collectLess lets the heap grow more than usual before it is collected, and returns a
// function that ends this. It leaves alone what the variables GOGC and GOMEMLIMIT set.
func collectLess() func() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	growth, limit := debug.SetGCPercent(heapGrowth), debug.SetMemoryLimit(memory)
	return func() {
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(limit)
	}
}

func problems(d DefectFate) int {
	if d.Fate == killed && len(d.Strangers) == 0 {
		return 0
	}
	return 1
}

func (o Options) done(name string, problems int) {
	if o.Done != nil {
		o.Done(name, problems)
	}
}

// cases selects what is tried, in an order that the seed alone decides.
func (o Options) cases() ([]faults.Defect, []legalCase, error) {
	if err := o.Selection.CheckOperations(); err != nil {
		return nil, nil, err
	}
	defects := slices.DeleteFunc(faults.Defects(), func(d faults.Defect) bool {
		return !o.wants(d.ID, d.Breaks.Requirement) || !o.Selection.Operation(d.Breaks.Operation)
	})
	quirks := slices.DeleteFunc(faults.Quirks(), func(q faults.Quirk) bool { return o.Causes || !o.wants(q.ID) })
	if len(defects)+len(quirks) == 0 {
		return nil, nil, fmt.Errorf("%w %q", errNothingTried, o.Faults)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	if o.Sample > 0 {
		defects = draw(rng, defects, o.Sample)
		quirks = draw(rng, quirks, max(1, o.Sample*len(quirks)/max(1, len(faults.Defects()))))
	}
	legal := []legalCase{honestCase}
	for _, group := range faults.Groups(o.Seed, quirks, max(1, o.Together)) {
		legal = append(legal, caseOf(group...))
	}
	return defects, legal, nil
}

// wants reports whether a pattern matches one of the names.
func (o Options) wants(names ...string) bool {
	return len(o.Faults) == 0 || slices.ContainsFunc(o.Faults, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, err := path.Match(pattern, name)
			return err == nil && ok
		})
	})
}

// draw picks n of the values, keeping their order.
func draw[T any](rng *rand.Rand, values []T, n int) []T {
	if n >= len(values) {
		return values
	}
	chosen := rng.Perm(len(values))[:n]
	slices.Sort(chosen)
	picked := make([]T, n)
	for i, at := range chosen {
		picked[i] = values[at]
	}
	return picked
}

// fate is the kill as the matrix shows it.
func (k Kill) fate() DefectFate {
	f := DefectFate{ID: k.Defect.ID, Requirement: k.Defect.Breaks.Requirement, Operation: k.Defect.Breaks.Operation,
		Doc: k.Defect.Doc, Fate: k.Fate}
	if k.Tries > 1 {
		f.Tries = k.Tries
	}
	for _, p := range k.Also {
		f.Also = append(f.Also, pairName(p))
		if len(k.Causes) == 0 && !isCompanion(k.Defect.Breaks.Requirement, p.Requirement) {
			f.Strangers = append(f.Strangers, pairName(p))
		}
	}
	for _, c := range k.Causes {
		f.Causes = append(f.Causes, pairName(spec.Pair{Requirement: c.Checks[0].Requirement, Operation: c.Checks[0].Operation}))
	}
	if k.Fate != killed {
		f.Detail = fmt.Sprintf("(%s) %s", k.Outcome, k.Detail)
	}
	return f
}

func pairName(p spec.Pair) string { return p.Requirement + " on " + p.Operation }

// pool runs work on a bounded number of goroutines and keeps its errors.
type pool struct {
	ctx  context.Context
	jobs chan func(context.Context) error
	all  sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// casesPerProcessor keeps the processors busy although cases wait for changes to show.
// More cases at the same time take more memory.
const casesPerProcessor = 3

func newPool(ctx context.Context, workers int) *pool {
	if workers <= 0 {
		workers = casesPerProcessor * runtime.GOMAXPROCS(0)
	}
	p := &pool{ctx: ctx, jobs: make(chan func(context.Context) error)}
	for range workers {
		p.all.Go(func() {
			for job := range p.jobs {
				if err := job(ctx); err != nil {
					p.mu.Lock()
					p.errs = append(p.errs, err)
					p.mu.Unlock()
				}
			}
		})
	}
	return p
}

// do hands over a piece of work, unless the context has ended.
func (p *pool) do(job func(context.Context) error) {
	select {
	case p.jobs <- job:
	case <-p.ctx.Done():
	}
}

func (p *pool) wait() error {
	close(p.jobs)
	p.all.Wait()
	return errors.Join(append(p.errs, context.Cause(p.ctx))...)
}
