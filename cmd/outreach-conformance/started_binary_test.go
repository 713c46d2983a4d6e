package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"outreach.example/conformance/internal/testbed"
)

// This file starts the program as a process: this test binary, under the program's name.

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// spawn returns a command of the program, in a new directory, with only the given
// OUTREACH_ variables.
func spawn(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...) // TestMain puts it into the PATH
	c.Dir = t.TempDir()
	c.Env = append(testbed.Environment(), env...)
	return c
}

// ended is a process that has ended.
type ended struct {
	dir            string // working directory
	code           int
	stdout, stderr string
}

func (e ended) String() string {
	return fmt.Sprintf("exit code %d\n%s%s", e.code, e.stderr, e.stdout) // the verdict last
}

// toTheEnd runs the command until it ends.
func toTheEnd(t *testing.T, c *exec.Cmd) ended {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{c.Dir, c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// exitsWith runs the program, which must end with the exit code.
func exitsWith(t *testing.T, code int, env []string, args ...string) ended {
	t.Helper()
	e := toTheEnd(t, spawn(t, env, args...))
	if e.code != code {
		t.Fatalf("%v: want exit code %d, got %s", args, code, e)
	}
	return e
}

// begun starts the command and waits until a line of its output matches the pattern. It
// returns the last group. The process is killed when the test ends.
func begun(t *testing.T, c *exec.Cmd, pattern string) (*process, string) {
	t.Helper()
	p := launched(t, c, pattern)
	return p, p.await(t)
}

// begunWithout starts the command without waiting.
func begunWithout(t *testing.T, c *exec.Cmd) *process {
	t.Helper()
	const never = `[^\x00-\x{10FFFF}]`
	return launched(t, c, never)
}

func launched(t *testing.T, c *exec.Cmd, pattern string) *process {
	t.Helper()
	p := &process{command: c, output: watching(pattern), done: make(chan struct{})}
	c.Stdout, c.Stderr = p.output, p.output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = c.Wait() // the caller reads the exit code later
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-p.done
	})
	return p
}

// await waits until the process's output matches the pattern.
func (p *process) await(t *testing.T) string {
	t.Helper()
	select {
	case match := <-p.output.seen:
		return match
	case <-p.done:
		t.Fatalf("it ended before it wrote %q:\n%s", p.output.pattern, p.output.bytes())
	case <-time.After(patience):
		t.Fatalf("it does not write %q:\n%s", p.output.pattern, p.output.bytes())
	}
	return ""
}

// end sends the signal and waits for the process to end.
func (p *process) end(t *testing.T, signal syscall.Signal) (code int) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%v does not end it:\n%s", signal, p.output.bytes())
	}
	return p.command.ProcessState.ExitCode()
}

// servingBuilt starts the reference server as a process.
func servingBuilt(t *testing.T, args ...string) (base, truth string) {
	t.Helper()
	args = append([]string{"serve", "--addr", "127.0.0.1:0", "--truth-addr", "127.0.0.1:0"}, args...)
	p, truth := begun(t, spawn(t, nil, args...), `^truth +(\S+)$`)
	line, _, _ := strings.Cut(string(p.output.bytes()), "\n")
	_, base, _ = strings.Cut(line, " ")
	return base, truth
}
