package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/suites/runner"
)

const (
	// containerLog is the file in the output directory with the output of containers.
	containerLog = "container.log"
	// closeTimeout is the maximum time to stop a target.
	closeTimeout = 10 * time.Second
)

// checkSettings names the flag and the variable of each setting that is invalid.
func (s *session) checkSettings() error {
	return s.Settings.Check(func(entry string) string {
		flag := strings.ReplaceAll(entry[strings.LastIndex(entry, ".")+1:], "_", "-")
		if flag == "budget" {
			flag = "max-requests"
		}
		return "--" + flag + ", or " + envvar.OfFlag(flag)
	})
}

// open finds the target or starts it. The caller calls stop, which stops what was started
// and prints errors and warnings.
func (s *session) open(ctx context.Context) (t *target.Target, stop func(), err error) {
	if err := s.checkSettings(); err != nil {
		return nil, nil, err
	}
	ignoreSIGPIPE()
	p, err := s.OpenProfile()
	switch {
	case err != nil:
	case s.IsEmbedded() && s.Settings.Wait != nil:
		err = errors.New("--wait: only for a server at an address (the embedded one answers at once)")
	case !s.IsEmbedded() && s.Given("rows"):
		err = fmt.Errorf("--rows %d, or %s: only for the embedded target (set the rows of another server with `serve --rows`)",
			s.Data.Rows, envvar.OfFlag("rows"))
	case s.IsEmbedded() && (s.Data.Rows < 0 || s.Data.Rows > dataset.MaxRows):
		err = fmt.Errorf("--rows %d: want 0 to %d", s.Data.Rows, dataset.MaxRows)
	case p.Container != nil && s.Settings.Wait != nil:
		err = errors.New("--wait: only for a server at an address (for a container, set container.wait.timeout in the profile)")
	}
	closeLog, started := func() error { return nil }, func() {}
	if err == nil && p.Container != nil {
		closeLog, started, err = s.logContainer()
	}
	if err != nil {
		return nil, nil, err
	}
	s.Say = s.say
	t, err = target.Open(ctx, s.Source)
	started()
	if err == nil && s.Source.Profile == "" && !s.IsEmbedded() {
		if err = s.checkKnown(ctx, t); err != nil {
			_ = t.Close(ctx) // err is the reason
			err = exitError{code: exitUsage, cause: unusable{err, "a key that the target accepts"}}
		}
	}
	if err != nil {
		return nil, nil, s.unopened(ctx, p, errors.Join(err, closeLog()))
	}
	redact.Process.Public(t.BaseURL) // journals and results name it
	warned := 0
	warn := func() {
		if !s.builtinProfile() { // its keys are not secret
			warnings := t.Profile.Warnings()
			for _, w := range warnings[warned:] {
				s.say("warning: " + w)
			}
			warned = len(warnings)
		}
	}
	warn()
	s.announceRollback(t)
	return t, func() {
		leaving.Store(nil)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := errors.Join(t.Close(ctx), closeLog()); err != nil {
			s.say(fmt.Sprintf("stopping the target: %v", err))
		}
		warn()
	}, nil
}

// unopened returns the error of a target that could not be opened, with its exit code.
func (s *session) unopened(ctx context.Context, p *profile.Profile, err error) error {
	var exit exitError
	var unreachable *target.UnreachableError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return interrupted
	case errors.As(err, &exit):
		return err
	case errors.As(err, &unreachable), ctx.Err() != nil:
		return cannotTell(unusable{err, "a target that answers"})
	case p.Container == nil || errors.Is(err, container.ErrProfile):
		return err
	case errors.Is(err, container.ErrNoDocker):
		return exitError{code: exitUsage, cause: unusable{err, "a target that starts"}}
	}
	return cannotTell(unusable{err, "a target that starts"})
}

// unusable is the error of a target that cannot be judged or loaded, although the
// command line and the profile are right. Results say so.
type unusable struct {
	error
	missing string // what each check lacks
}

func (u unusable) Unwrap() error { return u.error }

// unjudged returns why the run ended, for its results. It reports false for an error
// in the command line or the profile, after which there are no results.
func unjudged(err error) (why runner.Unjudged, exit exitError, ok bool) {
	var target unusable
	switch coded := errors.As(err, &exit); {
	case coded && exit.code == exitInterrupted:
		return runner.Unjudged{Reason: "the run was interrupted before it judged anything", Missing: "the run, which was interrupted", Interrupted: true}, exit, true
	case errors.As(err, &target):
		return runner.Unjudged{Reason: target.Error(), Missing: target.missing}, exit, true
	}
	return why, exit, false
}

// checkKnown returns an error if a server that was given without a profile refuses
// the keys of the reference server. Judging it would show nothing but that.
func (s *session) checkKnown(ctx context.Context, t *target.Target) error {
	why, err := runner.KnowsNoKey(ctx, t, s.say)
	if err != nil || why == "" {
		return err
	}
	return fmt.Errorf("%s refuses the keys of the reference server, so it needs a profile with keys of its own (`OUTREACH_KEY_MAIN=… outreach-conformance target init --target %s` writes one)",
		t.BaseURL, t.BaseURL)
}

// builtinProfile reports whether the target profile is part of the program.
func (s *session) builtinProfile() bool {
	return slices.Contains([]string{"", profile.EmbeddedName, profile.MockName}, s.Source.Profile)
}

// logContainer opens the log of the containers that start. Every 10 s until started is
// called it says that it waits: pulling or building an image can take minutes. A container
// may log a key that a command mints before the command prints it, so that the whole log is
// redacted again when it is closed.
func (s *session) logContainer() (closeLog func() error, started func(), err error) {
	if err := os.MkdirAll(s.Output, 0o755); err != nil {
		return nil, nil, fmt.Errorf("output directory: %w", err)
	}
	log, err := disk.OpenFile(filepath.Join(s.Output, containerLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("container log: %w", err)
	}
	s.say("starting the container of the target; its output goes to " + log.Name())
	seconds := 0
	s.Log = redact.Process.Writer(log)
	return func() error { return errors.Join(log.Close(), redact.Process.File(log.Name())) }, everySecond(func() {
		if seconds++; seconds%10 == 0 {
			s.say(fmt.Sprintf("still starting the container, %d s", seconds))
		}
	}), nil
}

// announceRollback makes interrupts say what happens to the changes on the target.
func (s *session) announceRollback(t *target.Target) {
	if s.journals(t) == "" {
		return // nothing to roll back
	}
	ifChanged := func(say func()) func() {
		return func() {
			if sandbox.Tells(s.Output, t.BaseURL) {
				say()
			}
		}
	}
	leaving.Store(&struct{ first, last func() }{ifChanged(func() {
		begin := ""
		if file := view.FileOf(s.err); file != nil && term.IsTerminal(int(file.Fd())) {
			begin = "\n" // below the live line, in which the terminal shows the ^C
		}
		_, _ = io.WriteString(s.err, begin+"outreach-conformance: interrupted: rolling back changes on the target (press Ctrl-C again to stop now and clean up later)\n")
	}), ifChanged(func() { s.printCleanup(t, "") })})
}
