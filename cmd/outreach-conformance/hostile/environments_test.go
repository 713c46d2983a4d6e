//go:build linux

package hostile

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

// environment is where the program runs. The target is the reference server itself.
type environment struct {
	name    string
	why     string
	args    []string // instead of those of a run; @ stands for the address of the target
	set     func(t *testing.T, p *program)
	verdict verdict
}

// with runs commands of a shell before the program replaces it.
func with(script string) func(*testing.T, *program) {
	return func(_ *testing.T, p *program) { wrap(p, "sh", "-c", script+`; exec "$@"`, "sh") }
}

// wrap lets another program start this one.
func wrap(p *program, words ...string) {
	if path, err := exec.LookPath(words[0]); err == nil {
		p.command.Path = path
	}
	p.command.Args = append(slices.Clone(words), append([]string{filepath.Join(p.built, "bin", testbed.Program)}, p.command.Args[1:]...)...)
}

// users counts the users that environments have had.
var users atomic.Int32

// anotherUser returns a user who is not root and who has no process yet: a limit of
// processes counts all that the user has on the machine.
func anotherUser() string { return strconv.Itoa(20_000 + (16*os.Getpid()+int(users.Add(1)))%40_000) }

// asAnotherUser runs the program as a user for whom limits and permissions count.
func asAnotherUser(then func(*testing.T, *program)) func(*testing.T, *program) {
	return func(t *testing.T, p *program) {
		then(t, p)
		if os.Geteuid() != 0 {
			return
		}
		for dir := p.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(p.dir, profileFile), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p.built, 0o755); err != nil {
			t.Fatal(err)
		}
		rest := p.command.Args
		path, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("there is no setpriv")
		}
		if len(rest) == 0 || !filepath.IsAbs(rest[0]) {
			rest = append([]string{p.command.Path}, rest[min(1, len(rest)):]...)
		}
		user := anotherUser()
		p.command.Path, p.command.Args = path, append([]string{"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"}, rest...)
	}
}

// output replaces the standard output by a file.
func output(path string) func(*testing.T, *program) {
	return func(t *testing.T, p *program) {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		p.command.Stdout = file
	}
}

// small mounts a file system of that size at the output directory.
func small(options string) func(*testing.T, *program) {
	return func(t *testing.T, p *program) {
		dir := filepath.Join(p.dir, resultsDir)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
			t.Skipf("no file system can be mounted: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		if strings.Contains(options, "nr_inodes") {
			return
		}
		if strings.HasPrefix(options, "ro") {
			_ = syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		}
	}
}

// place puts something that is no regular file where the profile should be.
func place(make func(path string) error) func(*testing.T, *program) {
	return func(t *testing.T, p *program) {
		path := filepath.Join(p.dir, profileFile)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := make(path); err != nil {
			t.Fatal(err)
		}
	}
}

