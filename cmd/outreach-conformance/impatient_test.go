package main

import (
	"net/http"
	"os"
	"os/exec"
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
	"outreach.example/conformance/spec"
)

// holdingDeletions is a reference server that lets deletions wait until let is
// called. It tells when more tests were created than prepare a load, and of the
// first deletion that waits.
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

// creating is a load run that creates tests.
var creating = []string{loadCommand, "--scenario", "mixed", "--mix", "lead-lists.list=1,inbox-placement-tests.create=1",
	"--rate", "100", "--duration", "1m", "--warmup", "0s", "--lag-limit", "1h"}

const puttingBack = `^outreach-conformance: (interrupted: rolling back changes on the target.*)$`

// The first Ctrl-C puts back what was changed, and says so. Whoever does not want
// to wait for that ends it with the second, and is told what puts it back later.
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
			p := launched(t, command(t, nil, append(slices.Clone(tc.args), "--target", base)...), puttingBack)
			p.awaits(tc.first(created, waiting))
			g.Expect(p.command.Process.Signal(syscall.SIGINT)).To(Succeed())
			p.await(t)
			p.awaits(waiting)
			g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted), "%s", p.output.bytes())

			output := filepath.Join(p.command.Dir, defaultLoadOutput)
			g.Expect(filepath.Glob(filepath.Join(output, "*.json"))).To(BeEmpty(), "it did not wait for the end: %s", p.output.bytes())
			g.Expect(filepath.Glob(filepath.Join(output, "journal-*"))).To(HaveLen(1))
			again := regexp.MustCompile(`(?m)roll them back with: (.*)$`).FindStringSubmatch(string(p.output.bytes()))
			g.Expect(again).To(HaveLen(2), "%s", p.output.bytes())
			let()
			cleanup := exec.Command("sh", "-c", again[1])
			cleanup.Dir, cleanup.Env = p.command.Dir, append(command(t, nil).Env, "PATH="+os.Getenv("PATH"))
			cleaned := toTheEnd(t, cleanup)
			g.Expect(cleaned.code).To(BeZero(), "%s", cleaned)
			g.Expect(filepath.Glob(filepath.Join(output, "journal-*"))).To(BeEmpty(), "%s", cleaned)
			g.Expect(ourTests(t, base)).To(BeEmpty())
		})
	}
}

// Terminals that close, and timeout(1), send their signal twice: only Ctrl-C is
// impatient.
func TestSignalsThatComeTwice(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			g := NewWithT(t)
			base, created, waiting, let := holdingDeletions(t)
			p := launched(t, command(t, nil, append(slices.Clone(creating), "--target", base)...), puttingBack)
			p.awaits(created)
			g.Expect(p.command.Process.Signal(signal)).To(Succeed())
			p.await(t)
			p.awaits(waiting)
			g.Expect(p.command.Process.Signal(signal)).To(Succeed())
			let()
			<-p.done
			g.Expect(p.command.ProcessState.ExitCode()).To(Equal(exitInterrupted), "%s", p.output.bytes())
			g.Expect(loadResults(t, p.command.Dir).Run.Interrupted).To(BeTrue())
			g.Expect(filepath.Glob(filepath.Join(p.command.Dir, defaultLoadOutput, "journal-*"))).To(BeEmpty())
			g.Expect(ourTests(t, base)).To(BeEmpty())
		})
	}
}

// ourTests are those on the server that a run has created.
func ourTests(t *testing.T, base string) []struct{ Name string } {
	t.Helper()
	var left struct{ Items []struct{ Name string } }
	key, _ := profile.Embedded().FullKey(dataset.Main)
	testbed.Get(t, base+"/api/v2/inbox-placement-tests?search=conformance&limit=100", key.Token, &left)
	return left.Items
}
