//go:build unix

package main

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
)

// A load run that is interrupted before its first phase reports the interruption, and no
// error that it caused.
func TestLoadIsInterruptedBeforeItMeasures_long(t *testing.T) {
	t.Parallel()
	silent := func(answered int64) func(*testing.T) (string, <-chan struct{}) {
		return func(t *testing.T) (string, <-chan struct{}) { return goneSilent(t, answered) }
	}
	for name, tc := range map[string]struct {
		base   func(*testing.T) (string, <-chan struct{})
		signal syscall.Signal
	}{
		"while it connects":            {silent(0), syscall.SIGINT},
		"while it asks the keys":       {silent(1), syscall.SIGTERM},
		"while it asks for a page":     {silent(2), syscall.SIGHUP},
		"while the generator is tried": {func(t *testing.T) (string, <-chan struct{}) { return reachedAfter(t, 3) }, syscall.SIGINT},
		"and hangs up meanwhile":       {func(t *testing.T) (string, <-chan struct{}) { return reachedAfter(t, 3) }, syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base, reached := tc.base(t)
			c := spawn(t, []string{calibrationVariable + "=" + endless}, loadCommand, "--target", base, "--scenario", "list-throughput", "--timeout", "10m", "--raw")
			inForeground(c)
			p := begunWithout(t, c)
			p.awaits(reached)
			g.Expect(syscall.Kill(-c.Process.Pid, tc.signal)).To(Succeed(), "as a terminal does, to all that runs in it")
			<-p.done
			g.Expect(c.ProcessState.ExitCode()).To(Equal(exitInterrupted))
			g.Expect(string(p.output.bytes())).To(MatchRegexp(`\n\? INCONCLUSIVE \(interrupted\)  exit 130 · .*\noutreach-conformance: interrupted before the first measurement\n$`))
			g.Expect(files(t, filepath.Join(c.Dir, defaultLoadOutput))).To(ConsistOf(HaveSuffix(loadFile), HaveSuffix(loadJUnitFile)))
			results, err := load.Read(filepath.Join(c.Dir, defaultLoadOutput, loadFile))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(results.Run.Interrupted).To(BeTrue())
		})
	}
}

// A run can be interrupted while it connects.
func TestRunIsInterruptedBeforeItJudges(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	base, silent := goneSilent(t, 0)
	c := spawn(t, nil, runCommand, "--target", base, "--timeout", "10m")
	p := begunWithout(t, c)
	p.awaits(silent)
	g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted))
	g.Expect(string(p.output.bytes())).To(MatchRegexp(`\n\? INCONCLUSIVE \(interrupted\)  exit 130 · .* not assessed\noutreach-conformance: interrupted\n$`))
	results, err := jsonfile.Run.Read(filepath.Join(c.Dir, defaultOutput, resultsFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results.Run.Interrupted).To(BeTrue())
	g.Expect(reports.Count(results.Checks).NotAssessed).To(Equal(len(results.Checks)))
}

// inForeground gives the process a group of its own, as a shell does.
func inForeground(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// files lists the files of a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
