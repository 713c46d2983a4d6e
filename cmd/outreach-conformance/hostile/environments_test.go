//go:build linux

package hostile

import (
	"fmt"
	"math/rand/v2"
	"net"
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
	verdict Verdict
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

func misused(says string) Verdict { return Verdict{Codes: []int{exitUsage}, Says: says} }

// environments are those that tools/strange has not: that one inherits languages, proxies,
// homes, terminals and variables.
func environments() []environment {
	notWritten := inconclusive("")
	either := func(says string) Verdict { return Verdict{Codes: []int{exitPass, exitInconclusive}, Says: says} }
	const badName = "a\x1b31m\u202eb"
	return []environment{
		{name: "descriptors-10", why: "too few file descriptors", set: with("ulimit -n 10"), verdict: inconclusive("file descriptors")},
		{name: "descriptors-14", why: "too few file descriptors", set: with("ulimit -n 14"), verdict: either("")},
		{name: "descriptors-64", why: "few file descriptors", set: with("ulimit -n 64"), verdict: passes()},
		{name: "threads-10", why: "too few threads", set: asAnotherUser(func(_ *testing.T, p *program) { wrap(p, "prlimit", "--nproc=10", "--") }), verdict: inconclusive("threads")},
		{name: "files-of-1-block", why: "no file may grow beyond 512 bytes", set: with("ulimit -f 1"), verdict: notWritten},
		{name: "stack-64-KiB", why: "a small stack", set: with("ulimit -s 64"), verdict: passes()},
		{name: "disk-of-16-KiB", why: "the disk is full before the results are written", set: small("size=16k"), verdict: inconclusive("no space left")},
		{name: "disk-without-inodes", why: "no file can be created", set: small("size=1m,nr_inodes=1"), verdict: misused("output directory")},
		{name: "disk-read-only", why: "the output directory is read-only", set: small("ro"), verdict: misused("output directory")},
		{name: "output-of-another-user", why: "the output directory belongs to another user", set: func(t *testing.T, p *program) {
			asAnotherUser(func(*testing.T, *program) {})(t, p)
			if err := os.Mkdir(filepath.Join(p.dir, resultsDir), 0o700); err != nil {
				t.Fatal(err)
			}
		}, verdict: misused("output directory")},
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
		{name: "stdout-closed", why: "there is no standard output", set: with("exec >&-"), verdict: either("")},
		{name: "stderr-closed", why: "there is no standard error", set: with("exec 2>&-"), verdict: passes()},
		{name: "stderr-full", why: "progress cannot be written", set: with("exec 2>/dev/full"), verdict: passes()},
		{name: "stdin-closed", why: "there is no standard input", set: with("exec <&-"), verdict: passes()},
		{name: "reader-gone", why: "nobody reads the summary any more", set: func(t *testing.T, p *program) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			_ = read.Close()
			t.Cleanup(func() { _ = write.Close() })
			p.command.Stdout = write
		}, verdict: inconclusive("summary")},
		{name: "directory-deleted", why: "the working directory is gone", set: with(`cp ` + profileFile + ` /proc/self/cwd/../deleted.yaml 2>/dev/null; mkdir gone; cd gone; rmdir ../gone`),
			args: []string{"run", "--operation", "lead-lists.list", "--target", "@"}, verdict: Verdict{Codes: []int{exitUsage, exitInconclusive}, Says: "directory"}},
		{name: "directory-deleted-output-absolute", why: "the working directory is gone", set: with(`mkdir gone; cd gone; rmdir ../gone`),
			args: []string{"run", "--operation", "lead-lists.list", "--target", "@", "--output", "DIR/" + resultsDir}, verdict: Verdict{Codes: []int{exitUsage, exitInconclusive}, Says: "working directory"}},
		{name: "tmpdir-missing", why: "there is no directory for temporary files", set: variables("TMPDIR=/nowhere"), verdict: passes()},
		{name: "umask-777", why: "new files have no permissions", set: asAnotherUser(with("umask 777")), verdict: Verdict{Codes: []int{exitPass, exitUsage, exitInconclusive}}},
		{name: "no-variables", why: "the environment is empty", set: func(_ *testing.T, p *program) { p.command.Env = []string{} }, verdict: passes()},
		{name: "one-core", why: "one thread runs Go code", set: variables("GOMAXPROCS=1"), verdict: passes()},
		{name: "memory-limit-tiny", why: "the garbage collector never rests", set: variables("GOMEMLIMIT=20MiB", "GOGC=1"), verdict: passes()},
		{name: "clock-of-2038", why: "the monotonic clock is 12 years ahead", set: func(t *testing.T, p *program) {
			if exec.Command("unshare", "--time", "--monotonic", "400000000", "true").Run() != nil {
				t.Skip("there are no time namespaces")
			}
			wrap(p, "unshare", "--time", "--monotonic", "400000000", "--boottime", "400000000", "--fork")
		}, verdict: passes()},
		{name: "unknown-variable", why: "a misspelt variable", set: variables("OUTREACH_TARGT=" + badName), verdict: misused("OUTREACH_TARGT")},

		{name: "profile-fifo", why: "a pipe that nobody writes to", set: place(func(path string) error { return syscall.Mkfifo(path, 0o600) }), verdict: misused("regular file")},
		{name: "profile-directory", why: "a directory", set: place(func(path string) error { return os.Mkdir(path, 0o700) }), verdict: misused("regular file")},
		{name: "profile-device", why: "a device without an end", set: place(func(path string) error { return os.Symlink("/dev/zero", path) }), verdict: misused("regular file")},
		{name: "profile-socket", why: "a socket", set: func(t *testing.T, p *program) {
			place(func(path string) error {
				listener, err := net.Listen("unix", path)
				if err == nil {
					t.Cleanup(func() { _ = listener.Close() })
				}
				return err
			})(t, p)
		}, verdict: misused("regular file")},
		{name: "profile-loop", why: "a link to itself", set: place(func(path string) error { return os.Symlink(path, path) }), verdict: misused(profileFile)},
		{name: "profile-byte-order-mark", why: "an editor has put U+FEFF at its start", set: rewrite(func(text string) string { return "\uFEFF" + text }), verdict: passes()},
		{name: "profile-nul", why: "a NUL byte", set: rewrite(func(text string) string { return "name: x\n# \x00\n" + text }), verdict: misused(profileFile + ":2")},
		{name: "profile-escapes", why: "terminal sequences in an entry", set: rewrite(func(text string) string { return "bad\x1b[31m\u202e: x\n" + text }), verdict: misused(profileFile)},
		{name: "profile-of-2-MB", why: "more than a profile may have", set: rewrite(func(text string) string { return text + strings.Repeat("#\n", 1<<20) }), verdict: misused("bytes")},
		{name: "profile-stdin", why: "a profile from a pipe", args: []string{"run", "--operation", "lead-lists.list", "--target", "@", "--target-profile", "-"}, set: func(t *testing.T, p *program) {
			text, err := os.ReadFile(filepath.Join(p.dir, profileFile))
			if err != nil {
				t.Fatal(err)
			}
			p.command.Stdin = strings.NewReader(string(text))
		}, verdict: passes()},
		{name: "arguments-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{"run", "--operation", badName, "--target", "@"}, verdict: misused("operation")},
		{name: "flag-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{"run", "--" + badName}, verdict: misused("unknown flag")},
		{name: "command-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{badName}, verdict: misused("unknown command")},
		{name: "target-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{"run", "--target", "http://" + badName}, verdict: misused("address")},
		{name: "path-with-escapes", why: "the caller's own arguments may come from a pull request", args: []string{"run", "--target", "@", "--target-profile", badName}, verdict: misused("no such file")},
		{name: "output-with-escapes", why: "the caller's own arguments may come from a pull request", args: append(slices.Clone(listing), "--target", "@", "--target-profile", profileFile, "--output", badName), verdict: passes()},
		{name: "version-flag-full", why: "the version cannot be written", args: []string{"--version"}, set: output("/dev/full"), verdict: Verdict{Codes: []int{exitUsage, exitInconclusive}, Says: "no space left"}},
		{name: "help-full", why: "help cannot be written", args: []string{"--help"}, set: output("/dev/full"), verdict: inconclusive("no space left")},
		{name: "help-of-run-full", why: "help cannot be written", args: []string{"run", "--help"}, set: output("/dev/full"), verdict: inconclusive("no space left")},
		{name: "version-full", why: "the version cannot be written", args: []string{"version"}, set: output("/dev/full"), verdict: Verdict{Codes: []int{exitUsage, exitInconclusive}, Says: "no space left"}},
		{name: "requirements-full", why: "the catalogue cannot be written", args: []string{"requirements"}, set: output("/dev/full"), verdict: Verdict{Codes: []int{exitUsage, exitInconclusive}, Says: "no space left"}},
		{name: "openapi-full", why: "the document cannot be written", args: []string{"openapi"}, set: output("/dev/full"), verdict: Verdict{Codes: []int{exitUsage, exitInconclusive}, Says: "no space left"}},
	}
}

// often are the environments that run in every test of this package.
var often = []string{"descriptors-10", "threads-10", "output-leads-out", "output-dangles-out", "output-with-escapes", "job-summary-full", "job-summary-device", "stdout-full", "directory-deleted-output-absolute",
	"profile-fifo", "profile-byte-order-mark", "profile-nul", "profile-stdin", "flag-with-escapes", "path-with-escapes", "help-full"}

// The program ends as it must in unusual environments, with its results or with a message.
func TestEnvironments(t *testing.T) {
	var summary table
	t.Cleanup(func() { t.Log(summary.String()) })
	if n := len(environments()); n < 30 {
		t.Errorf("%d environments, fewer than 30", n)
	}
	t.Run("all", func(t *testing.T) {
		for _, in := range environments() {
			if *whole || slices.Contains(often, in.name) {
				t.Run(in.name, func(t *testing.T) {
					t.Parallel()
					summary.add("environment", in.name, in.try(t))
				})
			}
		}
	})
}

func (in environment) try(t *testing.T) result {
	reference, address := referenceAt(t, func(next http.Handler) http.Handler { return next })
	args := slices.Clone(in.args)
	if args == nil {
		args = append(slices.Clone(listing), "--target", "@", "--target-profile", profileFile, "--output", resultsDir)
	}
	for i := range args {
		args[i] = strings.Replace(args[i], "@", address, 1)
	}
	p := newProgram(t, reference, args...)
	for i := range p.command.Args {
		p.command.Args[i] = strings.Replace(p.command.Args[i], "DIR/", p.dir+"/", 1)
	}
	if in.set != nil {
		in.set(t, p)
	}
	e := p.run(t)
	problems := e.problems(t, reference.Keys)
	_, says := e.outcome(t)
	if !slices.Contains(in.verdict.Codes, e.code) {
		problems = append(problems, fmt.Sprintf("exit code %d, not %v", e.code, in.verdict.Codes))
	}
	if !strings.Contains(strings.ToLower(says), strings.ToLower(in.verdict.Says)) {
		problems = append(problems, fmt.Sprintf("nothing says %q", in.verdict.Says))
	}
	if len(problems) > 0 {
		t.Errorf("%s (%s)\n- %s\n%s", in.name, in.why, strings.Join(problems, "\n- "), e)
	}
	return result{problems, e.took, e.peak}
}

// referenceAt starts a reference server behind a handler until the test ends.
func referenceAt(t *testing.T, play player) (Reference, string) {
	t.Helper()
	reference, err := NewReference()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reference.Release)
	address, stop, err := Behaviour{Play: play}.Listen(reference.Handler, func(*http.Request) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return reference, address
}

// A run that a signal ends, at whatever moment, leaves nothing on its target after cleanup.
// A moment is a request that arrives.
func TestSignals(t *testing.T) {
	if !*whole {
		t.Skip("make nightly runs it")
	}
	var summary table
	t.Cleanup(func() { t.Log(summary.String()) })
	moments := rand.New(rand.NewPCG(14, 20))
	t.Run("all", func(t *testing.T) {
		for i, signal := range slices.Repeat([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL}, 5) {
			after := int64(1 + moments.IntN(180))
			if i >= 16 {
				after = int64(1 + moments.IntN(40)) // while the run prepares itself
			}
			name := fmt.Sprintf("%v-at-request-%d", signal, after)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				summary.add("signal", name, interrupted(t, signal, after))
			})
		}
	})
}

// interrupted sends the signal when the request arrives, and cleans up.
func interrupted(t *testing.T, signal syscall.Signal, after int64) result {
	var n atomic.Int64
	var process atomic.Pointer[os.Process]
	reference, address := referenceAt(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == after {
				if p := process.Load(); p != nil {
					_ = p.Signal(signal)
				}
			}
			next.ServeHTTP(w, r)
		})
	})
	before := reference.tests(t)
	common := []string{"--target", address, "--target-profile", profileFile, "--output", resultsDir}
	p := newProgram(t, reference, append(append(slices.Clone(writing), "--seed", "1"), common...)...)
	p.started = func(started *os.Process) { process.Store(started) }
	e := p.run(t)
	problems := e.problems(t, reference.Keys)
	if want := 130; signal != syscall.SIGKILL && e.code != want {
		problems = append(problems, fmt.Sprintf("exit code %d, not %d", e.code, want))
	}
	again := newProgram(t, reference, append([]string{"cleanup"}, common...)...)
	again.command.Dir = p.dir
	cleaned := again.run(t)
	if cleaned.code != exitPass {
		problems = append(problems, fmt.Sprintf("cleanup: %s", cleaned))
	}
	after2 := reference.tests(t)
	for id, name := range after2 {
		if _, old := before[id]; !old {
			problems = append(problems, "after cleanup, the row "+name+" is left on the target")
		}
	}
	if len(after2) < len(before) {
		problems = append(problems, "rows are gone that are not the run's own")
	}
	journals, err := filepath.Glob(filepath.Join(p.dir, resultsDir, "journal-*"))
	if err != nil || len(journals) > 0 {
		problems = append(problems, fmt.Sprintf("after cleanup, journals are left: %q", journals))
	}
	if len(problems) > 0 {
		t.Errorf("%v at request %d\n- %s\n%s", signal, after, strings.Join(problems, "\n- "), e)
	}
	return result{problems, e.took, e.peak}
}
