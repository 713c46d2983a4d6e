package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/certify"
	"outreach.example/conformance/suites/runner"
)

type verifyOptions struct {
	runOptions        // of the repetition
	Nonce      string `flag:"nonce" usage:"text that the recipient of the certificate chose, and gave to the vendor"`
	Level      string `flag:"level" usage:"set of requirements that the bundle must certify: {profiles}"`
	PublicKey  string `flag:"public-key" usage:"PEM file with the vendor's public key, from another source than the bundle"`
	Again      bool   `flag:"again" usage:"repeat the runs, and compare them with the bundle"`
	ReadOnly   bool   `flag:"read-only" usage:"with --again, make a spot check that changes nothing"`
}

func newReportVerify() *cobra.Command {
	f := &verifyOptions{runOptions: runOptions{session: at("verification"), Evidence: true}}
	return command(&cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Check a bundle, and judge its evidence again",
		Long: `verify checks a bundle that certify or report bundle wrote, or the output directory of a
run --evidence. It judges the recorded runs again: the same specs run, and the evidence
answers their requests, with its clock. No request leaves this machine. Outcomes and
verdicts must follow from the evidence. It believes no key that comes with the bundle.

It prints a line for each thing that it checked, and then whether the bundle certifies a
level. It exits 0 if all of them hold, 1 if one is refuted, 2 if there is no bundle to
read, and 3 if it cannot tell: another version, an interrupted run or a budget of requests
can be the reason. A bundle that is no certificate can hold, unless --level demands one.

Evidence shows that the results follow from the exchanges. It does not show that the
exchanges took place: who can change results can also invent evidence. With --again, it
asks the vendor's server itself: it repeats the runs with a nonce of its own, and compares
outcomes and behaviour. With --read-only, that is a spot check of at most 500 requests and
60 s, which changes nothing on the server and does not judge the evidence.`,
		Example: `  outreach-conformance report verify bundle.zip --level full --public-key vendor.pem --nonce 5b1c9f0e
  outreach-conformance report verify conformance-results
  outreach-conformance report verify bundle.zip --again --target-profile server.yaml
  outreach-conformance report verify bundle.zip --again --read-only --target-profile server.yaml`,
		Args: cobra.ExactArgs(1),
	}, f, `What you know: level public-key nonce
Repetition on the vendor's server: again read-only target target-profile wait`+paceFlags+`
Output: output verbose quiet`, f.verify, "{verbose}", "everything that the lines count")
}

func (f *verifyOptions) verify(ctx context.Context, args []string) error {
	path := args[0]
	o := bundle.Options{Level: f.Level, Nonce: f.Nonce, Now: time.Now()}
	switch {
	case f.ReadOnly && !f.Again:
		return errors.New("--read-only: only with --again")
	case f.ReadOnly && f.Level != "":
		return errors.New("--level: not with --read-only, which does not judge the evidence")
	case f.Level != "" && !slices.Contains(spec.Profiles(), spec.Profile(f.Level)):
		return fmt.Errorf("--level %s: want one of %s", f.Level, spec.Profiles())
	}
	if f.PublicKey != "" {
		key, err := certify.ReadKey(f.PublicKey, bundle.PublicKey)
		if err != nil {
			return fmt.Errorf("--public-key: %w", err)
		}
		o.PublicKey = key
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var lines bundle.Lines
	verified := "these runs are no certificate"
	if info.IsDir() {
		if f.PublicKey != "" || f.Nonce != "" || f.Level != "" || f.Again {
			return fmt.Errorf("%s: a directory has no signature, nonce or level, and cannot be repeated (report bundle makes a bundle of it)", path)
		}
		lines, err = certify.VerifyDirectory(ctx, path, version())
	} else {
		var m bundle.Manifest
		lines, m, err = f.verifyBundle(ctx, path, o)
		switch {
		case f.ReadOnly:
			verified = "a spot check, which does not judge the evidence"
		case m.Certificate:
			verified = "it certifies the level " + m.Level
		}
	}
	if ctx.Err() != nil {
		err = interrupted
	}
	marks := map[bundle.State]string{bundle.OK: "✓", bundle.Refuted: "✗", bundle.CannotTell: "?", bundle.Note: "·"}
	for _, line := range lines {
		f.print("%s %s: %s\n", marks[line.State], printable.Text(line.What), printable.Text(line.Why))
		if f.Verbose || line.State != bundle.OK && line.State != bundle.Note {
			f.sayFirst(line.More)
		}
	}
	switch state := lines.State(); {
	case len(lines) > 0 && state == bundle.Refuted: // whatever ended the rest
		return exitError{reports.Failed.ExitCode(), errors.Join(err, fmt.Errorf("%s: refuted", path)), true}
	case err != nil:
		return err
	case state == bundle.CannotTell:
		return cannotTell(fmt.Errorf("%s: cannot tell", path))
	}
	_, err = fmt.Fprintf(f.out, "✓ VERIFIED: %s\n", printable.Text(verified))
	return err
}

func (f *verifyOptions) verifyBundle(ctx context.Context, path string, o bundle.Options) (lines bundle.Lines, m bundle.Manifest, err error) {
	b, err := bundle.Open(path)
	if err != nil {
		return nil, m, err
	}
	m = b.Manifest
	defer func() { _ = b.Close() }()
	if f.ReadOnly {
		again, err := f.spotCheck(ctx, b)
		return append(b.Check(o), again...), m, err
	}
	reference, err := certify.Reference(ctx, version())
	if err != nil {
		return nil, m, errors.Join(errors.New("the reference server, with which the bundle is compared"), err)
	}
	lines, runs := certify.Verify(ctx, b, o, version(), reference)
	if !f.Again || len(runs) == 0 || ctx.Err() != nil {
		return lines, m, nil
	}
	t, stop, err := f.open(ctx)
	if err != nil {
		return lines, m, err
	}
	defer stop()
	dirs, err := f.threeRuns(ctx, t, rand.Text(), b.Manifest.Level)
	for _, dir := range dirs {
		found, err := jsonfile.Run.Read(filepath.Join(dir, resultsFile))
		if err != nil {
			return lines, m, err
		}
		lines = append(lines, certify.CompareAgain(runs[0].Results, found, false)...)
	}
	return lines, m, err
}

// Bounds of a spot check.
const (
	spotRequests = 500
	spotTime     = 55 * time.Second // and some for the end
)

// spotCheck asks the vendor's server a few questions that change nothing.
func (f *verifyOptions) spotCheck(ctx context.Context, b *bundle.Bundle) (bundle.Lines, error) {
	claimed, err := certify.Claimed(b, 1)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, spotTime)
	defer cancel()
	t, stop, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	t.Profile.Writes, t.Profile.Budget = profile.WritesNone, spotRequests
	found, err := f.judge(ctx, f.challenged(t, runner.Challenge{Nonce: rand.Text(), Run: 1}))
	if err != nil {
		return nil, unjudgedError(err)
	}
	return certify.CompareAgain(claimed, found, true), nil
}
