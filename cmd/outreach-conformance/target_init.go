package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/suites/preflight"
)

type initOptions struct {
	session
	KeyEnv   string        `flag:"token-env" usage:"environment variable that holds the API key of a workspace"`
	Wait     time.Duration `flag:"wait" usage:"how long to wait until the server at an address answers, such as 60s"`
	CAFile   string        `flag:"ca-file" usage:"PEM file of the authority that signed the server's certificate"`
	Timeout  time.Duration `flag:"timeout" usage:"timeout of a request, also in the profile"`
	Patience time.Duration `flag:"patience" usage:"maximum time with only 429, also in the profile"`
	Name     string        `flag:"name" usage:"name of the implementation (default: the server's host name)"`
	File     string        `flag:"file,f" usage:"profile to write"`
	Force    bool          `flag:"force" usage:"replace an existing file"`
}

func newTargetInit() *cobra.Command {
	f := &initOptions{KeyEnv: "OUTREACH_KEY_MAIN", File: "target.yaml", Timeout: profile.DefaultTimeout, Patience: profile.DefaultPatience}
	return command(&cobra.Command{
		Use:   "init",
		Short: "Write a profile for a server by asking the server",
		Long: `init asks a server what a profile needs: which operations it serves, the lists that
the key reads, the existing rows, and the names of the parameters that the
specification does not show. It changes nothing on the server. It writes a first
profile, and beside it the JSON Schema of profiles for editors.

The key comes from the environment variable of --token-env, or from a prompt on a
terminal. It is not written: the profile names the variable.`,
		Example: `  OUTREACH_KEY_MAIN=… outreach-conformance target init --target https://api.example.com`,
	}, f, "Target: target token-env wait ca-file\nPace: timeout patience\nOutput: name file force", f.init,
		"{target}", "its address without /api/v2 (asked for on a terminal)")
}

func (f *initOptions) init(ctx context.Context, _ []string) error {
	switch err := disk.Check(f.File); {
	case err == nil && !f.Force:
		return fmt.Errorf("%s: already exists (choose another --file, or replace it with --force)", f.File)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f.Settings.Timeout, f.Settings.Patience, f.Settings.Wait = &f.Timeout, &f.Patience, &f.Wait
	if err := f.checkSettings(); err != nil {
		return err
	}
	terminal, _ := f.in.(*os.File)
	if terminal != nil && !term.IsTerminal(int(terminal.Fd())) {
		terminal = nil
	}
	if err := f.askAddress(ctx, terminal); err != nil {
		return err
	}
	t, err := f.found()
	if err != nil {
		return err
	}
	token, err := f.askKey(ctx, terminal)
	if err != nil {
		return err
	}
	f.Settings.Wait = nil // is for this command only
	t.Profile.Set(f.Settings)
	if err := t.Await(ctx, target.Waiting{For: f.Wait, Say: f.say}); err != nil {
		return cannotTell(err)
	}
	profile, notes, err := preflight.Discover(ctx, t, token, f.KeyEnv, f.say)
	if err != nil || ctx.Err() != nil {
		return cannotTell(err)
	}
	if f.Name == "" {
		notes = slices.Insert(notes, 0, "the API does not show the name of the implementation: correct it, and add version and vendor")
	}
	heading := "Profile of a target, written by target init. Complete it:\n- " + strings.Join(notes, "\n- ")
	if err := profile.Write(f.File, heading); err != nil {
		return err
	}
	for _, note := range notes {
		f.print("- %s\n", note)
	}
	f.print("\nwrote %s; `outreach-conformance target check --target-profile %s` shows what a run would assess\n", f.File, f.File)
	return nil
}

// askAddress asks for the address if no flag gives it. A nil terminal means that
// there is none.
func (f *initOptions) askAddress(ctx context.Context, terminal *os.File) (err error) {
	if f.Target != "" {
		return nil
	}
	if terminal == nil {
		return errors.New("--target: missing (the address of the server without /api/v2)")
	}
	_, _ = fmt.Fprint(f.err, "Address of the server, without /api/v2: ")
	f.Target, err = typed(ctx, terminal, readLine)
	return err
}

// askKey returns the key from the environment, or asks for it on the terminal.
func (f *initOptions) askKey(ctx context.Context, terminal *os.File) (token string, err error) {
	if token = os.Getenv(f.KeyEnv); token != "" {
		return token, nil
	}
	if terminal == nil {
		return "", fmt.Errorf("environment variable %s: not set (it must hold an API key, see --token-env)", f.KeyEnv)
	}
	_, _ = fmt.Fprintf(f.err, "API key of a workspace (not shown; the profile will read it from %s): ", f.KeyEnv)
	token, err = typed(ctx, terminal, readHidden)
	_, _ = fmt.Fprintln(f.err)
	if err == nil && token == "" {
		err = errors.New("no key was given")
	}
	return token, err
}

// found returns the target with an empty profile.
func (f *initOptions) found() (*target.Target, error) {
	blank := &profile.Profile{Name: f.Name, Pace: profile.DefaultPace()}
	if f.CAFile != "" {
		ca, err := filepath.Abs(f.CAFile)
		if err != nil {
			return nil, err
		}
		blank.TLS = &profile.TLS{CAFile: ca}
	}
	t, err := target.At(blank, f.Target)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(t.BaseURL); err == nil && f.Name == "" {
		t.Profile.Name = nameAt(u)
	}
	return t, nil
}

// nameAt returns a name for an implementation at an address.
func nameAt(u *url.URL) string {
	if host := u.Hostname(); host != "localhost" && net.ParseIP(host) == nil {
		return host
	}
	return "unnamed server"
}

// typed reads a line from the terminal and trims it. When the context ends, it
// restores the terminal's mode and returns the context's error. The read goes on in
// the background, because nothing can interrupt it.
func typed(ctx context.Context, terminal *os.File, read func(*os.File) (string, error)) (string, error) {
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return "", err
	}
	type input struct {
		text string
		err  error
	}
	came := make(chan input, 1)
	go func() {
		text, err := read(terminal)
		if errors.Is(err, io.EOF) { // also ends a line
			err = nil
		}
		came <- input{strings.TrimSpace(text), err}
	}()
	select {
	case in := <-came:
		return in.text, in.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(int(terminal.Fd()), before))
	}
}

// readLine reads a line. A terminal returns at most one line per read, so the buffer
// takes nothing of the next one.
func readLine(terminal *os.File) (string, error) { return bufio.NewReader(terminal).ReadString('\n') }

// readHidden reads a line without echo.
func readHidden(terminal *os.File) (string, error) {
	line, err := term.ReadPassword(int(terminal.Fd()))
	return string(line), err
}
