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

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
)

// embeddedTarget is the --target of the reference server in this process.
const embeddedTarget = target.EmbeddedName

// containerLog is the file in the output directory that takes what containers write.
const containerLog = "container.log"

// start brings the target up, or finds it. stop ends what was started, and
// tells on stderr what went wrong meanwhile.
func (f runFlags) start(ctx context.Context, stderr io.Writer) (t *target.Target, stop func(), err error) {
	settings, err := f.settings()
	if err != nil {
		return nil, nil, exitError{exitUsage, err}
	}
	ignoreSIGPIPE()
	t, log, err := f.up(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, interrupted
		}
		return nil, nil, err
	}
	t.Profile.Set(settings)
	warnings := func() []string {
		if f.builtinProfile() {
			return nil // its keys are no secrets
		}
		return t.Profile.Warnings()
	}
	warned := len(warn(stderr, warnings(), 0))
	patient := f.handleSecondInterrupt(t, stderr)
	return t, func() {
		patient()
		// The handlers of the specs' runner end all others when it returns; an
		// impatient interrupt must not leave containers behind.
		held := make(chan os.Signal, 1)
		signal.Notify(held, stopSignals()...)
		defer signal.Stop(held)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := errors.Join(t.Close(ctx), log.Close()); err != nil {
			_, _ = fmt.Fprintf(stderr, "outreach-conformance: stopping the target: %v\n", err)
		}
		warn(stderr, warnings(), warned)
	}, nil
}

// warn prints the warnings but the first ones, which were printed before.
func warn(stderr io.Writer, warnings []string, before int) []string {
	for _, w := range warnings[before:] {
		_, _ = fmt.Fprintf(stderr, "outreach-conformance: warning: %s\n", w)
	}
	return warnings
}

// up returns the target and the file that takes what it writes.
func (f runFlags) up(ctx context.Context) (*target.Target, io.Closer, error) {
	nothing := io.NopCloser(nil)
	if f.isEmbedded() {
		if f.rows < 0 || f.rows > dataset.MaxRows {
			return nil, nil, exitError{exitUsage, fmt.Errorf("--rows %d: want 0 to %d", f.rows, dataset.MaxRows)}
		}
		t, err := target.Open(ctx, f.source())
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
		return f.contain(ctx, profile)
	}
	t, err := target.Open(ctx, f.source())
	switch unreachable := (*target.UnreachableError)(nil); {
	case errors.As(err, &unreachable):
		return nil, nil, exitError{exitCannotTell, err}
	case err != nil:
		return nil, nil, exitError{exitUsage, err}
	}
	return t, nothing, nil
}

// source names the target as the flags do.
func (f runFlags) source() target.Source {
	data := dataset.DefaultOptions()
	data.Rows = f.rows
	return target.Source{Target: f.target, Profile: f.targetProfile, Data: data}
}

func (f runFlags) isEmbedded() bool { return f.source().IsEmbedded() }

// builtinProfile: the profile came with the program.
func (f runFlags) builtinProfile() bool {
	return slices.Contains([]string{"", profile.EmbeddedName, profile.MockName}, f.targetProfile)
}

// profile returns the profile that the flags name, with the container to start.
func (f runFlags) profile() (*profile.Profile, error) { return f.source().OpenProfile() }

// contain starts the profile's containers.
func (f runFlags) contain(ctx context.Context, profile *profile.Profile) (*target.Target, io.Closer, error) {
	if err := os.MkdirAll(f.output, 0o755); err != nil {
		return nil, nil, exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	log, err := os.OpenFile(filepath.Join(f.output, containerLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, exitError{exitUsage, fmt.Errorf("container log: %w", err)}
	}
	redact := client.Redacting(profile.Secrets)
	t, err := target.Container(ctx, profile, uuid.NewString(), redacting{log, redact})
	if err != nil {
		code := exitCannotTell
		if errors.Is(err, target.ErrNoDocker) || errors.Is(err, target.ErrProfile) {
			code = exitUsage
		}
		said := errors.New(redact(err.Error())) // which may quote what a container wrote
		return nil, nil, exitError{code, errors.Join(said, log.Close())}
	}
	return t, log, nil
}

// redacting takes secrets out of what is written to it, a whole line at a time.
type redacting struct {
	to     io.Writer
	redact func(string) string
}

func (r redacting) Write(line []byte) (int, error) {
	if _, err := io.WriteString(r.to, r.redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
