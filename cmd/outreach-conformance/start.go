package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/term"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/suites/runner"
)

// embeddedTarget is the value of --target for the reference server in this process.
const embeddedTarget = target.EmbeddedName

// containerLog is the file in the output directory with the output of containers.
const containerLog = "container.log"

// start finds the target or starts it. The caller calls stop, which stops what was
// started and prints errors and warnings to stderr. An error of start has an exit
// code.
func (f runFlags) start(ctx context.Context, stderr io.Writer) (t *target.Target, stop func(), err error) {
	settings, err := f.settings()
	if err != nil {
		return nil, nil, exitError{exitUsage, err}
	}
	ignoreSIGPIPE()
	t, log, err := f.open(ctx, settings, stderr)
	if err == nil {
		if err = f.fit(ctx, t, stderr); err != nil {
			_ = errors.Join(t.Close(ctx), log.Close()) // err is the reason
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, interrupted
		}
		return nil, nil, err
	}
	redact.Process.Public(t.BaseURL) // journals and results name it
	warnings := func() []string {
		if f.builtinProfile() {
			return nil // its keys are not secret
		}
		return t.Profile.Warnings()
	}
	warned := len(warn(stderr, warnings(), 0))
	f.announceRollback(t, stderr)
	return t, func() {
		leaving.Store(nil)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := errors.Join(t.Close(ctx), log.Close()); err != nil {
			say(stderr, fmt.Sprintf("stopping the target: %v", err))
		}
		warn(stderr, warnings(), warned)
	}, nil
}

// warn prints the warnings, except for the number that was printed before. It
// returns all of them.
func warn(stderr io.Writer, warnings []string, before int) []string {
	for _, w := range warnings[before:] {
		say(stderr, "warning: "+w)
	}
	return warnings
}

// open returns the target with the settings, and the log of its containers for the
// caller to close.
func (f runFlags) open(ctx context.Context, settings profile.Settings, stderr io.Writer) (*target.Target, io.Closer, error) {
	nothing := io.NopCloser(nil)
	source := f.source()
	source.Settings, source.Say = settings, sayOn(stderr)
	if f.isEmbedded() {
		if f.waits() != nil {
			return nil, nil, exitError{exitUsage, errors.New("--wait: only for a server at an address (the embedded one answers at once)")}
		}
		if f.rows < 0 || f.rows > dataset.MaxRows {
			return nil, nil, exitError{exitUsage, fmt.Errorf("--rows %d: want 0 to %d", f.rows, dataset.MaxRows)}
		}
		t, err := target.Open(ctx, source)
		if err != nil {
			return nil, nil, exitError{exitUsage, err}
		}
		return t, nothing, nil
	}
	profile, err := f.profile()
	if err != nil {
		return nil, nil, exitError{exitUsage, err}
	}
	if profile.Container != nil {
		if f.waits() != nil {
			return nil, nil, exitError{exitUsage, errors.New("--wait: only for a server at an address (for a container, set container.wait.timeout in the profile)")}
		}
		profile.Set(settings)
		return f.openContainer(ctx, profile, source.Say)
	}
	t, err := target.Open(ctx, source)
	switch unreachable := (*target.UnreachableError)(nil); {
	case errors.As(err, &unreachable):
		return nil, nil, exitError{exitCannotTell, unusable{err, "a target that answers"}}
	case err != nil:
		return nil, nil, exitError{exitUsage, err}
	}
	return t, nothing, nil
}

