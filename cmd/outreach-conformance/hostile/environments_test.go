//go:build linux

package hostile

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
)

// environments lack something. Each is a script that a shell runs before the program replaces it;
// the target is the reference server. tools/strange has languages, proxies, homes and terminals.
var environments = []struct {
	name, script string
	must         verdict
}{
	{"descriptors-10", "ulimit -n 10", inconclusive("file descriptors")},
	{"files-of-1-block", "ulimit -f 1", inconclusive("")},
	{"stack-64-KiB", "ulimit -s 64", passes()},
	{"output-is-a-file", "touch " + resultsDir, misused("output directory")},
	{"output-leads-out", "touch precious; mkdir " + resultsDir + "; ln -s ../precious " + resultsFile, misused("leads out")},
	{"output-dangles-out", "mkdir " + resultsDir + "; ln -s ../precious " + junitFile, misused("leads out")},
	{"stdout-full", "exec >/dev/full", inconclusive("no space left")},
	{"stderr-full", "exec 2>/dev/full", passes()},
	{"all-closed", "exec <&- 2>&-", passes()},
	{"job-summary-device", "export GITHUB_STEP_SUMMARY=/dev/full", misused("regular file")},
	{"directory-deleted", "mkdir gone; cd gone; rmdir ../gone", inconclusive("working directory")},
	{"tmpdir-missing", "export TMPDIR=/nowhere GOMAXPROCS=1 GOMEMLIMIT=20MiB", passes()},
	{"unknown-variable", `export OUTREACH_TARGT="$(printf 'a\0331m')"`, misused("OUTREACH_TARGT")},
	{"profile-fifo", "rm target.yaml; mkfifo target.yaml", misused("regular file")},
	{"profile-device", "ln -sf /dev/zero target.yaml", misused("regular file")},
	{"profile-nul", `printf 'name: x\n# \000\n' >target.yaml`, misused(profileFile + ":2")},
	{"profile-of-2-MB", `head -c 2000000 /dev/zero | tr '\0' '#' >>target.yaml`, misused("bytes")},
}

// The program ends as it must in unusual environments, with its results or with a message.
func TestEnvironments_long(t *testing.T) {
	for _, in := range environments {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			server := newReference(t)
			address := behaviour{play: func(next http.Handler) http.Handler { return next }}.listen(t, server, func() {})
			args := append(slices.Clone(listing), "--target", address, "--target-profile", profileFile, "--output", resultsDir, "--format", "github")
			p := newProgram(t, server, args...)
			p.command.Args = append([]string{"sh", "-c", in.script + `; exec "$@"`, "sh", p.command.Path}, p.command.Args[1:]...)
			p.command.Path = "/bin/sh"
			e := p.run(t)
			e.check(t, server.keys)
			e.judge(t, in.must)
			if t.Failed() {
				t.Errorf("%s", e)
			}
		})
	}
}

// A run that a signal ends, at whatever moment, leaves nothing on its target after cleanup.
// A moment is a request that arrives. Half of the runs are killed.
func TestSignals_long(t *testing.T) {
	moments := rand.New(rand.NewPCG(14, 20))
	for i := range 100 {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM}[i%4]
		after := int64(1 + moments.IntN(180))
		if i%5 == 0 {
			after = int64(1 + moments.IntN(40)) // while the run prepares itself
		}
		t.Run(fmt.Sprintf("%v-at-request-%d", signal, after), func(t *testing.T) {
			t.Parallel()
			interrupted(t, signal, after)
		})
	}
}

// interrupted sends the signal when the request arrives, and cleans up.
func interrupted(t *testing.T, signal syscall.Signal, after int64) {
	var n atomic.Int64
	var process atomic.Pointer[os.Process]
	server := newReference(t)
	address := behaviour{play: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == after {
				if p := process.Load(); p != nil {
					_ = p.Signal(signal)
				}
			}
			next.ServeHTTP(w, r)
		})
	}}.listen(t, server, func() {})
	before := server.tests(t)
	common := []string{"--target", address, "--target-profile", profileFile, "--output", resultsDir}
	p := newProgram(t, server, append(append(slices.Clone(writing), "--seed", "1"), common...)...)
	p.started = func(started *os.Process) { process.Store(started) }
	e := p.run(t)
	report := e.check(t, server.keys)
	if want := 130; signal != syscall.SIGKILL && e.code != want {
		report("exit code %d, not %d", e.code, want)
	}
	again := newProgram(t, server, append([]string{"cleanup"}, common...)...)
	again.command.Dir = p.dir
	if cleaned := again.run(t); cleaned.code != exitPass {
		report("cleanup: %s", cleaned)
	}
	if left := harm(report, before, server.tests(t)); left > 0 {
		report("%d rows are left on the target after cleanup", left)
	}
	journals, err := filepath.Glob(filepath.Join(p.dir, resultsDir, "journal-*"))
	if err != nil || len(journals) > 0 {
		report("after cleanup, journals are left: %q", journals)
	}
	if t.Failed() {
		t.Errorf("%s", e)
	}
}
