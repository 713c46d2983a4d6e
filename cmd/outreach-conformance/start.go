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
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/suggest"
)

// Values of --target that name something to start.
const (
	embeddedTarget   = "embedded" // the reference server, in this process
	imagePrefix      = "image:"
	dockerfilePrefix = "dockerfile:"
)

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
		options := dataset.DefaultOptions()
		options.Rows = f.rows
		t, err := target.Embedded(ctx, options, refserver.Options{})
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
	address := f.target
	if address == embeddedTarget {
		address = "" // the profile's
	}
	t, err := at(profile, address)
	if err != nil {
		return nil, nil, exitError{exitUsage, err}
	}
	if err := t.Reachable(ctx); err != nil {
		return nil, nil, exitError{exitCannotTell, err}
	}
	return t, nothing, nil
}

// at is the target at an address, or at the profile's where that is empty.
func at(profile *profile.Profile, address string) (*target.Target, error) {
	switch {
	case address == "" || strings.Contains(address, "://"):
	case strings.Contains(address, "@"): // which may come behind a password
		return nil, errors.New("--target: want http:// or https:// before the address, and no user (keys belong in the profile)")
	default:
		return nil, fmt.Errorf("--target %s: no http:// or https:// before the address (did you mean --target http://%s?)%s",
			address, address, suggest.Near(address, []string{embeddedTarget}))
	}
	t, err := target.URL(profile, address)
	if err != nil {
		return nil, err
	}
	if base, doubled := strings.CutSuffix(t.BaseURL, refserver.BasePath); doubled {
		return nil, fmt.Errorf("address ends in %s, which is part of every path (use %s)", refserver.BasePath, base)
	}
	return t, nil
}

// isEmbedded: neither the target nor the profile is another than the reference server's.
func (f runFlags) isEmbedded() bool {
	return f.target == embeddedTarget && (f.targetProfile == "" || f.targetProfile == profile.EmbeddedName)
}

// builtinProfile: the profile came with the program.
func (f runFlags) builtinProfile() bool {
	return slices.Contains([]string{"", profile.EmbeddedName, profile.MockName}, f.targetProfile)
}

// profile returns the profile that the flags name. Its container is the one to
// start; it is nil if --target names an address, which goes before it.
func (f runFlags) profile() (*profile.Profile, error) {
	name := f.targetProfile
	if name == "" {
		name = profile.EmbeddedName
	}
	opened, err := profile.Open(name)
	if err != nil {
		return nil, err
	}
	image, isImage := strings.CutPrefix(f.target, imagePrefix)
	path, isDockerfile := strings.CutPrefix(f.target, dockerfilePrefix)
	switch {
	case isImage && image == "", isDockerfile && path == "":
		return nil, fmt.Errorf("--target %s: want image:NAME or dockerfile:PATH", f.target)
	case isImage, isDockerfile:
		replaced := profile.Deployment{}
		if opened.Container != nil {
			replaced = *opened.Container
		}
		replaced.Image, replaced.Dockerfile, replaced.Context = "", "", ""
		if isImage {
			replaced.Image = image
		} else {
			replaced.Dockerfile = path
		}
		opened.Container = &replaced
	case f.target != embeddedTarget && f.target != "":
		opened.Container = nil
	}
	return opened, nil
}

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
