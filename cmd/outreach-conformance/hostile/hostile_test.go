// Package hostile runs the program against targets that no one would write on purpose, in
// environments that lack something, and ends it by signals at any moment.
//
// A behaviour is a row of one table: what the server does, why that is hostile or which sentence
// allows it, and what a run must make of it. A proxy around the reference server plays it.
package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onsi/ginkgo/v2/reporters"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

func TestMain(m *testing.M) { os.Exit(testbed.Tidying{Tests: m}.Run()) }

// behaviour is one hostile behaviour of a target.
type behaviour struct {
	name string // class/what-it-does
	does string // completes "the server …"
	why  string // why it is hostile, or the sentence that allows it
	must verdict

	args   []string // the command and its selection; nil judges the shapes and pages of one list
	leaves string   // why rows of the run may remain on the target. The run must say that they may,
	hidden bool     // unless the target gives no sign of them

	MiB  int            // resident memory; 0 for 256
	play player         // answers requests; it is called once a run
	wire func(net.Conn) // replaces play: it is given each connection, and closes it
}

// verdict is what a run must end with.
type verdict struct {
	codes []int // exit codes, any of them
	// fails are patterns (path.Match) of the requirements that may fail, and no other one
	// does. A requirement that the first pattern matches must fail.
	fails []string
	says  string // what the output or the results say; "" for anything
}

// Exit codes of the program.
const exitPass, exitFail, exitUsage, exitInconclusive = 0, 1, 2, 3

func passes() verdict                     { return verdict{codes: []int{exitPass}} }
func fails(requirement ...string) verdict { return verdict{codes: []int{exitFail}, fails: requirement} }
func misused(says string) verdict         { return verdict{codes: []int{exitUsage}, says: says} }

// inconclusive is the verdict on a target that gives no evidence. The run says why.
func inconclusive(says string) verdict { return verdict{codes: []int{exitInconclusive}, says: says} }

// noFailure is the verdict on a target that breaks nothing but exceeds a bound of the harness.
func noFailure() verdict { return verdict{codes: []int{exitPass, exitInconclusive}} }

// noPass is the verdict if the specification leaves open whether a server fails or
// gives no evidence.
func noPass(requirement ...string) verdict {
	return verdict{codes: []int{exitFail, exitInconclusive}, fails: requirement}
}

// anyVerdict is that on a target whose answers are up to chance.
var anyVerdict = verdict{codes: []int{exitPass, exitFail, exitInconclusive}, fails: []string{"*"}}

// The program survives each behaviour: its verdict is right, it stays within its bounds, shows no
// key, and changes nothing but its own rows.
func TestBehaviours_long(t *testing.T) {
	for _, b := range behaviours() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.try(t)
		})
	}
}

// reference is a reference server for one run, and what the run must know of it.
type reference struct {
	http.Handler
	profile *profile.Profile
	file    []byte // with the profile
	keys    KeySearch
}

// data are enough rows for several pages.
var data = sync.OnceValues(func() (*dataset.Data, error) {
	options := dataset.DefaultOptions()
	options.Rows = 60
	return dataset.New(options)
})

func newReference(t *testing.T) reference {
	t.Helper()
	rows, err := data()
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(rows, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known := profile.FromDataset(rows)
	known.VisibleWithin = 200 * time.Millisecond // it shows each change at once
	file, err := known.YAML("")
	if err != nil {
		t.Fatal(err)
	}
	return reference{server.Handler(), known, file, NewKeySearch(known.Keys)}
}

// listen plays the behaviour in front of the server until the test ends. stray is called with each
// request for another host or for a path outside the API, which no operation asks for.
func (b behaviour) listen(t *testing.T, next http.Handler, stray func()) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	if b.wire != nil {
		go func() {
			for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
				go b.wire(conn)
			}
		}()
		return "http://" + listener.Addr().String()
	}
	play := b.play(next)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != listener.Addr().String() || !strings.HasPrefix(r.URL.Path, refserver.BasePath+"/") {
			stray()
		}
		play.ServeHTTP(w, r)
	}), ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 64 << 10}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // it ends with an error when it is closed
	return "http://" + listener.Addr().String()
}

// Names in the directory of a run.
const (
	profileFile = "target.yaml"
	resultsDir  = "results"
	resultsFile = resultsDir + "/results.json"
	junitFile   = resultsDir + "/junit.xml"
)

