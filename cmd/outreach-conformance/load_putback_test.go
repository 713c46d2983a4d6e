package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// A load run that cannot put back what it changed is no pass, however good its
// figures: summary and files say so, with the code that the process ends with. What it says
// puts it back does, once the target can.
func TestLoadThatCannotPutBack_long(t *testing.T) {
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
