package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
)

// terminal is a pseudo-terminal, at the side of the user.
type terminal struct {
	person, program *os.File
}

func newTerminal(t *testing.T) terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var number, locked int32
	control(t, person, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(t, person, syscall.TIOCGPTN, unsafe.Pointer(&number))
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return terminal{person, program}
}

func control(t *testing.T, file *os.File, request uintptr, argument unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(argument)); errno != 0 {
		t.Fatalf("ioctl %#x of %s: %v", request, file.Name(), errno)
	}
}

// shows reports whether the terminal echoes input.
func (x terminal) shows(t *testing.T) bool {
	var settings syscall.Termios
	control(t, x.program, syscall.TCGETS, unsafe.Pointer(&settings))
	return settings.Lflag&syscall.ECHO != 0
}

func (x terminal) types(t *testing.T, text string) {
	t.Helper()
	if _, err := x.person.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// initAtTerminal starts target init at a terminal. The output of the process is what the
// terminal shows.
func initAtTerminal(t *testing.T, args ...string) (terminal, *process) {
	t.Helper()
	x := newTerminal(t)
	c := spawn(t, nil, append([]string{"target", "init"}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = x.program, x.program, x.program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := &process{command: c, output: watching(`^`), done: make(chan struct{})}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 4096)
		for n, err := x.person.Read(buffer); err == nil; n, err = x.person.Read(buffer) {
			_, _ = p.output.Write(buffer[:n])
		}
	}()
	go func() {
		defer close(p.done)
		_ = c.Wait()
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-p.done
	})
	return x, p
}

// until polls for a condition.
func until(t *testing.T, p *process, what string, holds func() bool) {
	t.Helper()
	patient, end := context.WithTimeout(t.Context(), patience)
	defer end()
	for !holds() {
		select {
		case <-patient.Done():
			t.Fatalf("%s does not come about; the terminal shows:\n%s", what, p.output.bytes())
		case <-time.After(time.Millisecond):
		}
	}
}

func asks(p *process, question string) func() bool {
	return func() bool { return bytes.Contains(p.output.bytes(), []byte(question)) }
}

// init asks for the address and for a key. The key is not on the terminal, in the output
// or in the profile.
func TestInitAtATerminal(t *testing.T) {
	g := NewWithT(t)
	base, _ := servingBuilt(t)
	known := profile.Embedded()
	key, _ := known.FullKey(dataset.Main)

	x, p := initAtTerminal(t)
	until(t, p, "the question for the address", asks(p, "Address of the server"))
	g.Expect(x.shows(t)).To(BeTrue())
	x.types(t, base+"\n")
	until(t, p, "the question for the key", asks(p, "API key of a workspace (not shown"))
	until(t, p, "a terminal that hides", func() bool { return !x.shows(t) })
	x.types(t, key.Token+"\n")
	until(t, p, "the end", func() bool { return asks(p, "shows what a run would assess")() })
	<-p.done

	shown := string(p.output.bytes())
	g.Expect(p.command.ProcessState.ExitCode()).To(BeZero(), shown)
	g.Expect(shown).To(ContainSubstring(base), "what is typed shows otherwise")
	g.Expect(strings.Count(shown, ": \r\n")+strings.Count(shown, ": "+base)).To(Equal(2), "two questions:\n%s", shown)
	g.Expect(x.shows(t)).To(BeTrue(), "the terminal is as it was")
	text := contents(t, filepath.Join(p.command.Dir, "target.yaml"))
	g.Expect(text).To(And(ContainSubstring("base_url: "+base), ContainSubstring("token_env: OUTREACH_KEY_MAIN")))
	for _, said := range []string{shown, text} {
		g.Expect(said).NotTo(ContainSubstring(key.Token[:8]))
	}
	g.Expect(filepath.Join(p.command.Dir, profile.SchemaFile)).To(BeAnExistingFile())
}

// Ctrl-C ends init at either question and restores the terminal.
func TestInitIsInterruptedAtATerminal(t *testing.T) {
	for question, args := range map[string][]string{
		"Address of the server":  nil,
		"API key of a workspace": {"--target", "http://127.0.0.1:1"},
	} {
		g := NewWithT(t)
		x, p := initAtTerminal(t, args...)
		until(t, p, "the question", asks(p, question))
		if args != nil {
			until(t, p, "a terminal that hides", func() bool { return !x.shows(t) })
		}
		x.types(t, "\x03") // Ctrl-C
		until(t, p, "the end", func() bool {
			select {
			case <-p.done:
				return true
			default:
				return false
			}
		})
		g.Expect(p.command.ProcessState.ExitCode()).To(Equal(exitInterrupted), "%s", p.output.bytes())
		g.Expect(x.shows(t)).To(BeTrue(), "the terminal is as it was")
		g.Expect(filepath.Join(p.command.Dir, "target.yaml")).NotTo(BeAnExistingFile())
	}
}