// rewrite changes the profile.
func rewrite(change func(text string) string) func(*testing.T, *program) {
	return func(t *testing.T, p *program) {
		path := filepath.Join(p.dir, profileFile)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(change(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func variables(pairs ...string) func(*testing.T, *program) {
	return func(_ *testing.T, p *program) { p.command.Env = append(p.command.Env, pairs...) }
}

// environments are those that tools/strange has not: that one inherits languages, proxies,
// homes, terminals and variables.
func environments() []environment {
	notWritten := inconclusive("")
	const badName = "a\x1b31m\u202eb"
	return []environment{
		{name: "descriptors-10", why: "too few file descriptors", set: with("ulimit -n 10"), verdict: inconclusive("file descriptors")},
		{name: "threads-10", why: "too few threads", set: asAnotherUser(func(_ *testing.T, p *program) { wrap(p, "prlimit", "--nproc=10", "--") }), verdict: inconclusive("threads")},
		{name: "files-of-1-block", why: "no file may grow beyond 512 bytes", set: with("ulimit -f 1"), verdict: notWritten},
		{name: "disk-of-16-KiB", why: "the disk is full before the results are written", set: small("size=16k"), verdict: inconclusive("no space left")},
		{name: "disk-read-only", why: "the output directory is read-only", set: small("ro"), verdict: misused("output directory")},
		{name: "output-is-a-file", why: "a file stands in the way", set: with("touch " + resultsDir), verdict: misused("output directory")},
		{name: "output-leads-out", why: "a link in the output directory leads out of it", set: with("touch precious; mkdir " + resultsDir + "; ln -s ../precious " + resultsFile), verdict: misused("leads out")},
		{name: "output-dangles-out", why: "a link in the output directory leads out of it to nothing", set: with("mkdir " + resultsDir + "; ln -s ../precious " + junitFile), verdict: misused("leads out")},
		{name: "stdout-full", why: "the summary cannot be written", set: output("/dev/full"), verdict: inconclusive("summary")},
		{name: "job-summary-full", why: "the job summary of GitHub cannot be written", args: []string{"run", "--operation", "lead-lists.list", "--target", "@", "--target-profile", profileFile, "--output", "elsewhere", "--format", "github"},
			set: func(t *testing.T, p *program) {
				small("size=4k")(t, p)
				if err := os.WriteFile(filepath.Join(p.dir, resultsDir, "steps.md"), make([]byte, 4096), 0o600); err != nil {
					t.Fatal(err)
				}
				variables("GITHUB_STEP_SUMMARY="+resultsDir+"/steps.md")(t, p)
			}, verdict: inconclusive("no space left")},
		{name: "job-summary-device", why: "the job summary of GitHub is no regular file", args: []string{"run", "--operation", "lead-lists.list", "--target", "@", "--target-profile", profileFile, "--format", "github"},
			set: variables("GITHUB_STEP_SUMMARY=/dev/full"), verdict: misused("regular file")},
		{name: "stderr-closed", why: "there is no standard error", set: with("exec 2>&-"), verdict: passes()},
		{name: "reader-gone", why: "nobody reads the summary any more", set: func(t *testing.T, p *program) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			_ = read.Close()
			t.Cleanup(func() { _ = write.Close() })
			p.command.Stdout = write
		}, verdict: inconclusive("summary")},
		{name: "directory-deleted-output-absolute", why: "the working directory is gone", set: with(`mkdir gone; cd gone; rmdir ../gone`),
			args: []string{"run", "--operation", "lead-lists.list", "--target", "@", "--output", "DIR/" + resultsDir}, verdict: verdict{codes: []int{exitUsage, exitInconclusive}, says: "working directory"}},
		{name: "memory-limit-tiny", why: "the garbage collector never rests", set: variables("GOMEMLIMIT=20MiB", "GOGC=1"), verdict: passes()},
		{name: "unknown-variable", why: "a misspelt variable", set: variables("OUTREACH_TARGT=" + badName), verdict: misused("OUTREACH_TARGT")},

		{name: "profile-fifo", why: "a pipe that nobody writes to", set: place(func(path string) error { return syscall.Mkfifo(path, 0o600) }), verdict: misused("regular file")},
		{name: "profile-device", why: "a device without an end", set: place(func(path string) error { return os.Symlink("/dev/zero", path) }), verdict: misused("regular file")},
		{name: "profile-byte-order-mark", why: "an editor has put U+FEFF at its start", set: rewrite(func(text string) string { return "\uFEFF" + text }), verdict: passes()},
		{name: "profile-nul", why: "a NUL byte", set: rewrite(func(text string) string { return "name: x\n# \x00\n" + text }), verdict: misused(profileFile + ":2")},
		{name: "profile-of-2-MB", why: "more than a profile may have", set: rewrite(func(text string) string { return text + strings.Repeat("#\n", 1<<20) }), verdict: misused("bytes")},
		{name: "profile-stdin", why: "a profile from a pipe", args: []string{"run", "--operation", "lead-lists.list", "--target", "@", "--target-profile", "-"}, set: func(t *testing.T, p *program) {
			text, err := os.ReadFile(filepath.Join(p.dir, profileFile))
			if err != nil {
				t.Fatal(err)
			}
			p.command.Stdin = strings.NewReader(string(text))
		}, verdict: passes()},
		{name: "flag-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{"run", "--" + badName}, verdict: misused("unknown flag")},
		{name: "path-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{"run", "--target", "@", "--target-profile", badName}, verdict: misused("no such file")},
		{name: "output-with-escapes", why: "the caller's own arguments may come from a pull request", args: append(slices.Clone(listing), "--target", "@", "--target-profile", profileFile, "--output", badName), verdict: passes()},
		{name: "help-full", why: "help cannot be written", args: []string{"--help"}, set: output("/dev/full"), verdict: inconclusive("no space left")},
		{name: "version-full", why: "the version cannot be written", args: []string{"version"}, set: output("/dev/full"), verdict: verdict{codes: []int{exitUsage, exitInconclusive}, says: "no space left"}},
	}
}

// usual are the environments that run for each change.
var usual = []string{"output-leads-out", "stdout-full", "profile-fifo"}

// The program ends as it must in unusual environments, with its results or with a message.
func TestEnvironments(t *testing.T) {
	for _, in := range environments() {
		if *whole || slices.Contains(usual, in.name) {
			t.Run(in.name, func(t *testing.T) {
				t.Parallel()
				in.try(t)
			})
		}
	}
}

func (in environment) try(t *testing.T) {
	server := newReference(t)
	address := behaviour{play: func(next http.Handler) http.Handler { return next }}.listen(t, server, func() {})
	args := slices.Clone(in.args)
	if args == nil {
		args = append(slices.Clone(listing), "--target", "@", "--target-profile", profileFile, "--output", resultsDir)
	}
	for i := range args {
		args[i] = strings.Replace(args[i], "@", address, 1)
	}
	p := newProgram(t, server, args...)
	for i := range p.command.Args {
		p.command.Args[i] = strings.Replace(p.command.Args[i], "DIR/", p.dir+"/", 1)
	}
	if in.set != nil {
		in.set(t, p)
	}
	e := p.run(t)
	e.check(t, server.keys)
	e.judge(t, in.verdict)
	if t.Failed() {
		t.Errorf("%s\n%s", in.why, e)
	}
}

// A run that a signal ends, at whatever moment, leaves nothing on its target after cleanup.
// A moment is a request that arrives. Half of the runs are killed.
func TestSignals(t *testing.T) {
	if !*whole {
		t.Skip("make nightly runs it")
	}
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