// try runs the program against the behaviour.
func (b behaviour) try(t *testing.T) {
	server := newReference(t)
	var strayed atomic.Int64
	address := b.listen(t, server, func() { strayed.Add(1) })
	before := server.tests(t)
	args := b.args
	if args == nil {
		args = listing
	}
	args = append(slices.Clone(args), "--target", address, "--target-profile", profileFile, "--output", resultsDir, "--verbose")
	if args[0] == "run" {
		args = append(args, "--format", "github", "--seed", "1")
	}
	if !slices.Contains(args, "--timeout") {
		args = append(args, "--timeout", "15s")
	}
	e := newProgram(t, server, args...).run(t)
	report := e.check(t, server.keys)
	e.judge(t, b.must)
	if most := max(b.MiB, 256); e.peak > most {
		report("%d MiB resident, more than %d", e.peak, most)
	}
	if n := strayed.Load(); n > 0 {
		report("%d requests went to another host or path", n)
	}
	left := harm(report, before, server.tests(t))
	if said := strings.Contains(e.stdout+e.stderr, "left"); left > 0 && (b.leaves == "" || !said && !b.hidden) {
		report("%d rows are left on the target; it says so: %t", left, said)
	}
	if t.Failed() {
		t.Errorf("the server %s (%s)\n%s", b.does, b.why, e)
	}
}

// harm reports what the run did to rows that are not its own, and returns how many it left.
func harm(report func(string, ...any), before, after map[string]string) (left int) {
	for id, name := range before {
		if _, still := after[id]; !still {
			report("the row %s (%s) is gone, which is not the run's own", id, name)
		}
	}
	return len(after) - len(before)
}

// tests returns the placement tests of the main workspace, by id.
func (r reference) tests(t *testing.T) map[string]string {
	t.Helper()
	key, _ := r.profile.FullKey(dataset.Main)
	names, next := map[string]string{}, ""
	for {
		request := httptest.NewRequest(http.MethodGet, spec.MustOperation(spec.ListPlacementTests).Path+"?limit=100&starting_after="+next, nil)
		request.Header.Set("Authorization", "Bearer "+key.Token)
		var page struct {
			Items []struct{ ID, Name string } `json:"items"`
			Next  string                      `json:"next_starting_after"`
		}
		if err := json.Unmarshal(ask(r, request).body, &page); err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			names[item.ID] = item.Name
		}
		if next = page.Next; next == "" {
			return names
		}
	}
}

// patience is how long a program may take: a busy machine needs several times what an idle
// one does, and a program that hangs needs more.
const patience = 15 * time.Minute

// program is a run of the built program, in a directory of its own.
type program struct {
	dir     string
	built   string // directory of the programs
	command *exec.Cmd
	started func(*os.Process) // nil to tell nobody

	out, err bytes.Buffer
}

// newProgram returns a program that judges the target with the profile of the reference.
func newProgram(t *testing.T, server reference, args ...string) *program {
	t.Helper()
	p := &program{dir: t.TempDir(), built: testbed.Built(t)}
	if err := os.WriteFile(filepath.Join(p.dir, profileFile), server.file, 0o600); err != nil {
		t.Fatal(err)
	}
	p.command = exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(p.built, "bin", testbed.Program), args...)
	p.command.Dir, p.command.Env = p.dir, testbed.Environment()
	p.command.Stdout, p.command.Stderr = &p.out, &p.err
	return p
}

// ended is a run that has ended.
type ended struct {
	dir            string
	code           int
	stdout, stderr string
	took           time.Duration
	peak           int // MiB resident
	hung           bool
}

func (e ended) String() string {
	return fmt.Sprintf("exit code %d after %s with %d MiB\n%.6000s\n%.3000s", e.code, e.took.Round(time.Millisecond), e.peak, e.stdout, e.stderr)
}

// run starts the program and waits until it ends, or kills it if it exceeds its time.
func (p *program) run(t *testing.T) ended {
	t.Helper()
	began := time.Now()
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	if p.started != nil {
		p.started(p.command.Process)
	}
	done := make(chan error, 1)
	go func() { done <- p.command.Wait() }()
	e := ended{dir: p.dir}
	sample, limit := time.NewTicker(10*time.Millisecond), time.After(patience)
	defer sample.Stop()
	for {
		select {
		case <-sample.C:
			e.peak = max(e.peak, resident(p.command.Process.Pid))
		case <-limit:
			e.hung, limit = true, nil
			_ = p.command.Process.Kill()
		case err := <-done:
			if err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Fatal(err)
			}
			e.took, e.code = time.Since(began), p.command.ProcessState.ExitCode()
			e.stdout, e.stderr = p.out.String(), p.err.String()
			return e
		}
	}
}

// resident returns the peak of a process's resident memory in MiB. The resource usage of
// a child would include the memory of this process.
func resident(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none of a process that has ended
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var kib int
	_, _ = fmt.Sscanf(after, "%d", &kib)
	return kib >> 10
}

// Bounds of the files of a run, in bytes.
var largest = map[string]int{resultsFile: 20 << 20, junitFile: 5 << 20, "stdout": 20 << 20, "stderr": 1 << 20}