// fit narrows the profile to the operations that may get requests, and checks the keys of
// a target that was given without a profile.
func (f runFlags) fit(ctx context.Context, t *target.Target, stderr io.Writer) error {
	if f.narrows {
		if err := t.Profile.Narrow(f.operations); err != nil {
			return exitError{exitUsage, fmt.Errorf("--operation: %w", err)}
		}
	}
	if f.targetProfile == "" && !f.isEmbedded() {
		if err := checkKnown(ctx, t, sayOn(stderr)); err != nil {
			return exitError{exitUsage, unusable{err, "a key that the target accepts"}}
		}
	}
	return nil
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
func unjudged(err error) (why runner.Unjudged, ok bool) {
	var exit exitError
	var target unusable
	switch {
	case errors.As(err, &exit) && exit.code == exitInterrupted:
		return runner.Unjudged{Reason: "the run was interrupted before it judged anything", Missing: "the run, which was interrupted", Interrupted: true}, true
	case errors.As(err, &target):
		return runner.Unjudged{Reason: target.Error(), Missing: target.missing}, true
	}
	return runner.Unjudged{}, false
}

// waits returns the value of --wait, or nil without it.
func (f runFlags) waits() *time.Duration { return changed(f.flags, "wait", f.wait) }

// sayOn returns a function that prints what the program waits for.
func sayOn(stderr io.Writer) func(string) {
	return func(what string) { say(stderr, what) }
}

// checkKnown returns an error if a server that was given without a profile refuses
// the keys of the reference server. Judging it would show nothing but that.
func checkKnown(ctx context.Context, t *target.Target, say func(string)) error {
	why, err := runner.KnowsNoKey(ctx, t, say)
	if err != nil || why == "" {
		return err
	}
	return fmt.Errorf("%s refuses the keys of the reference server, so it needs a profile with keys of its own (`OUTREACH_KEY_MAIN=… outreach-conformance target init --target %s` writes one)",
		t.BaseURL, t.BaseURL)
}

// source returns the target that the flags name.
func (f runFlags) source() target.Source {
	data := dataset.DefaultOptions()
	data.Rows = f.rows
	return target.Source{Target: f.target, Profile: f.targetProfile, Data: data}
}

func (f runFlags) isEmbedded() bool { return f.source().IsEmbedded() }

// builtinProfile reports whether the target profile is part of the program.
func (f runFlags) builtinProfile() bool {
	return slices.Contains([]string{"", profile.EmbeddedName, profile.MockName}, f.targetProfile)
}

// profile returns the target profile, with the container to start if any.
func (f runFlags) profile() (*profile.Profile, error) { return f.source().OpenProfile() }

// openContainer starts the profile's containers. Every 10 s it says that it waits:
// pulling or building an image can take minutes.
func (f runFlags) openContainer(ctx context.Context, profile *profile.Profile, say func(string)) (*target.Target, io.Closer, error) {
	if err := os.MkdirAll(f.output, 0o755); err != nil {
		return nil, nil, exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	log, err := inputfile.OpenFile(filepath.Join(f.output, containerLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, exitError{exitUsage, fmt.Errorf("container log: %w", err)}
	}
	say("starting the container of the target; its output goes to " + log.Name())
	seconds := 0
	started := everySecond(func() {
		if seconds++; seconds%10 == 0 {
			say(fmt.Sprintf("still starting the container, %d s", seconds))
		}
	})
	t, err := container.Start(ctx, profile, uuid.NewString(), redact.Process.Writer(log))
	started()
	if err != nil {
		failed := err
		err = errors.Join(err, keptLog{log}.Close())
		switch {
		case errors.Is(failed, container.ErrProfile):
			return nil, nil, exitError{exitUsage, err}
		case errors.Is(failed, container.ErrNoDocker):
			return nil, nil, exitError{exitUsage, unusable{err, "a target that starts"}}
		}
		return nil, nil, exitError{exitCannotTell, unusable{err, "a target that starts"}}
	}
	return t, keptLog{log}, nil
}

// keptLog is the log of containers. A container may log a key that a command mints
// before the command prints it, so Close redacts the whole log again.
type keptLog struct{ file *os.File }

func (l keptLog) Close() error {
	return errors.Join(l.file.Close(), redact.Process.File(l.file.Name()))
}

// stopSignals are the signals that interrupt a command, so that it rolls back its
// changes and writes partial results. SIGHUP, a closed terminal, is one of them
// unless the process inherits that it is ignored, as with nohup.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// ignoreSIGPIPE keeps the process alive if the reader of its output has ended, such
// as a tee that got the same Ctrl-C: changes must be rolled back. Writes then return
// an error. signal.Ignore would pass on to the commands that the process starts.
func ignoreSIGPIPE() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// twinTime is how long further interrupts after the first one do not count: timeout(1)
// sends a signal to the process and to its group. A person acts on the announcement,
// which comes after that time.
const twinTime = 500 * time.Millisecond

// interruptedTwice waits for a signal, calls announce and waits for a Ctrl-C after that.
// It reports false if done is closed before.
func interruptedTwice(signals <-chan os.Signal, done <-chan struct{}, announce func()) bool {
	select {
	case <-signals:
	case <-done:
		return false
	}
	for twins := time.After(twinTime); twins != nil; {
		select {
		case <-signals:
		case <-twins:
			twins = nil
		case <-done:
			return false
		}
	}
	announce()
	for {
		select {
		case s := <-signals:
			if s == os.Interrupt {
				return true
			}
		case <-done:
			return false
		}
	}
}

// leaving holds what the running command says at an interrupt: first before it rolls back,
// last before a second one ends the process. The process has one, as it has signals.
var leaving atomic.Pointer[struct{ first, last func() }]

// endAtSecondInterrupt ends the process at the Ctrl-C after an interrupt, whatever the
// command waits for; the journal then stays for cleanup. Other signals never do: a closed
// terminal and timeout(1) send the same signal twice.
func endAtSecondInterrupt() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, stopSignals()...)
	go func() {
		if !interruptedTwice(signals, done, func() {
			if say := leaving.Load(); say != nil {
				say.first()
			}
		}) {
			return
		}
		if say := leaving.Load(); say != nil {
			say.last()
		}
		os.Exit(exitInterrupted)
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// announceRollback makes interrupts say what happens to the changes on the target.
func (f runFlags) announceRollback(t *target.Target, stderr io.Writer) {
	if f.journals(t) == "" {
		return // nothing to roll back
	}
	ifChanged := func(say func()) func() {
		return func() {
			if journal.Tells(f.output, t.BaseURL) {
				say()
			}
		}
	}
	leaving.Store(&struct{ first, last func() }{ifChanged(func() {
		begin := ""
		if file, ok := terminalOf(stderr); ok && term.IsTerminal(int(file.Fd())) {
			begin = "\n" // below the live line, in which the terminal shows the ^C
		}
		_, _ = fmt.Fprintln(stderr, begin+"outreach-conformance: interrupted: rolling back changes on the target (press Ctrl-C again to stop now and clean up later)")
	}), ifChanged(func() { f.printCleanup(t, "", stderr) })})
}
