package main

import (
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

// Closing the terminal interrupts a run.
func TestHangUp(t *testing.T) {
	t.Parallel()
	// The tests themselves may ignore SIGHUP, which processes that they start inherit.
	hungUp := make(chan os.Signal, 1)
	signal.Notify(hungUp, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hungUp) })
	g := NewWithT(t)
	base, reached := reachedAfter(t, 100)
	p := begunWithout(t, spawn(t, nil, runCommand, "--target", base, "--requests-per-second", "200"))
	p.awaits(reached)
	g.Expect(p.end(t, syscall.SIGHUP)).To(Equal(exitInterrupted), "%s", p.output.bytes())
	r := must[reports.Results](t)(jsonfile.Run.Read(filepath.Join(p.command.Dir, defaultOutput, resultsFile)))
	g.Expect(r.Run.Interrupted).To(BeTrue())
}

// The reader of the output, such as tee, may end before the results are written.
func TestNobodyReadsTheOutput(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	read, write, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Close()).To(Succeed())
	c := spawn(t, nil, loadCommand, "--scenario-file", written(t, "quick.yaml", quick), "--lag-limit", "1h")
	c.Stderr = write
	g.Expect(c.Run()).To(Succeed())
	g.Expect(write.Close()).To(Succeed())
	loadResults(t, c.Dir)
}

// holdingDeletions starts a reference server that delays deletions until let is called.
// It signals when the load has created 10 tests, and when the first deletion waits.
func holdingDeletions(t *testing.T) (base string, created, waiting <-chan struct{}, let func()) {
	t.Helper()
	made, held, free := make(chan struct{}), make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(held) })
	var creations atomic.Int64
	base = servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodDelete {
			hold()
			select {
			case <-free:
			case <-r.Context().Done():
				return
			}
		}
		next.ServeHTTP(w, r)
		if op := spec.MustOperation(spec.CreatePlacementTest); r.Method == op.Method && r.URL.Path == op.Path && creations.Add(1) == 10 {
			close(made)
		}
	})
	return base, made, held, sync.OnceFunc(func() { close(free) })
}

// creating returns a load run that creates tests.
var creating = []string{loadCommand, "--scenario", "mixed", "--mix", "lead-lists.list=1,inbox-placement-tests.create=1",
	"--rate", "100", "--duration", "1m", "--warmup", "0s", "--lag-limit", "1h"}

const puttingBack = `^outreach-conformance: (interrupted: rolling back changes on the target.*)$`

// The first Ctrl-C starts the rollback and says so. The second ends the process and
// prints the command that rolls back later.
func TestImpatientInterrupts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args  []string
		first func(created, waiting <-chan struct{}) <-chan struct{} // when the first Ctrl-C comes
	}{
		loadCommand: {creating, func(created, _ <-chan struct{}) <-chan struct{} { return created }},
		runCommand: {[]string{runCommand, "--operation", spec.GetPlacementTest, "--output", defaultLoadOutput},
			func(_, waiting <-chan struct{}) <-chan struct{} { return waiting }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base, created, waiting, let := holdingDeletions(t)
			p := launched(t, spawn(t, nil, append(slices.Clone(tc.args), "--target", base)...), puttingBack)
			p.awaits(tc.first(created, waiting))
			g.Expect(p.command.Process.Signal(syscall.SIGINT)).To(Succeed())
			p.await(t)
			p.awaits(waiting)
			g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted), "%s", p.output.bytes())

			output := filepath.Join(p.command.Dir, defaultLoadOutput)
			g.Expect(filepath.Glob(filepath.Join(output, "journal-*"))).To(HaveLen(1), "it did not wait for the end: %s", p.output.bytes())
			again := regexp.MustCompile(`(?m)roll them back with: (.*)$`).FindStringSubmatch(string(p.output.bytes()))
			g.Expect(again).To(HaveLen(2), "%s", p.output.bytes())
			let()
			cleanup := exec.Command("sh", "-c", again[1])
			cleanup.Dir, cleanup.Env = p.command.Dir, append(spawn(t, nil).Env, "PATH="+os.Getenv("PATH"))
			cleaned := toTheEnd(t, cleanup)
			g.Expect(cleaned.code).To(BeZero(), "%s", cleaned)
			g.Expect(filepath.Glob(filepath.Join(output, "journal-*"))).To(BeEmpty(), "%s", cleaned)
			g.Expect(ourTests(t, base)).To(BeEmpty())
		})
	}
}

// ourTests returns the tests on the server that a run created.
func ourTests(t *testing.T, base string) []struct{ Name string } {
	t.Helper()
	var left struct{ Items []struct{ Name string } }
	key, _ := profile.Embedded().FullKey(dataset.Main)
	testbed.Get(t, base+"/api/v2/inbox-placement-tests?search=conformance&limit=100", key.Token, &left)
	return left.Items
}
