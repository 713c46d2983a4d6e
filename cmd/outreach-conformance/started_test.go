package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds the wait for a process of a script. It is long enough to end only tests
// that hang.
const patience = 15 * time.Minute

// script is the state that the custom commands of a script share.
type script struct {
	vars    []string // environment at the start of the script
	running map[string]*process
}

type scriptKey struct{}

// process is a background command; cancel interrupts one that runs in this process.
type process struct {
	command *exec.Cmd
	cancel  context.CancelFunc
	code    int // of one in this process, once it has ended
	output  *watch
	done    chan struct{} // closed when it has ended
}

// The working directory, the environment and what Ginkgo holds belong to the process, so that
// it runs one command line of a script at a time.
var (
	one      sync.Mutex
	restored []func()
)

// envLine is a line of a script that sets variables.
var envLine = regexp.MustCompile(`(?m)^env (\w+)=`)

// variablesOfScripts are the variables that any script sets.
var variablesOfScripts = sync.OnceValue(func() (names []string) {
	for _, dir := range []string{".", "long", "documents"} {
		files, _ := filepath.Glob(filepath.Join(scripts, dir, "*.txtar")) // the pattern is valid
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			for _, m := range envLine.FindAllSubmatch(text, -1) {
				names = append(names, string(m[1]))
			}
		}
	}
	return names
})

// enter gives this process the directory and the environment of the script, until leave is called.
func enter(ts *testscript.TestScript) {
	one.Lock()
	calibrate = instant
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	restored = append(restored, func() { _ = os.Chdir(before) })
	for _, name := range variablesOfScripts() {
		value, set := os.LookupEnv(name)
		if name == "PATH" {
			continue
		}
		if ts.Check(os.Unsetenv(name)); ts.Getenv(name) != "" {
			ts.Check(os.Setenv(name, ts.Getenv(name)))
		}
		restored = append(restored, func() {
			if _ = os.Unsetenv(name); set {
				_ = os.Setenv(name, value)
			}
		})
	}
}

func leave() {
	for _, restore := range slices.Backward(restored) {
		restore()
	}
	restored = nil
	one.Unlock()
}

// watch keeps what is written to it, and matches a pattern against its complete lines.
type watch struct {
	pattern *regexp.Regexp
	seen    chan string // receives the first group of the first match

	mu    sync.Mutex
	text  []byte
	found bool
}

// watching returns a watch for the pattern.
func watching(pattern string) *watch {
	return &watch{pattern: regexp.MustCompile("(?m)" + pattern), seen: make(chan string, 1)}
}

func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	lines := w.text[:bytes.LastIndexByte(w.text, '\n')+1]
	if match := w.pattern.FindSubmatch(lines); match != nil && !w.found {
		w.found = true
		w.seen <- string(match[len(match)-1])
	}
	return len(p), nil
}

func (w *watch) bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.text)
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: start NAME PATTERN COMMAND…")
	}
	name := args[0]
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	p := &process{output: &watch{pattern: pattern, seen: make(chan string, 1)}, done: make(chan struct{})}
	s := ts.Value(scriptKey{}).(*script)
	if args[2] == program && args[3] == "serve" {
		var ctx context.Context
		ctx, p.cancel = context.WithCancel(context.Background())
		enter(ts)
		defer leave()
		go func() {
			defer close(p.done)
			p.code = execute(ctx, args[3:], p.output, p.output)
		}()
	} else {
		p.command = exec.Command(args[2], args[3:]...)
		p.command.Dir, p.command.Env = ts.MkAbs("."), s.vars
		p.command.Stdout, p.command.Stderr = p.output, p.output
		ts.Check(p.command.Start())
		p.cancel = func() { _ = p.command.Process.Kill() }
		go func() {
			defer close(p.done)
			_ = p.command.Wait() // the caller reads the exit code later
		}()
	}
	s.running[name] = p
	ts.Defer(func() {
		p.cancel()
		<-p.done
	})
	select {
	case match := <-p.output.seen:
		ts.Setenv(name, match)
		groups := pattern.FindSubmatch(p.output.bytes())
		for i, named := range pattern.SubexpNames() {
			if named != "" {
				ts.Setenv(named, string(groups[i]))
			}
		}
	case <-p.done:
		ts.Fatalf("%s ended before it wrote %q:\n%s", name, args[1], p.output.bytes())
	case <-time.After(patience):
		ts.Fatalf("%s does not write %q:\n%s", name, args[1], p.output.bytes())
	}
}

func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: interrupt NAME CODE")
	}
	name := args[0]
	want := exitCode(ts, args[1])
	p, ok := ts.Value(scriptKey{}).(*script).running[name]
	if !ok {
		ts.Fatalf("%s was not started", name)
	}
	if p.command == nil {
		p.cancel()
	} else {
		ts.Check(p.command.Process.Signal(os.Interrupt))
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end when it is interrupted:\n%s", name, p.output.bytes())
	}
	ts.Check(os.WriteFile(ts.MkAbs(name+".log"), p.output.bytes(), 0o600))
	got := p.code
	if p.command != nil {
		got = p.command.ProcessState.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ends with exit code %d instead of %d:\n%s", name, got, want, p.output.bytes())
	}
}
