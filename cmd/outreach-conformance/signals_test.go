package main

import (
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
)

// A terminal that closes interrupts what runs in it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	// The tests themselves may have been started to outlive their terminal, which
	// those that they start would inherit.
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
		r := must[reports.Results](t)(reports.Read(filepath.Join(p.command.Dir, defaultOutput, resultsFile)))
		g.Expect(r.Run.Interrupted).To(BeTrue())
	})
}

// What was started to outlive its terminal, as with nohup, does.
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

// Who reads the output may be gone before the results are written, as is a tee
// that the same interrupt ends.
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
