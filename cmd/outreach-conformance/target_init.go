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

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/suites/preflight"
)

type initFlags struct {
	settingFlags // the wait, and the pace of the profile

	target, keyEnv, name, file, caFile string
	force                              bool
}

func newTargetInit() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a profile for a server by asking the server",
		Long: `init asks a server what a profile needs: which operations it serves, the lists that
the key reads, the existing rows, and the names of the parameters that the
specification does not show. It changes nothing on the server. It writes a first
profile, and beside it the JSON Schema of profiles for editors.

The key comes from the environment variable of --token-env, or from a prompt on a
terminal. It is not written: the profile names the variable.`,
		Example: `  OUTREACH_KEY_MAIN=… outreach-conformance target init --target https://api.example.com`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() {
		flags.StringVarP(&f.target, "target", "t", "", "the server under test: its address without /api/v2 (asked for on a terminal)")
		flags.StringVar(&f.keyEnv, "token-env", "OUTREACH_KEY_MAIN", "environment variable that holds the API key of a workspace")
		flags.DurationVar(&f.wait, "wait", 0, waitUsage)
		flags.StringVar(&f.caFile, "ca-file", "", "PEM file of the authority that signed the server's certificate")
	})
	group(flags, "Pace", func() {
		f.flags = flags
		flags.DurationVar(&f.timeout, "timeout", profile.DefaultTimeout, "timeout of a request, also in the profile")
		flags.DurationVar(&f.patience, "patience", profile.DefaultPatience, "maximum time with only 429, also in the profile")
	})
	group(flags, "Output", func() {
		flags.StringVar(&f.name, "name", "", "name of the implementation (default: the server's host name)")
		flags.StringVarP(&f.file, "file", "f", "target.yaml", "profile to write")
		flags.BoolVar(&f.force, "force", false, "replace an existing file")
	})
	return cmd
}

func (f initFlags) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	switch err := inputfile.Check(f.file); {
	case err == nil && !f.force:
		return exitError{exitUsage, fmt.Errorf("%s: already exists (choose another --file, or replace it with --force)", f.file)}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return exitError{exitUsage, err}
	}
	settings, err := f.settings()
	if err != nil {
		return exitError{exitUsage, err}
	}
	terminal, _ := stdin.(*os.File)
	if terminal != nil && !term.IsTerminal(int(terminal.Fd())) {
		terminal = nil
	}
	if err := f.askAddress(ctx, terminal, stderr); err != nil {
		return notAnswered(ctx, err)
	}
	t, err := f.found()
	if err != nil {
		return exitError{exitUsage, err}
	}
	token, err := f.askKey(ctx, terminal, stderr)
	if err != nil {
		return notAnswered(ctx, err)
	}
	settings.Wait = nil // is for this command only
	t.Profile.Set(settings)
	if err := t.Await(ctx, target.Waiting{For: f.wait, Say: sayOn(stderr)}); err != nil {
		if ctx.Err() != nil {
			return interrupted
		}
		return exitError{exitCannotTell, err}
	}
	profile, notes, err := preflight.Discover(ctx, t, token, f.keyEnv, sayOn(stderr))
	switch {
	case ctx.Err() != nil:
		return interrupted
	case err != nil:
		return exitError{exitCannotTell, err}
	}
	if f.name == "" {
		notes = slices.Insert(notes, 0, "the API does not show the name of the implementation: correct it, and add version and vendor")
	}
	heading := "Profile of a target, written by target init. Complete it:\n- " + strings.Join(notes, "\n- ")
	if err := profile.Write(f.file, heading); err != nil {
		return exitError{exitUsage, err}
	}
	for _, note := range notes {
		_, _ = fmt.Fprintf(stdout, "- %s\n", note)
	}
	_, _ = fmt.Fprintf(stdout, "\nwrote %s; `outreach-conformance target check --target-profile %s` shows what a run would assess\n", f.file, f.file)
	return nil
}

// askAddress asks for the address if no flag gives it. A nil terminal means that
// there is none.
func (f *initFlags) askAddress(ctx context.Context, terminal *os.File, stderr io.Writer) (err error) {
	if f.target != "" {
		return nil
	}
	if terminal == nil {
		return errors.New("--target: missing (the address of the server without /api/v2)")
	}
	_, _ = fmt.Fprint(stderr, "Address of the server, without /api/v2: ")
	f.target, err = typed(ctx, terminal, readLine)
	return err
}

// askKey returns the key from the environment, or asks for it on the terminal.
func (f *initFlags) askKey(ctx context.Context, terminal *os.File, stderr io.Writer) (token string, err error) {
	if token = os.Getenv(f.keyEnv); token != "" {
		return token, nil
	}
	if terminal == nil {
		return "", fmt.Errorf("environment variable %s: not set (it must hold an API key, see --token-env)", f.keyEnv)
	}
	_, _ = fmt.Fprintf(stderr, "API key of a workspace (not shown; the profile will read it from %s): ", f.keyEnv)
	token, err = typed(ctx, terminal, readHidden)
	_, _ = fmt.Fprintln(stderr)
	if err == nil && token == "" {
		err = errors.New("no key was given")
	}
	return token, err
}

// found returns the target with an empty profile.
func (f initFlags) found() (*target.Target, error) {
	blank := &profile.Profile{Name: f.name, Pace: profile.DefaultPace()}
	if f.caFile != "" {
		ca, err := filepath.Abs(f.caFile)
		if err != nil {
			return nil, err
		}
		blank.TLS = &profile.TLS{CAFile: ca}
	}
	t, err := target.At(blank, f.target)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(t.BaseURL); err == nil && f.name == "" {
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

// notAnswered returns the error of a command that got no answer from the terminal.
func notAnswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return interrupted
	}
	return exitError{exitUsage, err}
}
