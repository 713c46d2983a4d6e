package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/suites/certify"
)

type verifyFlags struct {
	publicKey string
	nonce     string
	verbose   bool
}

func newReportVerify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Check a bundle, and judge its evidence again",
		Long: `verify checks a bundle that certify or report bundle wrote, or the output directory of a
run --evidence. It judges the recorded runs again: the same specs run, and the evidence
answers their requests, with its clock. No request leaves this machine. It believes
nothing in the bundle but the evidence, and no key that comes with it.

It prints a line for each thing that it checked. It exits 0 if all of them hold, 1 if one
is refuted, 2 if there is no bundle to read, and 3 if it cannot tell: another version, an
interrupted run or a budget of requests can be the reason.

Evidence shows that the results follow from the exchanges. It does not show that the
exchanges took place: who can change results can also invent evidence.`,
		Example: `  outreach-conformance report verify bundle.zip --public-key vendor.pem --nonce 5b1c9f0e
  outreach-conformance report verify conformance-results`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.verify(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	group(flags, "What you know", func() {
		flags.StringVar(&f.publicKey, "public-key", "", "PEM file with the vendor's public key, from another source than the bundle")
		flags.StringVar(&f.nonce, "nonce", "", "text that you chose and gave to the vendor")
	})
	group(flags, "Output", func() { registerVerbose(flags, &f.verbose, "everything that the lines count") })
	return cmd
}

func (f verifyFlags) verify(ctx context.Context, path string, stdout io.Writer) error {
	options := bundle.Options{Nonce: f.nonce, Now: time.Now()}
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
	var lines certify.Lines
	if info.IsDir() {
		if f.publicKey != "" || f.nonce != "" {
			return exitError{exitUsage, fmt.Errorf("%s: a directory has no signature and no nonce (report bundle makes a bundle of it)", path)}
		}
		lines, err = verifyDirectory(ctx, path)
	} else {
		lines, err = verifyBundle(ctx, path, options)
	}
	if err != nil {
		return exitError{exitUsage, err}
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

func verifyDirectory(ctx context.Context, dir string) (certify.Lines, error) {
	claimed, err := reports.Read(filepath.Join(dir, resultsFile))
	if err != nil {
		return nil, err
	}
	recording, err := inputfile.Open(filepath.Join(dir, evidenceFile))
	if err != nil {
		return nil, fmt.Errorf("%w (run --evidence writes it)", err)
	}
	defer func() { _ = recording.Close() }()
	_, lines, err := certify.VerifyRun(ctx, claimed, recording, version())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", recording.Name(), err)
	}
	return lines, nil
}

func verifyBundle(ctx context.Context, path string, o bundle.Options) (certify.Lines, error) {
	b, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	reference, err := referenceObservations(ctx)
	if err != nil {
		return nil, errors.Join(errors.New("the reference server, with which the bundle is compared"), err)
	}
	return certify.Verify(ctx, b, o, version(), reference), nil
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