// check reports what is wrong with a run whatever its target does. It returns what reports more.
func (e ended) check(t *testing.T, search KeySearch) (report func(string, ...any)) {
	t.Helper()
	report = func(format string, args ...any) { t.Helper(); t.Errorf(format, args...) }
	if e.hung {
		t.Fatal("it did not end in time")
	}
	if strings.Contains(e.stderr, "goroutine ") || strings.Contains(e.stderr, "panic:") {
		report("it panicked: %s", e.stderr)
	}
	artifacts := map[string]string{"stdout": e.stdout, "stderr": e.stderr}
	err := fs.WalkDir(os.DirFS(e.dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == profileFile {
			return err
		}
		text, err := os.ReadFile(filepath.Join(e.dir, path))
		artifacts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range artifacts {
		if key, around, found := search.Find(text); found {
			report("%s shows the key %s: …%s…", name, key, around)
		}
		if bound, ok := largest[name]; ok && len(text) > bound {
			report("%s has %d bytes, more than %d", name, len(text), bound)
		}
	}
	for _, name := range []string{"stdout", "stderr", resultsDir + "/summary.md"} {
		if bad := unprintable(artifacts[name]); bad != "" {
			report("%s is not printable: %q", name, bad)
		}
	}
	for line := range strings.Lines(artifacts["stdout"]) {
		if strings.HasPrefix(line, "::") && !ourCommand.MatchString(strings.TrimSpace(line)) {
			report("stdout has a workflow command of the target: %.200q", line)
		}
	}
	if text, ok := artifacts[junitFile]; ok {
		if err := xml.Unmarshal([]byte(text), new(reporters.JUnitTestSuites)); err != nil {
			report("junit.xml: %v", err)
		}
	}
	e.contradictions(report, artifacts)
	return report
}

// ourCommand matches a workflow command of the program. What ends a pause of commands is random.
var ourCommand = regexp.MustCompile(`^::(error |warning |notice |stop-commands::|[0-9a-zA-Z-]{16,}::$)`)

// verdictLine is the last line of a summary.
var verdictLine = regexp.MustCompile(`(?m)^[✓✗?] [A-Z ]+  exit (\d+) `)

// contradictions reports where the exit code, the last line and the results disagree. Exit
// codes 0 and 1 come only from a verdict that is written down.
func (e ended) contradictions(report func(string, ...any), artifacts map[string]string) {
	text, written := artifacts[resultsFile]
	if !written {
		for name := range artifacts {
			written = written || path.Base(name) == "results.json" || path.Base(name) == "load.json"
		}
		if !written && (e.code == exitPass || e.code == exitFail) {
			report("exit code %d without results", e.code)
		}
		return
	}
	results, err := jsonfile.Run.Parse([]byte(text))
	switch {
	case err != nil:
		report("results.json: %v", err)
	case results.ExitCode() != e.code && e.code != exitUsage && !(e.code == exitInconclusive && results.Verdict == reports.Passed):
		report("exit code %d, but the results say %s", e.code, results.Verdict)
	}
	for _, said := range verdictLine.FindAllStringSubmatch(artifacts["stdout"], -1) {
		if said[1] != fmt.Sprint(e.code) {
			report("exit code %d, but the summary says %q", e.code, said[0])
		}
	}
}

// unprintable returns the text around the first character that does something to a
// terminal; "" for none.
func unprintable(text string) string {
	for i, r := range text {
		fine := r == '\n' || r == '\t' || unicode.IsPrint(r) && !(r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"))
		if !fine {
			return text[max(0, i-60):min(len(text), i+20)]
		}
	}
	return ""
}

// judge reports how the end differs from the verdict.
func (e ended) judge(t *testing.T, must verdict) {
	t.Helper()
	says := e.stdout + e.stderr
	var failed []string
	if text, err := os.ReadFile(filepath.Join(e.dir, resultsFile)); err == nil {
		says += string(text)
		results, _ := jsonfile.Run.Parse(text) // check reports an error
		for _, c := range results.Checks {
			if c.Outcome == reports.Fail {
				failed = append(failed, c.Requirement)
			}
		}
	}
	if !slices.Contains(must.codes, e.code) {
		t.Errorf("exit code %d, not %v", e.code, must.codes)
	}
	matches := func(pattern, id string) bool { ok, _ := path.Match(pattern, id); return ok }
	first := len(failed) == 0 || len(must.fails) == 0 || e.code != exitFail
	for _, id := range slices.Compact(slices.Sorted(slices.Values(failed))) {
		if !slices.ContainsFunc(must.fails, func(pattern string) bool { return matches(pattern, id) }) {
			t.Errorf("%s fails", id)
		}
		first = first || matches(must.fails[0], id)
	}
	if !first {
		t.Errorf("%s does not fail", must.fails[0])
	}
	if !strings.Contains(strings.ToLower(says), strings.ToLower(must.says)) {
		t.Errorf("nothing says %q", must.says)
	}
}
