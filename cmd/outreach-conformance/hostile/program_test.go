package hostile

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onsi/ginkgo/v2/reporters"

	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
)

func TestMain(m *testing.M) { os.Exit(testbed.Tidying{Tests: m}.Run()) }

// Names in the directory of a run.
const (
	profileFile = "target.yaml"
	resultsDir  = "results"
	resultsFile = resultsDir + "/results.json"
	junitFile   = resultsDir + "/junit.xml"
)

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
func newProgram(t *testing.T, reference Reference, args ...string) *program {
	t.Helper()
	run := &program{dir: t.TempDir(), built: testbed.Built(t)}
	if err := os.WriteFile(filepath.Join(run.dir, profileFile), reference.File, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(run.built, "bin", testbed.Program)
	run.command = exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
	run.command.Dir, run.command.Env = run.dir, testbed.Environment()
	run.command.Stdout, run.command.Stderr = &run.out, &run.err
	return run
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
			continue
		case <-limit:
			e.hung, limit = true, nil
			_ = p.command.Process.Kill()
			continue
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
		}
		e.took, e.code = time.Since(began), p.command.ProcessState.ExitCode()
		e.stdout, e.stderr = p.out.String(), p.err.String()
		return e
	}
}

// resident returns the peak of a process's resident memory in MiB. The resource usage of
// a child would include the memory of this process.
func resident(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var kib int
	_, _ = fmt.Sscanf(after, "%d", &kib) // 0 for a process that has ended
	return kib >> 10
}

// artifacts returns everything that a person may read: the output, and each file that the
// run wrote.
func (e ended) artifacts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"stdout": e.stdout, "stderr": e.stderr}
	err := fs.WalkDir(os.DirFS(e.dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == profileFile {
			return err
		}
		text, err := os.ReadFile(filepath.Join(e.dir, path))
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Bounds of the files of a run, in bytes.
var largest = map[string]int{resultsFile: 20 << 20, junitFile: 5 << 20, "stdout": 20 << 20, "stderr": 1 << 20}

// problems returns what is wrong with a run whatever its target does.
func (e ended) problems(t *testing.T, search KeySearch) (all []string) {
	t.Helper()
	report := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if e.hung {
		report("it did not end in time")
		return all
	}
	if strings.Contains(e.stderr, "goroutine ") || strings.Contains(e.stderr, "panic:") {
		report("it panicked: %s", e.stderr)
	}
	artifacts := e.artifacts(t)
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
		if strings.HasPrefix(line, "::") && !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::warning ") && !strings.HasPrefix(line, "::notice ") &&
			!strings.HasPrefix(line, "::stop-commands::") && !ends(line) {
			report("stdout has a workflow command of the target: %.200q", line)
		}
	}
	if text, ok := artifacts[junitFile]; ok {
		if err := xml.Unmarshal([]byte(text), new(reporters.JUnitTestSuites)); err != nil {
			report("junit.xml: %v", err)
		}
	}
	return append(all, e.contradictions(artifacts)...)
}

// ends reports whether the line ends a pause of workflow commands: its token is random.
func ends(line string) bool {
	token, ok := strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(line), "::"), "::")
	return ok && len(token) >= 16 && !strings.ContainsFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' })
}

// contradictions returns where the exit code, the last line and the results disagree. Exit
// codes 0 and 1 come only from a verdict that is written down.
func (e ended) contradictions(artifacts map[string]string) (all []string) {
	text, written := artifacts[resultsFile]
	if !written {
		isResults := func(name string) bool { return path.Base(name) == "results.json" || path.Base(name) == "load.json" }
		if (e.code == exitPass || e.code == exitFail) && !slices.ContainsFunc(slices.Collect(maps.Keys(artifacts)), isResults) {
			all = append(all, fmt.Sprintf("exit code %d without results", e.code))
		}
		return all
	}
	results, err := jsonfile.Run.Parse([]byte(text))
	switch {
	case err != nil:
		return append(all, fmt.Sprintf("results.json: %v", err))
	case results.ExitCode() != e.code && e.code != exitUsage && !(e.code == exitInconclusive && results.Verdict == reports.Passed):
		all = append(all, fmt.Sprintf("exit code %d, but the results say %s", e.code, results.Verdict))
	}
	for _, said := range verdictLine.FindAllStringSubmatch(artifacts["stdout"], -1) {
		if said[1] != fmt.Sprint(e.code) {
			all = append(all, fmt.Sprintf("exit code %d, but the summary says %q", e.code, said[0]))
		}
	}
	return all
}

// verdictLine is the last line of a summary.
var verdictLine = regexp.MustCompile(`(?m)^[✓✗?] [A-Z ]+  exit (\d+) `)

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

// outcome returns the requirements that failed, and all that the run says.
func (e ended) outcome(t *testing.T) (failed []string, says string) {
	t.Helper()
	says = e.stdout + e.stderr
	text, err := os.ReadFile(filepath.Join(e.dir, resultsFile))
	if err != nil {
		return nil, says
	}
	results, err := jsonfile.Run.Parse(text)
	if err != nil {
		return nil, says + string(text)
	}
	for _, c := range results.Checks {
		if c.Outcome == reports.Fail {
			failed = append(failed, c.Requirement)
		}
	}
	return failed, says + string(text)
}
