package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// A load run that cannot put back what it changed is no pass, however good its
// figures: summary and files say so, with the code that the process ends with. What it says
// puts it back does, once the target can.
func TestLoadThatCannotPutBack(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var mended atomic.Bool
	base := servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodDelete && !mended.Load() {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
	e := exitsWith(t, exitCannotTell, nil, loadCommand, "--target", base, "--scenario", "mixed", "--mix", "lead-lists.list=1,inbox-placement-tests.create=1",
		"--rate", "400", "--duration", "1s", "--warmup", "0s", "--lag-limit", "1h", "--target-profile", "embedded", "--output", "it's here")
	g.Expect(e.stdout).To(ContainSubstring("? INCONCLUSIVE  exit 3 "))
	g.Expect(e.stdout).To(MatchRegexp(`because +after the load: some changes could not be rolled back; see standard error`))
	r := must[load.Results](t)(load.Read(filepath.Join(e.dir, "it's here", loadFile)))
	g.Expect(r.Verdict).To(Equal(reports.Inconclusive), "in the files as on the terminal")
	g.Expect(e.stderr).To(ContainSubstring("some changes could not be rolled back"))
	g.Expect(strings.Count(e.stderr, "could not be deleted")).To(Equal(3), "%s", e)
	g.Expect(e.stderr).To(MatchRegexp(`\n\d+ more changes were not rolled back\n`))

	again := regexp.MustCompile(`\ntry again with: (.*)\n$`).FindStringSubmatch(e.stderr)
	g.Expect(again).To(HaveLen(2), "%s", e)
	mended.Store(true)
	shell := command(t, nil)
	cleanup := exec.Command("sh", "-c", again[1])
	cleanup.Dir, cleanup.Env = e.dir, append(shell.Env, "PATH="+os.Getenv("PATH"))
	cleaned := toTheEnd(t, cleanup)
	g.Expect(cleaned.code).To(BeZero(), "%s", cleaned)
	g.Expect(filepath.Glob(filepath.Join(e.dir, "it's here", "journal-*"))).To(BeEmpty())
}

// Of tests that were announced and never created a cleanup tells the number, and
// with --verbose which they are.
func TestCleanupOfWhatWasNeverCreated(t *testing.T) {
	t.Parallel()
	base, _ := servingBuilt(t)
	for flag, want := range map[string]string{
		"--verbose=false": "^no test shows the names of 3 announced creations: they were not created, or they exist under other names\n$",
		"--verbose":       "^(no test shows the name absent-[0-2]: it was not created, or it exists under another name\n){3}$",
	} {
		g := NewWithT(t)
		dir := t.TempDir()
		j := must[*journal.Journal](t)(journal.Start(dir, "killed", base))
		for i := range 3 {
			must[int](t)(j.Open(journal.Entry{Do: journal.Create, Name: fmt.Sprintf("absent-%d", i)}))
		}
		g.Expect(j.Finish()).To(Succeed())
		e := exitsWith(t, 0, nil, "cleanup", "--target", base, "--output", dir, flag)
		g.Expect(e.stdout).To(MatchRegexp(want))
	}
}
