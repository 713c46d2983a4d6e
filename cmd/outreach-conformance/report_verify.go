package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/suites/certify"
	"outreach.example/conformance/suites/runner"
)

type verifyFlags struct {
	certifyFlags // of the repetition

	publicKey string
	again     bool
	readOnly  bool
}

func newReportVerify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Check a bundle, and judge its evidence again",
		Long: `verify checks a bundle that certify or report bundle wrote, or the output directory of a
run --evidence. It judges the recorded runs again: the same specs run, and the evidence
answers their requests, with its clock. No request leaves this machine. Outcomes and
verdicts must follow from the evidence. It believes no key that comes with the bundle.

It prints a line for each thing that it checked. It exits 0 if all of them hold, 1 if one
is refuted, 2 if there is no bundle to read, and 3 if it cannot tell: another version, an
interrupted run or a budget of requests can be the reason.

Evidence shows that the results follow from the exchanges. It does not show that the
exchanges took place: who can change results can also invent evidence. With --again, it
asks the vendor's server itself: it repeats the runs with a nonce of its own, and compares
outcomes and behaviour. With --read-only, that is a spot check of at most 500 requests and
60 s, which changes nothing on the server and does not judge the evidence.`,
		Example: `  outreach-conformance report verify bundle.zip --public-key vendor.pem --nonce 5b1c9f0e
  outreach-conformance report verify conformance-results
  outreach-conformance report verify bundle.zip --again --target-profile server.yaml
  outreach-conformance report verify bundle.zip --again --read-only --target-profile server.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.verify(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "What you know", func() {
		flags.StringVar(&f.publicKey, "public-key", "", "PEM file with the vendor's public key, from another source than the bundle")
		flags.StringVar(&f.bundle.nonce, "nonce", "", "text that the recipient of the certificate chose, and gave to the vendor")
	})
	group(flags, "Repetition on the vendor's server", func() {
		flags.BoolVar(&f.again, "again", false, "repeat the runs, and compare them with the bundle")
		flags.BoolVar(&f.readOnly, "read-only", false, "with --again, make a spot check that changes nothing")
		f.registerTarget(flags)
		f.registerPace(flags)
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, "verification")
		registerVerbose(flags, &f.verbose, "everything that the lines count")
		flags.BoolVarP(&f.quiet, "quiet", "q", false, "show only failures and the last line, and no progress")
	})
	return cmd
}

func (f verifyFlags) verify(ctx context.Context, path string, stdout, stderr io.Writer) error {
	options := bundle.Options{Nonce: f.bundle.nonce, Now: time.Now()}
	if f.readOnly && !f.again {
		return exitError{exitUsage, errors.New("--read-only: only with --again")}
	}
	if f.publicKey != "" {
		key, err := readKey(f.publicKey, bundle.PublicKey)
		if err != nil {
			return exitError{exitUsage, fmt.Errorf("--public-key: %w", err)}
		}
		options.PublicKey = key
	}
	info, err := os.Stat(path)
	if err != nil {
		return exitError{exitUsage, err}
	}
	var lines bundle.Lines
	if info.IsDir() {
		if f.publicKey != "" || f.bundle.nonce != "" || f.again {
			return exitError{exitUsage, fmt.Errorf("%s: a directory has no signature and no nonce, and cannot be repeated (report bundle makes a bundle of it)", path)}
		}
		lines, err = verifyDirectory(ctx, path)
	} else {
		lines, err = f.verifyBundle(ctx, path, options, stderr)
	}
	if exit := (exitError{}); errors.As(err, &exit) {
		return err
	}
	if err != nil {
		return exitError{exitUsage, err}
	}
	if ctx.Err() != nil {
		return interrupted
	}
	marks := map[bundle.State]string{bundle.OK: "✓", bundle.Refuted: "✗", bundle.CannotTell: "?", bundle.Note: "·"}
	for _, line := range lines {
		_, _ = fmt.Fprintf(stdout, "%s %s: %s\n", marks[line.State], printable.Text(line.What), printable.Text(line.Why))
		if f.verbose || line.State != bundle.OK && line.State != bundle.Note {
			sayFirst(stdout, line.More)
		}
	}
	switch lines.State() {
	case bundle.Refuted:
		return exitError{reports.Failed.ExitCode(), fmt.Errorf("%s: refuted", path)}
	case bundle.CannotTell:
		return exitError{exitCannotTell, fmt.Errorf("%s: cannot tell", path)}
	}
	_, err = fmt.Fprintln(stdout, "✓ VERIFIED")
	return err
}

func verifyDirectory(ctx context.Context, dir string) (bundle.Lines, error) {
	claimed, err := jsonfile.Run.Read(filepath.Join(dir, resultsFile))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, evidenceFile)
	recording, err := inputfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w (run --evidence writes it)", err)
	}
	_ = recording.Close()
	_, lines, err := certify.VerifyRun(ctx, claimed, func() (io.ReadCloser, error) { return inputfile.Open(path) }, version())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

func (f verifyFlags) verifyBundle(ctx context.Context, path string, o bundle.Options, stderr io.Writer) (lines bundle.Lines, err error) {
	b, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	if f.readOnly {
		again, err := f.spotCheck(ctx, b, stderr)
		return append(b.Check(o), again...), err
	}
	reference, err := referenceObservations(ctx)
	if err != nil {
		return nil, errors.Join(errors.New("the reference server, with which the bundle is compared"), err)
	}
	lines, runs := certify.Verify(ctx, b, o, version(), reference)
	if f.again && len(runs) > 0 && ctx.Err() == nil {
		again, err := f.repeat(ctx, b.Manifest.Level, runs[0].Results, stderr)
		return append(lines, again...), err
	}
	return lines, nil
}

// repeat repeats the runs of a bundle on the vendor's server. The evidence is what a run of it showed.
func (f verifyFlags) repeat(ctx context.Context, level string, evidence reports.Results, stderr io.Writer) (lines bundle.Lines, err error) {
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return nil, err
	}
	defer stop()
	f.evidence, f.bundle.level = true, level
	dirs, err := f.threeRuns(ctx, t, rand.Text(), stderr)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		found, err := jsonfile.Run.Read(filepath.Join(dir, resultsFile))
		if err != nil {
			return lines, err
		}
		lines = append(lines, certify.CompareAgain(evidence, found, false)...)
	}
	return lines, nil
}

// Bounds of a spot check.
const (
	spotRequests = 500
	spotTime     = 55 * time.Second // and some for the end
)

// spotCheck asks the vendor's server a few questions that change nothing.
func (f verifyFlags) spotCheck(ctx context.Context, b *bundle.Bundle, stderr io.Writer) (bundle.Lines, error) {
	claimed, err := certify.Claimed(b, 1)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, spotTime)
	defer cancel()
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return nil, err
	}
	defer stop()
	t.Profile.Writes, t.Profile.Budget = profile.WritesNone, spotRequests
	found, err := f.judge(ctx, challenged(t, runner.Challenge{Nonce: rand.Text(), Run: 1}), stderr)
	if err != nil {
		return nil, exitError{unjudgedCode(err), err}
	}
	return certify.CompareAgain(claimed, found, true), nil
}

// sayFirst prints the first lines of a list.
func sayFirst(stdout io.Writer, lines []string) {
	const most = 20
	for _, line := range lines[:min(most, len(lines))] {
		_, _ = fmt.Fprintln(stdout, "   ", printable.Text(line))
	}
	if more := len(lines) - most; more > 0 {
		_, _ = fmt.Fprintf(stdout, "    … and %s more\n", printable.Number(more))
	}
}
