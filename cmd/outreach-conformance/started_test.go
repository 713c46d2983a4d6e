package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
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

// process is a background command.
type process struct {
	command *exec.Cmd
	output  *watch
	done    chan struct{} // closed when it has ended
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
	p := &process{
		command: exec.Command(args[2], args[3:]...),
		output:  &watch{pattern: pattern, seen: make(chan string, 1)},
		done:    make(chan struct{}),
	}
	s := ts.Value(scriptKey{}).(*script)
	p.command.Dir, p.command.Env = ts.MkAbs("."), s.vars
	p.command.Stdout, p.command.Stderr = p.output, p.output
	ts.Check(p.command.Start())
	go func() {
		defer close(p.done)
		_ = p.command.Wait() // the caller reads the exit code later
	}()
	s.running[name] = p
	ts.Defer(func() {
		_ = p.command.Process.Kill()
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
	ts.Check(p.command.Process.Signal(os.Interrupt))
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end when it is interrupted:\n%s", name, p.output.bytes())
	}
	ts.Check(os.WriteFile(ts.MkAbs(name+".log"), p.output.bytes(), 0o600))
	if got := p.command.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%s ends with exit code %d instead of %d:\n%s", name, got, want, p.output.bytes())
	}
}
