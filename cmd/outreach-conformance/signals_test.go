package main

import (
	"fmt"
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
	t.Run(loadCommand, func(t *testing.T) {
		g := NewWithT(t)
		base, reached := reachedAfter(t, 100)
		p := begunWithout(t, command(t, nil, loadCommand, "--target", base, "--scenario", "soak", "--duration", "10m", "--lag-limit", "1h"))
		p.awaits(reached)
		g.Expect(p.end(t, syscall.SIGHUP)).To(Equal(exitInterrupted), "%s", p.output.bytes())
		g.Expect(loadResults(t, p.command.Dir).Run.Interrupted).To(BeTrue())
	})
	t.Run(runCommand, func(t *testing.T) {
		g := NewWithT(t)
		base, reached := reachedAfter(t, 100)
		p := begunWithout(t, command(t, nil, runCommand, "--target", base, "--requests-per-second", "200"))
		p.awaits(reached)
		g.Expect(p.end(t, syscall.SIGHUP)).To(Equal(exitInterrupted), "%s", p.output.bytes())
		r := must[reports.Results](t)(jsonfile.Run.Read(filepath.Join(p.command.Dir, defaultOutput, resultsFile)))
		g.Expect(r.Run.Interrupted).To(BeTrue())
	})
}

// A run under nohup survives its terminal.
func TestHangUpThatIsIgnored(t *testing.T) {
	t.Parallel()
	reached, sent := make(chan struct{}), make(chan struct{})
	var came atomic.Int64
	base := servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if came.Add(1) == 3 {
			close(reached)
			<-sent
		}
		next.ServeHTTP(w, r)
	})
	c := command(t, nil, runCommand, "--target", base, "--requirement", "STATUS-200", "--operation", "phone-numbers.list")
	shell := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, c.Args...)...)
	shell.Dir, shell.Env = c.Dir, c.Env
	p := begunWithout(t, shell)
	p.awaits(reached)
	err := p.command.Process.Signal(syscall.SIGHUP)
	close(sent)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	<-p.done
	NewWithT(t).Expect(p.command.ProcessState.ExitCode()).To(BeZero(), "%s", p.output.bytes())
}

// The reader of the output, such as tee, may end before the results are written.
func TestNobodyReadsTheOutput(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	read, write, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Close()).To(Succeed())
	c := command(t, nil, loadCommand, "--scenario-file", written(t, "quick.yaml", quick), "--lag-limit", "1h")
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
			p := launched(t, command(t, nil, append(slices.Clone(tc.args), "--target", base)...), puttingBack)
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
			cleanup.Dir, cleanup.Env = p.command.Dir, append(command(t, nil).Env, "PATH="+os.Getenv("PATH"))
			cleaned := toTheEnd(t, cleanup)
			g.Expect(cleaned.code).To(BeZero(), "%s", cleaned)
			g.Expect(filepath.Glob(filepath.Join(output, "journal-*"))).To(BeEmpty(), "%s", cleaned)
			g.Expect(ourTests(t, base)).To(BeEmpty())
		})
	}
}

// The results are written before the rollback, which a target can hold up.
func TestInterruptedResultsBeforeTheRollback_long(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		file string
	}{
		loadCommand: {creating, filepath.Join(defaultLoadOutput, loadFile)},
		runCommand:  {[]string{runCommand, "--operation", spec.GetPlacementTest}, filepath.Join(defaultOutput, resultsFile)},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base, created, waiting, let := holdingDeletions(t)
			p := begunWithout(t, command(t, nil, append(slices.Clone(tc.args), "--target", base)...))
			if name == loadCommand {
				p.awaits(created)
			} else {
				p.awaits(waiting)
			}
			g.Expect(p.command.Process.Signal(syscall.SIGINT)).To(Succeed())
			file := filepath.Join(p.command.Dir, tc.file)
			g.Eventually(file, patience, "10ms").Should(BeAnExistingFile(), "%s", p.output.bytes())
			g.Expect(contents(t, file)).To(And(ContainSubstring(`"interrupted": true`), Not(ContainSubstring("rollback failed"))))
			let()
			<-p.done
			g.Expect(p.command.ProcessState.ExitCode()).To(Equal(exitInterrupted), "%s", p.output.bytes())
			g.Expect(ourTests(t, base)).To(BeEmpty(), "the rollback went on")
		})
	}
}

// Only a second Ctrl-C ends the process: a closed terminal and timeout(1) send the same
// signal twice.
func TestSignalsThatComeTwice_long(t *testing.T) {
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

// ourTests returns the tests on the server that a run created.
func ourTests(t *testing.T, base string) []struct{ Name string } {
	t.Helper()
	var left struct{ Items []struct{ Name string } }
	key, _ := profile.Embedded().FullKey(dataset.Main)
	testbed.Get(t, base+"/api/v2/inbox-placement-tests?search=conformance&limit=100", key.Token, &left)
	return left.Items
}

// A library may print of its own accord, as Ginkgo does when it is interrupted. It must
// not reach the output of the command.
func TestLibrariesDoNotPrint(t *testing.T) {
	g := NewWithT(t)
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	g.Expect(ownStdout()).To(BeIdenticalTo(stdout))
	_, err := fmt.Println("a library prints")
	g.Expect(err).To(HaveOccurred())
}
